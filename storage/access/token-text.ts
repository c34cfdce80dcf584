import { createHash, randomBytes } from 'node:crypto'

const PREFIX = 'skein_'
const SECRET_BYTES = 32
/** 32 bytes in base64url. */
const TOKEN = /^skein_[A-Za-z0-9_-]{43}$/

/** Whether a text looks like a token: a password that does is taken for one. */
export function isTokenText(text: string): boolean {
  return TOKEN.test(text)
}

export function createTokenText(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64url')
}

/** All that is kept of a token's text. It is as random as a key, so one round of SHA-256 keeps it. Hex. */
export function hashToken(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
