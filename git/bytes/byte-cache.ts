import { LruCache } from './lru-cache.ts'

/** What an array and its place in the map take beside the bytes, roughly: many small ones must not go uncounted. */
const ENTRY_BYTES = 200

/** Byte arrays by number, the least recently used dropped first once they exceed a budget in bytes. */
export class ByteCache<T extends { readonly byteLength: number } = Uint8Array> {
  readonly #budget: number
  readonly #arrays: LruCache<number, T>

  constructor(budget: number) {
    this.#budget = budget
    this.#arrays = new LruCache(budget, ({ byteLength }) => byteLength + ENTRY_BYTES)
  }

  /** Bytes held now, with what each array takes itself. */
  get held(): number {
    return this.#arrays.held
  }

  clear(): void {
    this.#arrays.clear()
  }

  get(key: number): T | undefined {
    return this.#arrays.get(key)
  }

  /** Keeps `bytes`, which must not change afterwards, unless they alone exceed the budget. */
  set(key: number, bytes: T): void {
    if (bytes.byteLength > this.#budget) this.#arrays.delete(key)
    else this.#arrays.set(key, bytes)
  }

  delete(key: number): void {
    this.#arrays.delete(key)
  }
}
