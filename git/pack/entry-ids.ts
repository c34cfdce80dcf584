import { GrowingUint32 } from '../bytes/growing.ts'
import type { Oid } from '../bytes/oid.ts'
import { OidTable } from '../bytes/oid-table.ts'

const NONE = 0xffffffff

/** Which object each entry of one pack is, both ways. Ids of other objects (bases, links) are numbered in the same table. */
export class EntryIds {
  readonly table = new OidTable()
  readonly #numbers = new GrowingUint32()
  readonly #ordinals = new GrowingUint32()

  get heldBytes(): number {
    return this.table.heldBytes + this.#numbers.heldBytes + this.#ordinals.heldBytes
  }

  set(ordinal: number, oid: Uint8Array): void {
    const number = this.table.intern(oid)
    while (this.#numbers.length <= ordinal) this.#numbers.push(NONE)
    this.#numbers.set(ordinal, number)
    while (this.#ordinals.length <= number) this.#ordinals.push(NONE)
    if (ordinal < this.#ordinals.at(number)) this.#ordinals.set(number, ordinal)
  }

  /** How many ids have numbers. */
  get size(): number {
    return this.table.size
  }

  intern(bytes: Uint8Array, at = 0): number {
    return this.table.intern(bytes, at)
  }

  oidAt(number: number): Oid {
    return this.table.oidAt(number)
  }

  copy(number: number, target: Uint8Array, at: number): void {
    this.table.copy(number, target, at)
  }

  /** The table's number of the entry's id. */
  numberOf(ordinal: number): number {
    return this.#numbers.at(ordinal)
  }

  /** Whether the entry's id is known yet. */
  has(ordinal: number): boolean {
    return ordinal < this.#numbers.length && this.#numbers.at(ordinal) !== NONE
  }

  /** The first entry with this id, or -1 if the pack has none (so far). */
  ordinalOf(number: number): number {
    if (number >= this.#ordinals.length) return -1
    const ordinal = this.#ordinals.at(number)
    return ordinal === NONE ? -1 : ordinal
  }

  /** By entry: the number of its id. As a view that a later `set` may leave behind. */
  get numbers(): Uint32Array {
    return this.#numbers.view()
  }
}
