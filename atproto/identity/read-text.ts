import type { GuardedFetch } from '../network/guarded-fetch.ts'
import { RefusedUrlError, ResponseTooLargeError, UnreachableHostError } from '../network/network-errors.ts'
import { IdentityNotFoundError, IdentityUnavailableError } from './identity.ts'

/** Redirects to follow: hosts send `example.com` to `www.example.com`, and no further. */
const MAX_REDIRECTS = 3
/** Milliseconds: somebody waits for the page. */
const TIMEOUT = 5_000
const DEADLINE = 2 * TIMEOUT

/**
 * One GET for a look-up of `actor`.
 *
 * @throws {@link IdentityUnavailableError}; {@link IdentityNotFoundError} where the host is none that may be asked
 */
export async function readText(
  fetch: GuardedFetch,
  url: URL,
  actor: string,
  maxBytes: number,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, {
      headers,
      maxBytes,
      redirects: MAX_REDIRECTS,
      timeout: TIMEOUT,
      deadline: DEADLINE,
    })
    return { status: response.status, text: await response.text() }
  } catch (cause) {
    if (cause instanceof UnreachableHostError)
      throw new IdentityUnavailableError(actor, cause.host, cause.reason, { cause })
    if (cause instanceof ResponseTooLargeError)
      throw new IdentityUnavailableError(actor, cause.host, 'sent too much', { cause })
    if (cause instanceof RefusedUrlError) throw new IdentityNotFoundError(actor, cause.message)
    throw cause
  }
}
