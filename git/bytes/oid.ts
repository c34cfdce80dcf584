/**
 * Object ids. Tables and wire formats hold the 20 raw bytes; refs, records and messages hold 40 hex digits.
 * Only SHA-1 repositories are supported so far (`objectFormat` of the repo record).
 */

/** An object id as 40 lower-case hex digits. */
export type Oid = string

export const OID_BYTES = 20
export const ZERO_OID: Oid = '0'.repeat(OID_BYTES * 2)

const OID_PATTERN = /^[0-9a-f]{40}$/
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
  for (let i = 0; i < OID_BYTES; i++) bytes[i] = Number.parseInt(oid.slice(i * 2, i * 2 + 2), 16)
  return bytes
}

/** Orders two raw ids as git does: byte by byte. */
export function compareOids(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): number {
  for (let i = 0; i < OID_BYTES; i++) {
    const difference = a[aAt + i]! - b[bAt + i]!
    if (difference !== 0) return difference
  }
  return 0
}
