import { ByteCache } from '../bytes/byte-cache.ts'
import { OID_BYTES, oidFromBytes } from '../bytes/oid.ts'
import type { ByteRange } from '../bytes/range.ts'
import { applyDelta, DeltaError } from '../delta/apply-delta.ts'
import { objectHash } from '../object/hash-object.ts'
import type { ObjectSource } from '../object/object-source.ts'
import type { ObjectType } from '../object/object-type.ts'
import { OFS_DELTA, PackError } from './entry-header.ts'
import type { EntryIds } from './entry-ids.ts'
import { InflateError } from './inflate.ts'
import { inflateEntry } from './inflate-entry.ts'
import { EXTERNAL_BASE } from './pack-index.ts'
import { BASE_BY_ID, OBJECT_MEMORY_LIMIT, type ObjectVisitor, type PackScan } from './scan-pack.ts'

/** Objects kept at hand while the deltas on them are applied, in bytes. */
const OBJECT_CACHE_BYTES = 16 * 1024 * 1024
const NONE = -1

export interface ResolveOptions {
  readonly scan: PackScan
  /** Ids of the whole entries; those of the deltas are added. */
  readonly ids: EntryIds
  /** The pack's bytes, read again for bases and for deltas that were not kept. */
  readonly pack: ByteRange
  /** Deltas kept from the scan. */
  readonly deltas: ByteCache
  /** Where a thin pack's bases are found, or null if there is nothing yet. */
  readonly store: ObjectSource | null
  readonly visitor: ObjectVisitor
  readonly onProgress?: (done: number, total: number) => void
  /** Defaults to {@link OBJECT_MEMORY_LIMIT}. */
  readonly objectMemoryLimit?: number
}

/** What the entries turn out to be, one value an entry; as in the pack index. */
export interface ResolvedPack {
  readonly types: Uint8Array
  /** Inflated sizes of the objects. */
  readonly sizes: Float64Array
  readonly bases: Uint32Array
  /** Raw ids of the bases that other packs hold, 20 bytes each. Not empty: the pack is thin. */
  readonly external: Uint8Array
}

/** A delta's base is neither in the pack nor in the store. */
export class MissingBaseError extends PackError {
  override name = 'MissingBaseError'
  readonly oid: string

  constructor(oid: string) {
    super(`the base ${oid} of a delta is missing`)
    this.oid = oid
  }
}

/**
 * Resolves every delta of a scanned pack: depth first from each base, so that a base is at hand while its deltas are
 * applied and memory stays within a fixed budget; a base that had to be dropped is made again.
 *
 * @throws {@link PackError}
 */
export async function resolveDeltas(options: ResolveOptions): Promise<ResolvedPack> {
  const resolver = new DeltaResolver(options)
  try {
    return await resolver.resolve()
  } catch (error) {
    if (error instanceof DeltaError || error instanceof InflateError) throw new PackError(error.message)
    throw error
  }
}

class DeltaResolver {
  readonly #options: ResolveOptions
  readonly #limit: number
  readonly #types: Uint8Array
  readonly #sizes: Float64Array
  readonly #bases: Uint32Array
  /** The deltas on each entry as linked lists. */
  readonly #firstChild: Int32Array
  readonly #nextSibling: Int32Array
  /** Deltas by id whose base has not been met, by the number of the base's id. */
  readonly #waiting = new Map<number, number>()
  readonly #objects = new ByteCache(OBJECT_CACHE_BYTES)
  readonly #external: { oid: Uint8Array; type: ObjectType }[] = []
  readonly #deltas: number
  #done = 0

  constructor(options: ResolveOptions) {
    const { scan } = options
    this.#options = options
    this.#limit = options.objectMemoryLimit ?? OBJECT_MEMORY_LIMIT
    this.#types = scan.types.slice()
    this.#sizes = scan.sizes.slice()
    this.#bases = new Uint32Array(scan.entries)
    this.#firstChild = new Int32Array(scan.entries).fill(NONE)
    this.#nextSibling = new Int32Array(scan.entries).fill(NONE)
    this.#deltas = scan.types.reduce((count, type) => count + (type >= OFS_DELTA ? 1 : 0), 0)
  }

