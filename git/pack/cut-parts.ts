import { ByteCache } from '../bytes/byte-cache.ts'
import type { BufferHolder, MemoryAccount } from '../bytes/memory-account.ts'
import type { ByteRange } from '../bytes/range.ts'
import { applyDelta } from '../delta/apply-delta.ts'
import type { ObjectSource } from '../object/object-source.ts'
import type { GitObject, ObjectType } from '../object/object-type.ts'
import { PackError } from './entry-header.ts'
import { inflateEntry } from './inflate-entry.ts'
import { EXTERNAL_BASE, PackIndex } from './pack-index.ts'
import { PACK_LIMITS } from './pack-limits.ts'
import { CHAIN_BYTES, ObjectTooLargeError, readPackedEntry } from './packed-entry.ts'
import { PagedIndex } from './paged-index.ts'

/** Objects kept for those that build on them, in bytes. */
const OBJECT_CACHE_BYTES = 8 * 1024 * 1024
const CACHED_OBJECT_BYTES = 1024 * 1024

/** In {@link CutPart.bases}: the base is in no part. */
export const NO_PART = 0xffffffff

/** A pack that was cut from another, as it is stored. */
export interface CutPart {
  readonly entries: number
  readonly data: ByteRange
  /** Its index file (see PackIndex). */
  readonly index: ByteRange
  /** f64 an entry: where it was in the whole pack. */
  readonly offsets: ByteRange
  /** u32 a base outside of it: the number of the entry that it is, or {@link NO_PART}. */
  readonly bases: ByteRange
}

/**
 * The parts that a pack was cut into, however many: no more than one of their indexes is in memory at a time.
 *
 * An entry's *number* is its ordinal, counted through all parts in their order.
 */
export class CutParts implements BufferHolder {
  readonly parts: readonly CutPart[]
  /** The number of each part's first entry, and at the end how many there are. */
  readonly starts: readonly number[]
  readonly #known: ObjectSource | null
  readonly #paged: readonly PagedIndex[]
  readonly #made = new ByteCache(OBJECT_CACHE_BYTES)

  /** @param known where bases are that are in no part */
  constructor(parts: readonly CutPart[], known: ObjectSource | null) {
    this.parts = parts
    this.#known = known
    const starts = [0]
    for (const { entries } of parts) starts.push(starts.at(-1)! + entries)
    this.starts = starts
    this.#paged = parts.map(({ index }) => new PagedIndex(index))
  }

  get heldBytes(): number {
    return this.#made.held
  }

  letGo(): void {
    this.#made.clear()
  }

  get entries(): number {
    return this.starts.at(-1)!
  }

  /** The part that an entry is in. */
  partOf(number: number): number {
    let low = 0
    let high = this.parts.length
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (this.starts[middle]! <= number) low = middle
      else high = middle
    }
    return low
  }

  /** Has the index of a part in memory, and in the account, while `use` runs. */
  async withIndex<T>(part: number, memory: MemoryAccount, use: (index: PackIndex) => T | Promise<T>): Promise<T> {
    const { index } = this.parts[part]!
    const held = memory.enter({ heldBytes: index.size })
    try {
      memory.check()
      return await use(new PackIndex(await index.read(0, index.size)))
    } finally {
      memory.leave(held)
    }
  }

  /**
   * Makes an entry's object.
   *
   * @throws {@link ObjectTooLargeError}, {@link PackError}
   */
  async read(number: number): Promise<GitObject> {
    const chain: number[] = []
    let type: ObjectType | null = null
    let bytes: Uint8Array | undefined
    for (let at = number; bytes === undefined; ) {
      const part = this.partOf(at)
      const entry = await this.#paged[part]!.entry(at - this.starts[part]!)
      type ??= entry.type
      bytes = this.#made.get(at)
      if (bytes !== undefined) break
      if (entry.base === 0) {
        bytes = await this.#inflate(part, entry)
        this.#keep(at, bytes)
        break
      }
      chain.push(at)
      if (chain.length > this.entries) throw new PackError('deltas build on each other')
      const base = entry.base < EXTERNAL_BASE ? this.starts[part]! + entry.base - 1 : await this.#base(part, entry.base)
      if (typeof base === 'number') at = base
      else bytes = base
    }
    let made = 0
    for (let at = chain.pop(); at !== undefined; at = chain.pop()) {
      made += bytes.length
      if (made > CHAIN_BYTES) throw new ObjectTooLargeError(`an object made of more than ${CHAIN_BYTES} bytes of bases`)
      const part = this.partOf(at)
      const entry = await this.#paged[part]!.entry(at - this.starts[part]!)
      bytes = applyDelta(bytes, await this.#inflate(part, entry), PACK_LIMITS.objectBytes)
      this.#keep(at, bytes)
    }
    return { type: type!, bytes }
  }

  /** An entry's type, and its object's size as the index has it. */
  async stat(number: number): Promise<{ type: ObjectType; size: number }> {
    const part = this.partOf(number)
    return this.#paged[part]!.entry(number - this.starts[part]!)
  }

  /** The number of a base outside of the part, or its bytes. */
  async #base(part: number, base: number): Promise<number | Uint8Array> {
    const place = base - EXTERNAL_BASE
    const word = await this.parts[part]!.bases.read(4 * place, 4)
    const number = new DataView(word.buffer, word.byteOffset, 4).getUint32(0, true)
    if (number !== NO_PART) return number
    const oid = await this.#paged[part]!.externalBase(place)
    const object = (await this.#known?.read(oid)) ?? null
    if (object === null) throw new PackError(`the base ${oid} of a delta is missing`)
    return object.bytes
  }

  async #inflate(part: number, { start, end }: { readonly start: number; readonly end: number }): Promise<Uint8Array> {
    const { compressed, size } = await readPackedEntry(this.parts[part]!.data, start, end, PACK_LIMITS.objectBytes)
    return inflateEntry(compressed, size)
  }

  #keep(number: number, bytes: Uint8Array): void {
    if (bytes.length <= CACHED_OBJECT_BYTES) this.#made.set(number, bytes)
  }
}
