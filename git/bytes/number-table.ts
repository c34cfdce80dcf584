/** A 32-bit value for every number from 0 on, 0 at first. Tables grow as numbers are given. */
export class NumberTable {
  #values: Uint32Array

  /** @param numbers how many there are so far: all from here on have the value 0. */
  constructor(numbers: number) {
    this.#values = new Uint32Array(numbers)
  }

  get heldBytes(): number {
    return this.#values.byteLength
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

/** The same with 8 bits a number. */
export class ByteTable {
  #values: Uint8Array

  /** @param numbers how many there are so far */
  constructor(numbers: number) {
    this.#values = new Uint8Array(numbers)
  }

  get heldBytes(): number {
    return this.#values.byteLength
  }

  /** From here on all numbers have the value 0. */
  get length(): number {
    return this.#values.length
  }

  get(number: number): number {
    return this.#values[number] ?? 0
  }

  set(number: number, value: number): void {
    if (number >= this.#values.length) {
      const larger = new Uint8Array(number * 2 + 1)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[number] = value
  }
}
