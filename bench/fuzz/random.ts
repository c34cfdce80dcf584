/** Numbers that are the same for the same seed (mulberry32): a failing input can be had again. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A whole number from 0 up to, not including, `end`. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * end)
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T
  }
}
