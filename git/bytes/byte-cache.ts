/** Byte arrays by number, the least recently used dropped first once they exceed a budget in bytes. */
export class ByteCache {
  readonly #budget: number
  readonly #entries = new Map<number, Uint8Array>()
  #held = 0

  constructor(budget: number) {
    this.#budget = budget
  }

  /** Bytes held now. */
  get held(): number {
    return this.#held
  }

  get(key: number): Uint8Array | undefined {
    const bytes = this.#entries.get(key)
    if (bytes !== undefined) {
      this.#entries.delete(key)
      this.#entries.set(key, bytes)
    }
    return bytes
  }

  /** Keeps `bytes`, which must not change afterwards, unless they alone exceed the budget. */
  set(key: number, bytes: Uint8Array): void {
    this.delete(key)
    if (bytes.length > this.#budget) return
    this.#entries.set(key, bytes)
    this.#held += bytes.length
    for (const oldest of this.#entries.keys()) {
      if (this.#held <= this.#budget) break
      this.delete(oldest)
    }
  }

  delete(key: number): void {
    const bytes = this.#entries.get(key)
    if (bytes === undefined) return
    this.#entries.delete(key)
    this.#held -= bytes.length
  }
}
