/**
 * Typed arrays that grow: for tables whose length a stranger declares, so nothing is allocated before it is there.
 * One class for each kind of array, though alike: where every entry of a pack passes, one class over two kinds is slower.
 */

const INITIAL_LENGTH = 1024

export class GrowingUint32 {
  #table = new Uint32Array(INITIAL_LENGTH)
  #length = 0

  get heldBytes(): number {
    return this.#table.byteLength
  }

  get length(): number {
    return this.#length
  }

  push(value: number): void {
    if (this.#length === this.#table.length) {
      const larger = new Uint32Array(this.#table.length * 2)
      larger.set(this.#table)
      this.#table = larger
    }
    this.#table[this.#length++] = value
  }

  clear(): void {
    this.#length = 0
  }

  /** Leaves the first `length` values. */
  truncate(length: number): void {
    this.#length = Math.min(length, this.#length)
  }

  /** Leaves none, and gives the room back. */
  letGo(): void {
    this.#table = new Uint32Array(INITIAL_LENGTH)
    this.#length = 0
  }

  at(index: number): number {
    return this.#table[index]!
  }

  set(index: number, value: number): void {
    this.#table[index] = value
  }

  /** The values so far, as a view that a later `push` may leave behind. */
  view(): Uint32Array {
    return this.#table.subarray(0, this.#length)
  }
}

export class GrowingFloat64 {
  #table = new Float64Array(INITIAL_LENGTH)
  #length = 0

  get heldBytes(): number {
    return this.#table.byteLength
  }

  get length(): number {
    return this.#length
  }

  push(value: number): void {
    if (this.#length === this.#table.length) {
      const larger = new Float64Array(this.#table.length * 2)
      larger.set(this.#table)
      this.#table = larger
    }
    this.#table[this.#length++] = value
  }

  at(index: number): number {
    return this.#table[index]!
  }

  set(index: number, value: number): void {
    this.#table[index] = value
  }

  /** The values so far, as a view that a later `push` may leave behind. */
  view(): Float64Array {
    return this.#table.subarray(0, this.#length)
  }
}

export class GrowingBytes {
  #bytes = new Uint8Array(INITIAL_LENGTH)
  #length = 0

  get heldBytes(): number {
    return this.#bytes.byteLength
  }

  get length(): number {
    return this.#length
  }

  append(bytes: Uint8Array, start: number, end: number): void {
    const length = this.#length + end - start
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, this.#bytes.length * 2))
      larger.set(this.view())
      this.#bytes = larger
    }
    for (let at = start; at < end; at++) this.#bytes[this.#length++] = bytes[at]!
  }

  /** The bytes so far, as a view that a later `append` may leave behind. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }
}
