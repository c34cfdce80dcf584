/** A 32-bit value for every number from 0 on, 0 at first. Tables grow as numbers are given. */
export class NumberTable {
  #values: Uint32Array

  /** @param numbers how many there are so far. */
  constructor(numbers: number) {
    this.#values = new Uint32Array(numbers)
  }

  /** All numbers from here on have the value 0. */
  get heldBytes(): number {
    return this.#values.byteLength
  }

  get length(): number {
    return this.#values.length
  }

  get(number: number): number {
    return this.#values[number] ?? 0
  }

  set(number: number, value: number): void {
    if (number >= this.#values.length) {
      const larger = new Uint32Array(number * 2 + 1)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[number] = value
  }
}
