import type { Identity } from '../../atproto/identity/identity.ts'
import { HttpError } from '../http/http-error.ts'
import type { RequestContext } from '../request-context.ts'
import { unauthorized } from './credentials.ts'

/** Makes sure that a password opens an account. @throws {@link HttpError} 401, 403, and 429 and 503 as the PDS is */
export async function checkPassword(context: RequestContext, { did, pds }: Identity, password: string): Promise<void> {
  const answer = await context.accountWriter(did).authenticate({ did, pds, password })
  if (answer.ok) return
  const headers = { 'Retry-After': `${answer.retryAfterSeconds ?? 30}` }
  switch (answer.reason) {
    case 'wrong-password':
      throw unauthorized(answer.message)
    case 'blocked':
      throw new HttpError(403, 'Blocked', answer.message)
    case 'refused':
    case 'signed-out':
      throw new HttpError(403, 'Refused', answer.message)
    case 'rate-limited':
      throw new HttpError(429, 'RateLimitExceeded', answer.message, headers)
    case 'unreachable':
      throw new HttpError(503, 'UpstreamUnavailable', answer.message, headers)
  }
}

/** The account that somebody says they are. @throws {@link HttpError} 401 where there is none, 503 */
export async function resolveUser(context: RequestContext, actor: string): Promise<Identity> {
  try {
    return await context.resolveActor(actor)
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) {
      throw unauthorized(
        `there is no account ${JSON.stringify(actor)}: use your handle as the user name, or a whole token as the password`,
      )
    }
    throw error
  }
}
