import { createHash } from 'node:crypto'
import { OID_BYTES } from '../bytes/oid.ts'
import { PackError } from './entry-header.ts'

const WINDOW_BYTES = 256 * 1024
const NOTHING = new Uint8Array(0)

/**
 * The bytes of an arriving pack as a window that slides: what has been read is dropped, what is wanted is filled in.
 * Hashes what it drops, so that the trailer can be checked at the end. The window is as large as it ever gets from the
 * start: whoever reads takes what is there and asks for more.
 */
export class PackInput {
  /** The window's bytes; valid from `start` to `end`. */
  readonly bytes = new Uint8Array(WINDOW_BYTES)
  start = 0
  end = 0
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #hash = createHash('sha1')
  /** What is left of the last chunk. */
  #chunk: Uint8Array = NOTHING
  /** Where `bytes[0]` lies in the pack. */
  #origin = 0
  #hashed = 0
  #ended = false

  /** @param origin where in the pack the chunks begin, in bytes */
  constructor(chunks: AsyncIterable<Uint8Array>, origin = 0) {
    this.#chunks = chunks[Symbol.asyncIterator]()
    this.#origin = origin
  }

  /** Where `start` lies in the pack, in bytes. */
  get offset(): number {
    return this.#origin + this.start
  }

  get available(): number {
    return this.end - this.start
  }

  /**
   * Makes at least `length` bytes available (much less than the window has), or all that are left.
   *
   * @returns whether there are `length`.
   */
  async fill(length: number): Promise<boolean> {
    while (this.available < length) {
      if (this.#chunk.length === 0 && !(await this.#next())) return false
      if (this.end === this.bytes.length) this.#slide()
      const part = this.#chunk.subarray(0, this.bytes.length - this.end)
      this.bytes.set(part, this.end)
      this.end += part.length
      this.#chunk = this.#chunk.subarray(part.length)
    }
    return true
  }

  /** Reads the 20 bytes after the last entry and compares them with what was hashed. Nothing may follow. */
  async checkTrailer(): Promise<Uint8Array> {
    this.#hashUpTo(this.start)
    if (!(await this.fill(OID_BYTES))) throw new PackError('the pack is cut off in its trailer')
    const trailer = this.bytes.slice(this.start, this.start + OID_BYTES)
    if (!this.#hash.digest().equals(trailer)) throw new PackError('the pack has a wrong checksum')
    if (await this.fill(OID_BYTES + 1)) throw new PackError('bytes follow the end of the pack')
    return trailer
  }

  /** Tells whoever sends that no more is wanted. */
  async close(): Promise<void> {
    if (!this.#ended) await this.#chunks.return?.()
  }

  async #next(): Promise<boolean> {
    if (this.#ended) return false
    const { value, done } = await this.#chunks.next()
    if (done) {
      this.#ended = true
      return false
    }
    this.#chunk = value
    return true
  }

  #slide(): void {
    this.#hashUpTo(this.start)
    this.bytes.copyWithin(0, this.start, this.end)
    this.#origin += this.start
    this.end -= this.start
    this.start = 0
    this.#hashed = 0
  }

  #hashUpTo(position: number): void {
    if (position > this.#hashed) this.#hash.update(this.bytes.subarray(this.#hashed, position))
    this.#hashed = position
  }
}
