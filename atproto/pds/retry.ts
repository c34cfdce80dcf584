import { RefusedUrlError } from '../network/network-errors.ts'
import { PdsError, PdsUnreachableError } from './pds-error.ts'

export interface RetryOptions {
  /** Default 3. */
  readonly attempts?: number
  /** A host that asks for a longer pause is not asked again, in milliseconds. Default 5,000. */
  readonly maxPause?: number
  readonly sleep?: (milliseconds: number) => Promise<void>
  /** In [0, 1). */
  readonly random?: () => number
}

/** The first pause is at most this long, each further one at most twice as long, in milliseconds. */
const FIRST_PAUSE = 200

/**
 * Runs a read again when the host could not be reached, was overloaded, or asked for a pause that is short enough.
 * Only for requests that may be carried out twice. Pauses have full jitter: the clients that a fault has hit together
 * do not come back together.
 */
export async function retryRead<T>(read: () => Promise<T>, options: RetryOptions = {}): Promise<T> {
  const { attempts = 3, maxPause = 5_000, random = Math.random } = options
  const sleep =
    options.sleep ?? ((milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds)))
  for (let attempt = 1; ; attempt++) {
    try {
      return await read()
    } catch (fault) {
      const pause = pauseBefore(fault, attempt, random)
      if (attempt >= attempts || pause === null || pause > maxPause) throw fault
      await sleep(pause)
    }
  }
}

function pauseBefore(fault: unknown, attempt: number, random: () => number): number | null {
  const backoff = random() * FIRST_PAUSE * 2 ** (attempt - 1)
  if (fault instanceof PdsUnreachableError) return fault.cause instanceof RefusedUrlError ? null : backoff
  if (!(fault instanceof PdsError)) return null
  if (fault.status !== 429 && fault.status < 500) return null
  return fault.retryAfter === null ? backoff : fault.retryAfter * 1000 + backoff
}
