import type { ByteRange } from '../bytes/range.ts'
import { createEntryHeader, PackError, readEntryHeader } from './entry-header.ts'

/** What an entry has beside its compressed bytes: the header, and deflate's own of an incompressible object. */
const ENTRY_OVERHEAD_BYTES = 1024
/** What the objects of a chain of deltas may have in all, in bytes: a few bytes of deltas can make terabytes. */
export const CHAIN_BYTES = 4 * 1024 * 1024 * 1024

/** An object is too large to be held in memory; it can be streamed by PackedObjects if it is no delta. */
export class ObjectTooLargeError extends Error {
  override name = 'ObjectTooLargeError'
}

export interface PackedEntry {
  readonly compressed: Uint8Array
  /** Inflated, in bytes. */
  readonly size: number
}

/**
 * The entry from `start` to `end` of a pack.
 *
 * @param limit the most that an object or delta may have, in bytes
 * @throws {@link ObjectTooLargeError}, {@link PackError}
 */
export async function readPackedEntry(
  data: ByteRange,
  start: number,
  end: number,
  limit: number,
): Promise<PackedEntry> {
  const length = end - start
  // Deflate adds little to what it cannot compress.
  if (length > limit * 1.01 + ENTRY_OVERHEAD_BYTES) {
    throw new ObjectTooLargeError(`an entry of ${length} bytes; the limit is ${limit}`)
  }
  const entry = await data.read(start, length)
  const header = createEntryHeader()
  if (!readEntryHeader(entry, 0, header)) throw new PackError('an entry is cut off')
  if (header.size > limit) throw new ObjectTooLargeError(`an object of ${header.size} bytes; the limit is ${limit}`)
  return { compressed: entry.subarray(header.end), size: header.size }
}
