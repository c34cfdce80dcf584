import type { Identity } from '../../atproto/identity/identity.ts'
import { HttpError } from '../http/http-error.ts'
import type { RequestContext } from '../request-context.ts'

const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="Skein: your handle and an app password", charset="UTF-8"' }

/** User names end at the first colon, but a DID has two of its own. */
const USER_AND_PASSWORD = /^(did:[a-z]+:[^:]*|[^:]*):(.*)$/s

export interface Credentials {
  /** Handle or DID. */
  readonly username: string
  readonly password: string
}

/** The credentials of a request, or null if it has none. @throws {@link HttpError} 401 for ones that cannot be read. */
export function readCredentials(request: Request): Credentials | null {
  const header = request.headers.get('Authorization')
  if (header === null) return null
  const encoded = /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(header)?.[1]
  const text = encoded === undefined ? null : decodeBase64(encoded)
  const [, username, password] = USER_AND_PASSWORD.exec(text ?? '') ?? []
  if (username === undefined || password === undefined) {
    throw unauthorized('this needs Basic credentials: your handle and an app password')
  }
  return { username, password }
}

/**
 * Makes sure that the request comes from the owner of an account.
 *
 * @throws {@link HttpError} 401 for none or wrong credentials, 403 for another account's, 429 and 503 as the PDS is.
 */
export async function requireOwner(context: RequestContext, request: Request, owner: Identity): Promise<void> {
  const credentials = requireCredentials(request)
  const user = await resolveUser(context, credentials.username)
  if (user.did !== owner.did) {
    const name = owner.handle ?? owner.did
    throw new HttpError(
      403,
      'NotYourAccount',
      `${credentials.username} may not push into the account of ${name}: push to a repository of your own instead`,
    )
  }
  await authenticate(context, user, credentials)
}

/** The account that a request comes from. @throws {@link HttpError} 401, 429, 503 */
export async function requireAccount(context: RequestContext, request: Request): Promise<Identity> {
  const credentials = requireCredentials(request)
  const user = await resolveUser(context, credentials.username)
  await authenticate(context, user, credentials)
  return user
}

/** @throws {@link HttpError} 401 where there are none */
export function requireCredentials(request: Request): Credentials {
  const credentials = readCredentials(request)
  if (credentials === null) throw unauthorized('this needs your handle and an app password')
  return credentials
}

async function authenticate(context: RequestContext, { did, pds }: Identity, { password }: Credentials): Promise<void> {
  const answer = await context.accountWriter(did).authenticate({ did, pds, password })
  if (answer.ok) return
  const headers = { 'Retry-After': `${answer.retryAfterSeconds ?? 30}` }
  switch (answer.reason) {
    case 'wrong-password':
      throw unauthorized(answer.message)
    case 'refused':
    case 'signed-out':
      throw new HttpError(403, 'Refused', answer.message)
    case 'rate-limited':
      throw new HttpError(429, 'RateLimitExceeded', answer.message, headers)
    case 'unreachable':
      throw new HttpError(503, 'UpstreamUnavailable', answer.message, headers)
  }
}

async function resolveUser(context: RequestContext, username: string): Promise<Identity> {
  try {
    return await context.resolveActor(username)
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) {
      throw unauthorized(`there is no account ${JSON.stringify(username)}: use your handle as the user name`)
    }
    throw error
  }
}

function unauthorized(message: string): HttpError {
  return new HttpError(401, 'AuthenticationRequired', message, CHALLENGE)
}

function decodeBase64(text: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Uint8Array.from(atob(text), (char) => char.charCodeAt(0)),
    )
  } catch (error) {
    // Neither base64 (a DOMException) nor UTF-8 (a TypeError): the same to whoever sent it.
    if (error instanceof DOMException || error instanceof TypeError) return null
    throw error
  }
}
