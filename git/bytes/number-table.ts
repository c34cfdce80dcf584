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

const FIRST_SLOTS = 1024
/** Numbers with a value beyond which {@link SparseNumberTable.renew} begins anew. */
const MANY_NUMBERS = 65_536

/** A 32-bit value for some of very many numbers, 0 for all others: 8 bytes a slot, at most half of them used. */
export class SparseNumberTable {
  /** The number plus 1; 0: free. */
  #keys = new Uint32Array(FIRST_SLOTS)
  #values = new Uint32Array(FIRST_SLOTS)
  #used = 0

  get heldBytes(): number {
    return 2 * this.#keys.byteLength
  }

  get(number: number): number {
    return this.#values[this.#slotOf(number)]!
  }

  set(number: number, value: number): void {
    let slot = this.#slotOf(number)
    if (this.#keys[slot] === 0) {
      if (2 * ++this.#used > this.#keys.length) {
        this.#grow()
        slot = this.#slotOf(number)
      }
      this.#keys[slot] = number + 1
    }
    this.#values[slot] = value
  }

  /** Where the values so far are of no use any more: gives them up if they are many. */
  renew(): void {
    if (this.#used < MANY_NUMBERS) return
    this.#keys = new Uint32Array(FIRST_SLOTS)
    this.#values = new Uint32Array(FIRST_SLOTS)
    this.#used = 0
  }

  #slotOf(number: number): number {
    const mask = this.#keys.length - 1
    let slot = (Math.imul(number, 0x9e3779b1) >>> 7) & mask
    while (this.#keys[slot] !== 0 && this.#keys[slot] !== number + 1) slot = (slot + 1) & mask
    return slot
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values]
    this.#keys = new Uint32Array(2 * keys.length)
    this.#values = new Uint32Array(2 * keys.length)
    for (const [slot, key] of keys.entries()) {
      if (key === 0) continue
      const place = this.#slotOf(key - 1)
      this.#keys[place] = key
      this.#values[place] = values[slot]!
    }
  }
}

/** The same as {@link NumberTable} with 8 bits a number. */
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
