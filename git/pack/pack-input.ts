import { createHash } from 'node:crypto'
import { OID_BYTES } from '../bytes/oid.ts'
import { PackError } from './entry-header.ts'

const INITIAL_WINDOW = 512 * 1024

/**
 * The bytes of an arriving pack as a window that slides: what has been read is dropped, what is wanted is filled in.
 * Hashes what it drops, so that the trailer can be checked at the end.
 */
export class PackInput {
  /** The window's bytes; valid from `start` to `end`. */
  bytes = new Uint8Array(INITIAL_WINDOW)
  start = 0
  end = 0
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #hash = createHash('sha1')
  /** Where `bytes[0]` lies in the pack. */
  #origin = 0
  #hashed = 0
  #ended = false

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Where `start` lies in the pack, in bytes. */
  get offset(): number {
    return this.#origin + this.start
  }

  get available(): number {
    return this.end - this.start
  }

  /** Makes at least `length` bytes available, or all that are left. @returns whether there are `length`. */
  async fill(length: number): Promise<boolean> {
    while (this.available < length && !this.#ended) {
      const { value: chunk, done } = await this.#chunks.next()
      if (done) {
        this.#ended = true
        break
      }
      this.#append(chunk)
    }
    return this.available >= length
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

  #append(chunk: Uint8Array): void {
    if (this.end + chunk.length > this.bytes.length) this.#makeRoom(chunk.length)
    this.bytes.set(chunk, this.end)
    this.end += chunk.length
  }

  #makeRoom(length: number): void {
    this.#hashUpTo(this.start)
    const kept = this.available
    let size = this.bytes.length
    while (kept + length > size) size *= 2
    if (size === this.bytes.length) {
      this.bytes.copyWithin(0, this.start, this.end)
    } else {
      const larger = new Uint8Array(size)
      larger.set(this.bytes.subarray(this.start, this.end))
      this.bytes = larger
    }
    this.#origin += this.start
    this.#hashed = 0
    this.start = 0
    this.end = kept
  }

  #hashUpTo(position: number): void {
    if (position > this.#hashed) this.#hash.update(this.bytes.subarray(this.#hashed, position))
    this.#hashed = position
  }
}
