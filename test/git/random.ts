/** Numbers that are the same in every run (mulberry32), so that a failing case can be had again from its seed. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to, not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }

  /** A whole number from 0 up to, not including, `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256))
  }

  /** Bytes as files have them: words from a small stock, so that they compress and make deltas. */
  text(length: number): Uint8Array {
    const words = ['lorem', 'ipsum', 'dolor\n', 'sit', 'amet\n', 'git', 'pack', 'x', 'entry\n', 'base']
    let text = ''
    while (text.length < length) text += `${this.pick(words)} `
    return new TextEncoder().encode(text.slice(0, length))
  }
}
