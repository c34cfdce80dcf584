import { HttpError } from '../http/http-error.ts'
import type { RequestContext } from '../request-context.ts'

/** The `limit` of the binding in wrangler.toml: it does the counting, and this is only told. */
const LIMIT = 600
/** Its `period`, in seconds: after that long there is room again in any case. */
const PERIOD = 60

/**
 * Counts a call of a token, or of an account that comes with a JWT.
 *
 * @param key who it is counted for
 * @throws {@link HttpError} 429
 */
export async function countCall({ environment }: RequestContext, key: string): Promise<void> {
  const { success } = await environment.CALL_LIMIT.limit({ key })
  if (success) return
  throw new HttpError(
    429,
    'RateLimitExceeded',
    `too many requests with these credentials: at most ${LIMIT} in ${PERIOD} s are taken`,
    { 'Retry-After': `${PERIOD}` },
  )
}
