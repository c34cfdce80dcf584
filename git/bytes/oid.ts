/**
 * Object ids. Tables and wire formats hold the 20 raw bytes; refs, records and messages hold 40 hex digits.
 * Only SHA-1 repositories are supported so far (`objectFormat` of the repo record).
 */

/** An object id as 40 lower-case hex digits. */
export type Oid = string

export const OID_BYTES = 20
export const ZERO_OID: Oid = '0'.repeat(OID_BYTES * 2)

const OID_PATTERN = /^[0-9a-f]{40}$/
/** The value of each hex digit by its character; 255 for every other. */
const DIGITS = new Uint8Array(256).fill(255)
for (let digit = 0; digit < 16; digit++) DIGITS[digit.toString(16).charCodeAt(0)] = digit
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

export function isOid(text: string): text is Oid {
  return OID_PATTERN.test(text)
}

/** The hex form of the 20 bytes at `at`. */
export function oidFromBytes(bytes: Uint8Array, at = 0): Oid {
  let hex = ''
  for (let i = at; i < at + OID_BYTES; i++) hex += HEX[bytes[i]!]
  return hex
}

/** The 20 raw bytes of a valid {@link Oid}. */
export function oidToBytes(oid: Oid): Uint8Array {
  const bytes = new Uint8Array(OID_BYTES)
  for (let i = 0; i < OID_BYTES; i++) {
    bytes[i] = (DIGITS[oid.charCodeAt(i * 2)]! << 4) | DIGITS[oid.charCodeAt(i * 2 + 1)]!
  }
  return bytes
}

/** Reads 40 hex digits at `at` of ASCII bytes into `oid`. @returns false if they are not there or not all lower-case hex digits. */
export function parseOidBytes(digits: Uint8Array, at: number, oid: Uint8Array): boolean {
  if (at + OID_BYTES * 2 > digits.length) return false
  let seen = 0
  for (let i = 0; i < OID_BYTES; i++) {
    const high = DIGITS[digits[at + i * 2]!]!
    const low = DIGITS[digits[at + i * 2 + 1]!]!
    seen |= high | low
    oid[i] = (high << 4) | low
  }
  return seen < 16
}

/** Orders two raw ids as git does: byte by byte. */
export function compareOids(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): number {
  for (let i = 0; i < OID_BYTES; i++) {
    const difference = a[aAt + i]! - b[bAt + i]!
    if (difference !== 0) return difference
  }
  return 0
}
