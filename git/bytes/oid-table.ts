import { compareOids, OID_BYTES, type Oid, oidFromBytes } from './oid.ts'

const EMPTY = 0xffffffff
const INITIAL_CAPACITY = 1024

/**
 * Ids of objects scatter evenly, so that with half of the slots free a search ends after a few. Only ids that somebody
 * made up (in a tree that names objects which do not exist) crowd together, to make every search a long one.
 */
const LONGEST_SEARCH = 512

/** Ids that were made up to slow the table down. */
export class CrowdedOidsError extends Error {
  override name = 'CrowdedOidsError'
}

/**
 * Numbers object ids in the order in which they are first met: 20 bytes an id, and 8 bytes an id of hash slots
 * at most half full. A JavaScript map of strings takes about ten times as much.
 */
export class OidTable {
  #bytes: Uint8Array
  #slots: Uint32Array
  #size = 0

  constructor(capacity = INITIAL_CAPACITY) {
    this.#bytes = new Uint8Array(Math.max(capacity, 16) * OID_BYTES)
    this.#slots = new Uint32Array(slotsFor(capacity)).fill(EMPTY)
  }

  /** How many ids have been numbered. */
  get size(): number {
    return this.#size
  }

  get heldBytes(): number {
    return this.#bytes.byteLength + this.#slots.byteLength
  }

  /** The number of the id at `at` of `bytes`, or -1 if it has none. @throws {@link CrowdedOidsError} */
  find(bytes: Uint8Array, at = 0): number {
    const number = this.#slots[this.#slotOf(bytes, at)]!
    return number === EMPTY ? -1 : number
  }

  /** The number of the id at `at` of `bytes`; a new id gets the next one. @throws {@link CrowdedOidsError} */
  intern(bytes: Uint8Array, at = 0): number {
    let slot = this.#slotOf(bytes, at)
    const known = this.#slots[slot]!
    if (known !== EMPTY) return known
    if ((this.#size + 1) * 2 > this.#slots.length) {
      this.#grow()
      slot = this.#slotOf(bytes, at)
    }
    const number = this.#size++
    if (this.#size * OID_BYTES > this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2)
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    for (let i = 0; i < OID_BYTES; i++) this.#bytes[number * OID_BYTES + i] = bytes[at + i]!
    this.#slots[slot] = number
    return number
  }

  /** The raw id with this number, as a view that a later `intern` may leave behind: copy it to keep it. */
  bytesAt(number: number): Uint8Array {
    return this.#bytes.subarray(number * OID_BYTES, (number + 1) * OID_BYTES)
  }

  /** The same as a view that a later `intern` may leave behind. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#size * OID_BYTES)
  }

  /** All raw ids in the order of their numbers. */
  bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#size * OID_BYTES)
  }

  /** Copies the raw id with this number to `at` of `target`. */
  copy(number: number, target: Uint8Array, at: number): void {
    const start = number * OID_BYTES
    for (let i = 0; i < OID_BYTES; i++) target[at + i] = this.#bytes[start + i]!
  }

  oidAt(number: number): Oid {
    return oidFromBytes(this.#bytes, number * OID_BYTES)
  }

  #slotOf(bytes: Uint8Array, at: number): number {
    const mask = this.#slots.length - 1
    // Object ids are uniformly distributed already: their first bytes are the hash.
    let slot = (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) & mask
    for (let steps = 0; steps < LONGEST_SEARCH; steps++) {
      const number = this.#slots[slot]!
      if (number === EMPTY || compareOids(this.#bytes, number * OID_BYTES, bytes, at) === 0) return slot
      slot = (slot + 1) & mask
    }
    throw new CrowdedOidsError('more object ids with the same first digits than chance makes')
  }

  #grow(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2).fill(EMPTY)
    for (let number = 0; number < this.#size; number++) {
      this.#slots[this.#slotOf(this.#bytes, number * OID_BYTES)] = number
    }
  }
}

function slotsFor(capacity: number): number {
  let slots = INITIAL_CAPACITY
  while (slots < capacity * 2) slots *= 2
  return slots
}
