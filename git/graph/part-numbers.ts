import type { BufferHolder } from '../bytes/memory-account.ts'
import type { Oid } from '../bytes/oid.ts'
import { OidTable } from '../bytes/oid-table.ts'
import type { PackIndex } from '../pack/pack-index.ts'
import type { ObjectNumbers } from './object-numbers.ts'

/**
 * Numbers of the objects of several packs as if they were one: an entry's number is its ordinal, counted through all of
 * them, and other objects come after the last. It takes no memory for what the packs have.
 */
export class PartNumbers implements ObjectNumbers, BufferHolder {
  readonly #indexes: readonly PackIndex[]
  /** Where each pack's entries start, and at the end how many there are. */
  readonly starts: readonly number[]
  readonly #others = new OidTable()

  constructor(indexes: readonly PackIndex[]) {
    this.#indexes = indexes
    const starts = [0]
    for (const { entries } of indexes) starts.push(starts.at(-1)! + entries)
    this.starts = starts
  }

  get heldBytes(): number {
    return this.#others.heldBytes
  }

  get entries(): number {
    return this.starts.at(-1)!
  }

  get size(): number {
    return this.entries + this.#others.size
  }

  intern(bytes: Uint8Array, at = 0): number {
    for (const [pack, index] of this.#indexes.entries()) {
      const ordinal = index.find(bytes, at)
      if (ordinal >= 0) return this.starts[pack]! + ordinal
    }
    return this.entries + this.#others.intern(bytes, at)
  }

  oidAt(number: number): Oid {
    if (number >= this.entries) return this.#others.oidAt(number - this.entries)
    const pack = this.#packOf(number)
    return this.#indexes[pack]!.oid(number - this.starts[pack]!)
  }

  copy(number: number, target: Uint8Array, at: number): void {
    target.set(this.#bytesAt(number), at)
  }

  /** Of an object that several entries are, the first: so it is with whatever points at it. */
  numberOf(ordinal: number): number {
    return this.intern(this.#bytesAt(ordinal))
  }

  ordinalOf(number: number): number {
    return number < this.entries ? number : -1
  }

  #bytesAt(number: number): Uint8Array {
    if (number >= this.entries) return this.#others.bytesAt(number - this.entries)
    const pack = this.#packOf(number)
    return this.#indexes[pack]!.oidBytes(number - this.starts[pack]!)
  }

  #packOf(ordinal: number): number {
    let pack = 0
    while (this.starts[pack + 1]! <= ordinal) pack++
    return pack
  }
}
