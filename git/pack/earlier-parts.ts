import type { BufferHolder, MemoryAccount } from '../bytes/memory-account.ts'
import { NumberTable } from '../bytes/number-table.ts'
import { OID_BYTES, type Oid, oidToBytes } from '../bytes/oid.ts'
import { OidTable } from '../bytes/oid-table.ts'
import type { ObjectSource } from '../object/object-source.ts'
import type { GitObject, ObjectType } from '../object/object-type.ts'
import { type CutParts, NO_PART } from './cut-parts.ts'

/**
 * What the deltas of the next part of a pack may stand on: entries of the parts before, and what the repository has. Bases
 * are looked up all together, one part's index after the other, so that it does not matter how many parts there are.
 */
export class EarlierParts implements ObjectSource, BufferHolder {
  readonly #parts: CutParts
  readonly #known: ObjectSource | null
  readonly #memory: MemoryAccount
  /** Bases that are in the parts, and by their places the numbers of the entries. */
  readonly #found = new OidTable()
  readonly #numbers = new NumberTable(0)

  constructor(parts: CutParts, known: ObjectSource | null, memory: MemoryAccount) {
    this.#parts = parts
    this.#known = known
    this.#memory = memory
  }

  get heldBytes(): number {
    return this.#found.heldBytes + this.#numbers.heldBytes
  }

  /**
   * The raw ids of the entries that start at these offsets of the whole pack, one after the other.
   *
   * @param offsets ascending
   * @returns null if no entry starts at one of them
   */
  async idsAt(offsets: Float64Array): Promise<Uint8Array | null> {
    const ids = new Uint8Array(offsets.length * OID_BYTES)
    let next = 0
    for (const [part, { entries, offsets: file }] of this.#parts.parts.entries()) {
      const bytes = next < offsets.length ? await file.read(0, 8 * entries) : new Uint8Array(0)
      const there = new Float64Array(bytes.slice().buffer)
      const end = countUpTo(offsets, there.at(-1) ?? 0)
      if (end <= next) continue
      const ordinals = offsets.subarray(next, end).map((offset) => placeOf(there, offset))
      if (ordinals.includes(-1)) return null
      await this.#parts.withIndex(part, this.#memory, (index) => {
        for (const ordinal of ordinals) {
          const oid = index.oidBytes(ordinal)
          ids.set(oid, OID_BYTES * next++)
          this.#note(oid, this.#parts.starts[part]! + ordinal)
        }
      })
    }
    return next === offsets.length ? ids : null
  }

  /** Looks some raw ids up, which lie one after the other: only these are found by {@link read}. */
  async find(ids: Uint8Array): Promise<void> {
    const unknown: number[] = []
    for (let at = 0; at < ids.length; at += OID_BYTES) if (this.#found.find(ids, at) < 0) unknown.push(at)
    for (const part of unknown.length === 0 ? [] : this.#parts.parts.keys()) {
      await this.#parts.withIndex(part, this.#memory, (index) => {
        for (const at of unknown) {
          const ordinal = index.find(ids, at)
          if (ordinal < 0 || this.#found.find(ids, at) >= 0) continue
          this.#note(ids.subarray(at, at + OID_BYTES), this.#parts.starts[part]! + ordinal)
        }
      })
    }
  }

  async read(oid: Oid): Promise<GitObject | null> {
    const number = this.#numberOf(oidToBytes(oid))
    return number === NO_PART ? ((await this.#known?.read(oid)) ?? null) : this.#parts.read(number)
  }

  async stat(oid: Oid): Promise<{ type: ObjectType; size: number } | null> {
    const number = this.#numberOf(oidToBytes(oid))
    return number === NO_PART ? ((await this.#known?.stat(oid)) ?? null) : this.#parts.stat(number)
  }

  /** The numbers of bases with these raw ids, as {@link CutPart.bases} has them. */
  numbersOf(ids: Uint8Array): Uint32Array {
    return Uint32Array.from({ length: ids.length / OID_BYTES }, (_, i) => this.#numberOf(ids, i * OID_BYTES))
  }

  #numberOf(ids: Uint8Array, at = 0): number {
    const place = this.#found.find(ids, at)
    return place < 0 ? NO_PART : this.#numbers.get(place)
  }

  #note(oid: Uint8Array, number: number): void {
    const place = this.#found.intern(oid)
    this.#numbers.set(place, number)
  }
}

/** How many of the ascending values are at most `last`. */
function countUpTo(values: Float64Array, last: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (values[middle]! <= last) low = middle + 1
    else high = middle
  }
  return low
}

function placeOf(values: Float64Array, value: number): number {
  const place = countUpTo(values, value) - 1
  return values[place] === value ? place : -1
}
