import { createHash } from 'node:crypto'
import { OID_BYTES } from '../bytes/oid.ts'
import type { ByteRange } from '../bytes/range.ts'
import { PackError } from './entry-header.ts'
import { PACK_HEADER_BYTES, parsePackHeader } from './scan-pack.ts'

const PIECE_BYTES = 1024 * 1024

/**
 * Checks that a pack is all there, without a look at what is in it.
 *
 * @returns how many entries it declares
 * @throws {@link PackError}
 */
export async function verifyPack(pack: ByteRange): Promise<number> {
  const end = pack.size - OID_BYTES
  if (end < PACK_HEADER_BYTES) throw new PackError('the pack is cut off')
  const entries = parsePackHeader(await pack.read(0, PACK_HEADER_BYTES), 0)
  const hash = createHash('sha1')
  for await (const piece of pack.pieces(0, end, PIECE_BYTES)) hash.update(piece)
  if (!hash.digest().equals(await pack.read(end, OID_BYTES))) throw new PackError('the pack has a wrong checksum')
  return entries
}
