import { isTokenText } from '../../storage/access/token-text.ts'
import { HttpError } from '../http/http-error.ts'

/** git asks for a user name and a password only where it is challenged so. */
const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="Skein: your handle and an app password", charset="UTF-8"' }

/** User names end at the first colon, but a DID has two of its own. */
const USER_AND_PASSWORD = /^(did:[a-z]+:[^:]*|[^:]*):(.*)$/s
/** Three parts of base64url; what is in them is looked at by whoever checks it. */
const JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

/** What a request says about who makes it. Nothing of it has been checked. */
export type Credentials =
  /** `username`: handle or DID. */
  | { readonly kind: 'password'; readonly username: string; readonly password: string }
  /** A token of this edge, sent as a bearer or as the password of any user name. */
  | { readonly kind: 'token'; readonly text: string }
  /** Service auth: signed by an account's key. */
  | { readonly kind: 'jwt' }

/** The credentials of a request, or null if it has none. @throws {@link HttpError} 401 for ones that cannot be read. */
export function readCredentials(request: Request): Credentials | null {
  const header = request.headers.get('Authorization')
  if (header === null) return null
  const [, scheme, value] = /^(\w+) +(\S+) *$/.exec(header) ?? []
  const credentials = readScheme(scheme?.toLowerCase(), value ?? '')
  if (credentials === null) {
    throw unauthorized('this needs Basic credentials (your handle and an app password) or a Bearer token of this edge')
  }
  return credentials
}

/** @throws {@link HttpError} 401 where there are none */
export function requireCredentials(request: Request): Credentials {
  const credentials = readCredentials(request)
  if (credentials === null) throw unauthorized('this needs your handle and an app password, or a token')
  return credentials
}

/** @param code how programs tell why */
export function unauthorized(message: string, code = 'AuthenticationRequired'): HttpError {
  return new HttpError(401, code, message, CHALLENGE)
}

function readScheme(scheme: string | undefined, value: string): Credentials | null {
  if (scheme === 'basic') return readBasic(value)
  return scheme === 'bearer' ? readBearer(value) : null
}

function readBasic(encoded: string): Credentials | null {
  const [, username, password] = USER_AND_PASSWORD.exec(decodeBase64(encoded) ?? '') ?? []
  if (username === undefined || password === undefined) return null
  return isTokenText(password) ? { kind: 'token', text: password } : { kind: 'password', username, password }
}

function readBearer(text: string): Credentials | null {
  if (isTokenText(text)) return { kind: 'token', text }
  return JWT.test(text) ? { kind: 'jwt' } : null
}

function decodeBase64(text: string): string | null {
  if (!/^[A-Za-z0-9+/=]+$/.test(text)) return null
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
