import { timingSafeEqual } from 'node:crypto'

/** PBKDF2 with SHA-256. 100,000 rounds are the most that workerd runs; app passwords are random, 80 bits and more. */
const ROUNDS = 100_000
const VERIFIER_BITS = 256
const SALT_BYTES = 16

export function createSalt(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(SALT_BYTES))).toString('base64')
}

/** What is kept of a password: enough to recognise it, not enough to sign in with it. Both base64. */
export async function deriveVerifier(password: string, salt: string): Promise<string> {
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(password), 'PBKDF2', false, ['deriveBits'])
  const bits = await crypto.subtle.deriveBits(
    { name: 'PBKDF2', hash: 'SHA-256', salt: new Uint8Array(Buffer.from(salt, 'base64')), iterations: ROUNDS },
    key,
    VERIFIER_BITS,
  )
  return Buffer.from(bits).toString('base64')
}

export function verifiersMatch(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a, 'base64'), Buffer.from(b, 'base64')]
  return left.length === right.length && timingSafeEqual(left, right)
}
