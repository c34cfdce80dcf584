/** Random access to bytes that never change: an R2 object, a file, a buffer. */
export interface ByteRange {
  /** Length of the whole, in bytes. */
  readonly size: number
  /** Exactly `length` bytes from `offset`. @throws RangeError if the range is not inside the whole. */
  read(offset: number, length: number): Promise<Uint8Array>
  /** The same bytes as a byte stream, for copying: nothing is read before it is asked for. */
  stream(offset: number, length: number): ReadableStream<Uint8Array>
  /**
   * The same bytes in pieces of `pieceBytes`, the last one shorter, each read when it is asked for. They may be shared
   * with others: they must not be changed. A piece is there until the second after it is asked for: so one may be used
   * while the next is read. Then its memory may be that of another. Whoever stops early ends the generator, and the
   * reading with it.
   */
  pieces(offset: number, length: number, pieceBytes: number): AsyncGenerator<Uint8Array, void, undefined>
}

/** A range over bytes in memory. */
export class BufferRange implements ByteRange {
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get size(): number {
    return this.#bytes.length
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    assertRange(this, offset, length)
    return this.#bytes.subarray(offset, offset + length)
  }

  stream(offset: number, length: number): ReadableStream<Uint8Array> {
    assertRange(this, offset, length)
    const bytes = this.#bytes.slice(offset, offset + length)
    return new ReadableStream({
      type: 'bytes',
      start(controller) {
        if (bytes.length > 0) controller.enqueue(bytes)
        controller.close()
      },
    })
  }

  pieces(offset: number, length: number, pieceBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
    return readPieces(this, offset, length, pieceBytes)
  }
}

/** {@link ByteRange.pieces} by a read for each of them. */
export async function* readPieces(
  range: Pick<ByteRange, 'read'>,
  offset: number,
  length: number,
  pieceBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < length; at += pieceBytes) {
    yield await range.read(offset + at, Math.min(pieceBytes, length - at))
  }
}

export function assertRange(range: { readonly size: number }, offset: number, length: number): void {
  if (offset < 0 || length < 0 || offset + length > range.size) {
    throw new RangeError(`bytes ${offset}+${length} are outside of ${range.size}`)
  }
}