  async resolve(): Promise<ResolvedPack> {
    const { scan, ids } = this.#options
    this.#linkChildren()
    for (let ordinal = 0; ordinal < scan.entries; ordinal++) {
      if (scan.types[ordinal]! >= OFS_DELTA) continue
      this.#adopt(ordinal)
      if (this.#firstChild[ordinal] !== NONE) await this.#resolveChildrenOf(ordinal)
    }
    await this.#resolveThin()
    this.#options.onProgress?.(this.#done, this.#deltas)
    for (let ordinal = 0; ordinal < scan.entries; ordinal++) {
      if (!ids.has(ordinal)) throw new PackError(`entry ${ordinal} is a delta on itself`)
    }
    const external = new Uint8Array(this.#external.length * OID_BYTES)
    for (const [i, { oid }] of this.#external.entries()) external.set(oid, i * OID_BYTES)
    return { types: this.#types, sizes: this.#sizes, bases: this.#bases, external }
  }

  #linkChildren(): void {
    const { scan, ids } = this.#options
    // Backwards, so that each list runs in pack order.
    for (let ordinal = scan.entries - 1; ordinal >= 0; ordinal--) {
      if (scan.types[ordinal]! < OFS_DELTA) continue
      const base = scan.baseOrdinals[ordinal]!
      if (base === BASE_BY_ID) {
        const number = ids.table.intern(scan.baseIds.get(ordinal)!)
        this.#nextSibling[ordinal] = this.#waiting.get(number) ?? NONE
        this.#waiting.set(number, ordinal)
      } else {
        this.#nextSibling[ordinal] = this.#firstChild[base]!
        this.#firstChild[base] = ordinal
        this.#bases[ordinal] = base + 1
      }
    }
  }

  /** Gives an entry whose id is now known the deltas that name it by id. */
  #adopt(ordinal: number): void {
    const number = this.#options.ids.numberOf(ordinal)
    const first = this.#waiting.get(number)
    if (first === undefined) return
    this.#waiting.delete(number)
    let last = first
    for (let child = first; child !== NONE; child = this.#nextSibling[child]!) {
      this.#bases[child] = ordinal + 1
      last = child
    }
    this.#nextSibling[last] = this.#firstChild[ordinal]!
    this.#firstChild[ordinal] = first
  }

  async #resolveThin(): Promise<void> {
    const { ids, store } = this.#options
    // Resolving one base's deltas may bring an object that others wait for: take them one at a time.
    for (const number of [...this.#waiting.keys()]) {
      const first = this.#waiting.get(number)
      if (first === undefined) continue
      const oid = ids.table.bytesAt(number).slice()
      const base = await store?.read(oidFromBytes(oid))
      if (!base) {
        if (this.#isWaitingInPack(first)) continue
        throw new MissingBaseError(oidFromBytes(oid))
      }
      this.#waiting.delete(number)
      const place = this.#external.push({ oid, type: base.type }) - 1
      this.#objects.set(this.#externalKey(place), base.bytes)
      const children: number[] = []
      for (let child = first; child !== NONE; child = this.#nextSibling[child]!) {
        this.#bases[child] = EXTERNAL_BASE + place
        children.push(child)
      }
      for (const child of children) {
        await this.#resolveEntry(child)
        await this.#resolveChildrenOf(child)
      }
    }
    for (const number of this.#waiting.keys()) throw new MissingBaseError(ids.table.oidAt(number))
  }

  /** Whether other deltas are still unresolved too, one of which may turn out to be the base that is missing. */
  #isWaitingInPack(first: number): boolean {
    let own = 0
    for (let child = first; child !== NONE; child = this.#nextSibling[child]!) own++
    return this.#deltas - this.#done > own
  }

  async #resolveChildrenOf(root: number): Promise<void> {
    const stack: number[] = []
    const push = (base: number) => {
      const from = stack.length
      for (let child = this.#firstChild[base]!; child !== NONE; child = this.#nextSibling[child]!) stack.push(child)
      // In pack order from the top of the stack.
      reverseFrom(stack, from)
    }
    push(root)
    for (let ordinal = stack.pop(); ordinal !== undefined; ordinal = stack.pop()) {
      await this.#resolveEntry(ordinal)
      push(ordinal)
    }
  }

  async #resolveEntry(ordinal: number): Promise<void> {
    const { ids, visitor, onProgress } = this.#options
    const bytes = await this.#bytesOf(ordinal)
    const type = this.#typeOfBase(ordinal)
    const oid = objectHash(type, bytes)
    ids.set(ordinal, oid)
    this.#types[ordinal] = type
    this.#sizes[ordinal] = bytes.length
    visitor.object(ordinal, type, oid, bytes)
    this.#adopt(ordinal)
    if (this.#firstChild[ordinal] !== NONE) this.#objects.set(ordinal, bytes)
    this.#done++
    if ((this.#done & 1023) === 0) onProgress?.(this.#done, this.#deltas)
  }

  /** A delta has the type of its base, which is always resolved first. */
  #typeOfBase(ordinal: number): ObjectType {
    const base = this.#bases[ordinal]!
    return base >= EXTERNAL_BASE ? this.#external[base - EXTERNAL_BASE]!.type : (this.#types[base - 1] as ObjectType)
  }

  /** An entry's object: from the nearest base at hand, every delta on the way applied in turn. */
  async #bytesOf(ordinal: number): Promise<Uint8Array> {
    const chain: number[] = []
    let bytes: Uint8Array | undefined
    for (let at = ordinal; bytes === undefined; ) {
      const base = this.#bases[at]!
      if (base === 0) {
        bytes = await this.#inflate(at)
        this.#objects.set(at, bytes)
      } else {
        chain.push(at)
        at = base - 1
        bytes = base >= EXTERNAL_BASE ? await this.#readExternal(base - EXTERNAL_BASE) : this.#objects.get(at)
      }
    }
    for (let at = chain.pop(); at !== undefined; at = chain.pop()) {
      bytes = applyDelta(bytes, this.#options.deltas.get(at) ?? (await this.#inflate(at)), this.#limit)
    }
    return bytes
  }

  async #inflate(ordinal: number): Promise<Uint8Array> {
    const { scan, pack } = this.#options
    const size = scan.sizes[ordinal]!
    if (size > this.#limit) {
      throw new PackError(`a delta builds on an object of ${size} bytes; the limit is ${this.#limit}`)
    }
    const start = scan.offsets[ordinal]! + scan.headerLengths[ordinal]!
    return inflateEntry(await pack.read(start, scan.offsets[ordinal + 1]! - start), size)
  }

  async #readExternal(place: number): Promise<Uint8Array> {
    const held = this.#objects.get(this.#externalKey(place))
    if (held !== undefined) return held
    const oid = oidFromBytes(this.#external[place]!.oid)
    const base = await this.#options.store?.read(oid)
    if (!base) throw new MissingBaseError(oid)
    this.#objects.set(this.#externalKey(place), base.bytes)
    return base.bytes
  }

  #externalKey(place: number): number {
    return this.#options.scan.entries + place
  }
}

function reverseFrom(stack: number[], from: number): void {
  for (let low = from, high = stack.length - 1; low < high; low++, high--) {
    const value = stack[low]!
    stack[low] = stack[high]!
    stack[high] = value
  }
}
