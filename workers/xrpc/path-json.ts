import { Buffer } from 'node:buffer'
import { decodeText, isUtf8 } from '../../git/object/text.ts'

/** A path in an answer: as text, and where that is not all of it, its bytes. */
export function pathJson(path: Uint8Array): { path: string; pathBytes?: { $bytes: string } } {
  if (isUtf8(path)) return { path: decodeText(path) }
  return { path: decodeText(path), pathBytes: { $bytes: Buffer.from(path).toString('base64').replace(/=+$/, '') } }
}
