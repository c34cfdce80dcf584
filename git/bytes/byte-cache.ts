/** Byte arrays by number, the least recently used dropped first once they exceed a budget in bytes. */
export class ByteCache<T extends { readonly byteLength: number } = Uint8Array> {
  readonly #budget: number
  readonly #entries = new Map<number, T>()
  #held = 0

  constructor(budget: number) {
    this.#budget = budget
  }

  /** Bytes held now, with what each array takes itself. */
  get held(): number {
    return this.#held
  }

  get(key: number): T | undefined {
    const bytes = this.#entries.get(key)
    if (bytes !== undefined) {
      this.#entries.delete(key)
      this.#entries.set(key, bytes)
    }
    return bytes
  }

  /** Keeps `bytes`, which must not change afterwards, unless they alone exceed the budget. */
  set(key: number, bytes: T): void {
    this.delete(key)
    if (bytes.byteLength > this.#budget) return
    this.#entries.set(key, bytes)
    this.#held += bytes.byteLength + ENTRY_BYTES
    for (const oldest of this.#entries.keys()) {
      if (this.#held <= this.#budget || oldest === key) break
      this.delete(oldest)
    }
  }

  delete(key: number): void {
    const bytes = this.#entries.get(key)
    if (bytes === undefined) return
    this.#entries.delete(key)
    this.#held -= bytes.byteLength + ENTRY_BYTES
  }
}

/** What an array and its place in the map take beside the bytes, roughly: many small ones must not go uncounted. */
const ENTRY_BYTES = 200
