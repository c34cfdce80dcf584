import { PackError } from './entry-header.ts'
import type { ReadAhead } from './read-ahead.ts'

const NOTHING = new Uint8Array(0)

/** The part of a file that a reader is at, moving forwards through the parts of a {@link ReadAhead}. */
export class PartWindow {
  readonly #parts: ReadAhead
  #bytes: Uint8Array = NOTHING
  #start = 0

  constructor(parts: ReadAhead) {
    this.#parts = parts
  }

  /** Where the window ends in the file. */
  get end(): number {
    return this.#start + this.#bytes.length
  }

  /** Whether the window has all bytes from `from` to `to`. */
  has(from: number, to: number): boolean {
    return from >= this.#start && to <= this.end
  }

  /** The bytes from `from` to `to`, or as many of them as the window has. It must have the first. */
  view(from: number, to: number): Uint8Array {
    return this.#bytes.subarray(from - this.#start, to - this.#start)
  }

  /** Moves on until the window has the byte at `position`. */
  async moveTo(position: number): Promise<void> {
    while (this.end <= position) {
      const part = await this.#parts.next()
      if (part === null) throw new PackError('an entry lies outside of what was read')
      this.#bytes = part.bytes
      this.#start = part.offset
    }
  }

  /** Moves on until the window has all bytes from `from` to `to`, which are few. */
  async cover(from: number, to: number): Promise<Uint8Array> {
    await this.moveTo(from)
    while (this.end < to) {
      // What the window has is gone when the next part is taken.
      const kept = this.#bytes.slice(from - this.#start)
      const part = await this.#parts.next()
      if (part === null || part.offset !== this.end) throw new PackError('an entry lies outside of what was read')
      const joined = new Uint8Array(kept.length + part.bytes.length)
      joined.set(kept)
      joined.set(part.bytes, kept.length)
      this.#bytes = joined
      this.#start = from
    }
    return this.view(from, to)
  }
}
