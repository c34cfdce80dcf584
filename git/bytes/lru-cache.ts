/**
 * Values by key; the least recently used are dropped first once all together cost more than the budget. The newest one
 * stays, whatever it costs.
 */
export class LruCache<K, V> {
  readonly #budget: number
  readonly #costOf: (value: V) => number
  readonly #values = new Map<K, V>()
  #held = 0

  /** @param costOf what a value counts for, the same each time it is asked */
  constructor(budget: number, costOf: (value: V) => number) {
    this.#budget = budget
    this.#costOf = costOf
  }

  /** What the values held now cost. */
  get held(): number {
    return this.#held
  }

  clear(): void {
    this.#values.clear()
    this.#held = 0
  }

  get(key: K): V | undefined {
    const value = this.#values.get(key)
    if (value !== undefined) {
      this.#values.delete(key)
      this.#values.set(key, value)
    }
    return value
  }

  set(key: K, value: V): void {
    this.delete(key)
    this.#values.set(key, value)
    this.#held += this.#costOf(value)
    for (const oldest of this.#values.keys()) {
      if (this.#held <= this.#budget || oldest === key) break
      this.delete(oldest)
    }
  }

  delete(key: K): void {
    const value = this.#values.get(key)
    if (value === undefined) return
    this.#values.delete(key)
    this.#held -= this.#costOf(value)
  }
}
