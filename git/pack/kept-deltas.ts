import { GrowingUint32 } from '../bytes/growing.ts'

const CHUNK_BYTES = 1024 * 1024

/**
 * Inflated deltas kept from the scan of a pack for its resolution. They lie end to end in large chunks: an array of its
 * own for each would take more memory than most deltas have bytes.
 */
export class KeptDeltas {
  #budget: number
  readonly #chunks: Uint8Array[] = []
  /** Bytes used of the last chunk. */
  #used = CHUNK_BYTES
  /** By ordinal: where the delta starts, counted over all chunks from 1; 0 where none is kept. */
  readonly #places = new GrowingUint32()

  /** @param budget bytes to keep, rounded up to whole chunks of 1 MiB. */
  constructor(budget: number) {
    this.#budget = budget
  }

  get heldBytes(): number {
    return this.#chunks.length * CHUNK_BYTES + this.#places.heldBytes
  }

  /** Keeps nothing any more: deltas can be read from the pack. */
  letGo(): void {
    this.#budget = 0
    this.#chunks.length = 0
    this.#used = CHUNK_BYTES
    this.#places.letGo()
  }

  /** Keeps a copy of an entry's delta while there is room: the first that come, for all are needed once. */
  keep(ordinal: number, delta: Uint8Array): void {
    if (delta.length > CHUNK_BYTES) return
    if (this.#used === CHUNK_BYTES || this.#used + delta.length > CHUNK_BYTES) {
      if (this.#chunks.length * CHUNK_BYTES >= this.#budget) return
      this.#chunks.push(new Uint8Array(CHUNK_BYTES))
      this.#used = 0
    }
    const chunk = this.#chunks.length - 1
    this.#chunks[chunk]!.set(delta, this.#used)
    while (this.#places.length <= ordinal) this.#places.push(0)
    this.#places.set(ordinal, chunk * CHUNK_BYTES + this.#used + 1)
    this.#used += delta.length
  }

  /** The entry's delta of `size` bytes as a view, or null if it was not kept. */
  get(ordinal: number, size: number): Uint8Array | null {
    const place = ordinal < this.#places.length ? this.#places.at(ordinal) : 0
    if (place === 0) return null
    const start = (place - 1) % CHUNK_BYTES
    return this.#chunks[Math.floor((place - 1) / CHUNK_BYTES)]!.subarray(start, start + size)
  }
}
