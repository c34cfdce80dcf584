import { Buffer } from 'node:buffer'
import { OID_BYTES, type Oid, oidFromBytes, oidToBytes } from '../../git/bytes/oid.ts'
import { invalidRequest } from '../http/http-error.ts'

/** Cursors that stand for bytes: opaque to clients, without characters that URLs escape. */
export function encodeCursor(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}

/** @throws {@link HttpError} 400 */
export function decodeCursor(cursor: string): Uint8Array {
  const bytes = new Uint8Array(Buffer.from(cursor, 'base64url'))
  if (bytes.length === 0 || encodeCursor(bytes) !== cursor) throw invalidCursor()
  return bytes
}

export function encodeOidCursor(oids: readonly Oid[]): string {
  return encodeCursor(Buffer.concat(oids.map(oidToBytes)))
}

/** @throws {@link HttpError} 400 */
export function decodeOidCursor(cursor: string): Oid[] {
  const bytes = decodeCursor(cursor)
  if (bytes.length % OID_BYTES !== 0) throw invalidCursor()
  return Array.from({ length: bytes.length / OID_BYTES }, (_, i) => oidFromBytes(bytes, i * OID_BYTES))
}

export function invalidCursor() {
  return invalidRequest('the cursor is not one that this method gave for this query')
}
