const WORD_BITS = 32

/** A set of the numbers below `length`: one bit each. */
export class Bitmap {
  readonly length: number
  readonly #words: Uint32Array

  constructor(length: number) {
    this.length = length
    this.#words = new Uint32Array(Math.ceil(length / WORD_BITS))
  }

  has(number: number): boolean {
    return (this.#words[number >>> 5]! & (1 << (number & 31))) !== 0
  }

  set(number: number): void {
    this.#words[number >>> 5]! |= 1 << (number & 31)
  }

  clear(number: number): void {
    this.#words[number >>> 5]! &= ~(1 << (number & 31))
  }

  /** Takes the numbers of another set of the same length out of this one. */
  clearAll(others: Bitmap): void {
    for (let at = 0; at < this.#words.length; at++) this.#words[at]! &= ~others.#words[at]!
  }

  /** How many numbers are in the set. */
  count(): number {
    let count = 0
    for (const word of this.#words) {
      // The parallel bit count of Hacker's Delight, 5-1.
      let bits = word - ((word >>> 1) & 0x55555555)
      bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
      count += (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24
    }
    return count
  }

  /** The smallest number in the set that is at least `from`, or -1. */
  next(from: number): number {
    if (from >= this.length) return -1
    let at = from >>> 5
    let word = this.#words[at]! & (-1 << (from & 31))
    while (word === 0) {
      if (++at >= this.#words.length) return -1
      word = this.#words[at]!
    }
    return at * WORD_BITS + (31 - Math.clz32(word & -word))
  }

  *[Symbol.iterator](): Generator<number, void, undefined> {
    for (let number = this.next(0); number >= 0; number = this.next(number + 1)) yield number
  }
}
