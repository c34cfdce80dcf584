import { inflateInto } from './inflate.ts'
import { InflateError } from './inflate-error.ts'

/**
 * Inflates an entry of which start, end and inflated size are known.
 *
 * `node:zlib` would take as long for most entries, does not tell of bytes that follow the stream, and in workerd counts
 * a `maxOutputLength` in ways of its own: it refuses some outputs of exactly that length.
 *
 * @param compressed exactly the entry's compressed bytes.
 * @throws {@link InflateError}
 */
export function inflateEntry(compressed: Uint8Array, size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  if (inflateInto(compressed, 0, bytes) !== compressed.length) {
    throw new InflateError('entry ends elsewhere than its index says')
  }
  return bytes
}
