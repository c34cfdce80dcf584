import {
  DELIM,
  END,
  FLUSH,
  LENGTH_BYTES,
  LINE_LIMIT,
  type Packet,
  PktLineError,
  RESPONSE_END,
  readLength,
} from './pkt-line.ts'

export interface PktLineReaderOptions {
  /**
   * The most bytes that may come in packets, in all; what {@link PktLineReader.rest} hands over does not count.
   * Defaults to {@link REQUEST_LIMIT}.
   */
  readonly limit?: number
}

/** Room for 600,000 wants: requests are held in memory. */
export const REQUEST_LIMIT = 32 * 1024 * 1024

const NOTHING: Uint8Array = new Uint8Array(0)

/**
 * Reads packets from a byte stream, as it arrives. After any packet the unread rest of the stream can be had: the pack
 * that follows the commands of a push is not framed.
 */
export class PktLineReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #limit: number
  #chunk = NOTHING
  #at = 0
  #consumed = 0

  constructor(chunks: AsyncIterable<Uint8Array>, options: PktLineReaderOptions = {}) {
    this.#chunks = chunks[Symbol.asyncIterator]()
    this.#limit = options.limit ?? REQUEST_LIMIT
  }

  /**
   * The next packet. Data is a view into what arrived: it stays valid.
   *
   * @throws {@link PktLineError}
   */
  async read(): Promise<Packet> {
    const digits = await this.#take(LENGTH_BYTES)
    if (digits === null) return END
    const length = readLength(digits, 0)
    this.#consumed += Math.max(length, LENGTH_BYTES)
    if (this.#consumed > this.#limit) throw new PktLineError(`request is larger than ${this.#limit} bytes`)
    if (length === 0) return FLUSH
    if (length === 1) return DELIM
    if (length === 2) return RESPONSE_END
    if (length < LENGTH_BYTES || length > LINE_LIMIT) throw new PktLineError(`bad line length ${length}`)
    if (length === LENGTH_BYTES) return NOTHING
    const data = await this.#take(length - LENGTH_BYTES)
    if (data === null) throw new PktLineError('line is cut off')
    return data
  }

  /** What follows the packets read so far, unframed. The reader is of no use afterwards. */
  async *rest(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      if (this.#at < this.#chunk.length) yield this.#chunk.subarray(this.#at)
      this.#chunk = NOTHING
      for (;;) {
        const { value, done } = await this.#chunks.next()
        if (done) return
        if (value.length > 0) yield value
      }
    } finally {
      await this.#chunks.return?.()
    }
  }

  /** Exactly `length` bytes, or null if the stream ends before the first. */
  async #take(length: number): Promise<Uint8Array | null> {
    const end = this.#at + length
    if (end <= this.#chunk.length) {
      const bytes = this.#chunk.subarray(this.#at, end)
      this.#at = end
      return bytes
    }
    const bytes = new Uint8Array(length)
    let filled = 0
    while (filled < length) {
      if (this.#at === this.#chunk.length) {
        const { value, done } = await this.#chunks.next()
        if (done) {
          if (filled === 0) return null
          throw new PktLineError('line is cut off')
        }
        this.#chunk = value
        this.#at = 0
      }
      const part = this.#chunk.subarray(this.#at, this.#at + length - filled)
      bytes.set(part, filled)
      filled += part.length
      this.#at += part.length
    }
    return bytes
  }
}
