import { inflateSync } from 'node:zlib'
import { inflateInto } from './inflate.ts'
import { InflateError } from './inflate-error.ts'

/** Below this many bytes the call into the platform's zlib costs more than decoding here. */
const NATIVE_FROM_BYTES = 16 * 1024

/**
 * Inflates an entry of which start, end and inflated size are known.
 *
 * @param compressed exactly the entry's compressed bytes.
 * @throws {@link InflateError}
 */
export function inflateEntry(compressed: Uint8Array, size: number): Uint8Array {
  if (size < NATIVE_FROM_BYTES) {
    const bytes = new Uint8Array(size)
    if (inflateInto(compressed, 0, bytes) !== compressed.length)
      throw new InflateError('entry ends elsewhere than its index says')
    return bytes
  }
  let bytes: Uint8Array
  try {
    // workerd compares the limit with the buffer that it doubles as it goes, not with what is in it.
    bytes = inflateSync(compressed, { maxOutputLength: 2 * size + NATIVE_FROM_BYTES * 4 })
  } catch (error) {
    throw new InflateError(error instanceof Error ? error.message : 'not a zlib stream')
  }
  if (bytes.length !== size) throw new InflateError('fewer bytes than the entry declares')
  return bytes
}
