import { ByteCache } from '../bytes/byte-cache.ts'
import { GrowingBytes } from '../bytes/growing.ts'
import type { MemoryAccount } from '../bytes/memory-account.ts'
import { OID_BYTES, type Oid, oidFromBytes } from '../bytes/oid.ts'
import type { ByteRange } from '../bytes/range.ts'
import { applyDelta, applyDeltaInto, checkDeltaSizes } from '../delta/apply-delta.ts'
import type { ObjectSource } from '../object/object-source.ts'
import type { GitObject, ObjectType } from '../object/object-type.ts'
import { OFS_DELTA, PackError } from './entry-header.ts'
import type { EntryIds } from './entry-ids.ts'
import { inflateEntry } from './inflate-entry.ts'
import type { KeptDeltas } from './kept-deltas.ts'
import { ObjectBuffer } from './object-buffer.ts'
import { EXTERNAL_BASE } from './pack-index.ts'
import { PACK_LIMITS, type PackLimits } from './pack-limits.ts'
import { ObjectTooLargeError } from './packed-entry.ts'
import { BASE_BY_ID, type ObjectVisitor, type ScannedEntries } from './scan-pack.ts'

const NONE = -1
/** Bases asked of the store at once, and of how many bytes together, about. */
const READS_AT_ONCE = 16
const READ_AHEAD_BYTES = 4 * 1024 * 1024

export interface ResolveOptions {
  readonly scan: ScannedEntries
  /** Ids of the whole entries; those of the deltas are added. */
  readonly ids: EntryIds
  /** The pack's bytes, read again for bases and for deltas that were not kept. */
  readonly pack: ByteRange
  /** Deltas kept from the scan. */
  readonly deltas: KeptDeltas
  /** Where a thin pack's bases are found, or null if there is nothing yet. */
  readonly store: ObjectSource | null
  readonly visitor: ObjectVisitor
  readonly onProgress?: (done: number, total: number) => void
  readonly limits?: PackLimits
  /** Where the buffers held are entered. */
  readonly memory?: MemoryAccount
}

/** What the entries turn out to be, one value an entry; as in the pack index. */
export interface ResolvedPack {
  readonly types: Uint8Array
  /** Inflated sizes of the objects, as in the pack index. */
  readonly sizes: Uint32Array
  readonly bases: Uint32Array
  /** Raw ids of the bases that other packs hold, 20 bytes each. Not empty: the pack is thin. */
  readonly external: Uint8Array
}

/** A delta's base is neither in the pack nor in the store. */
export class MissingBaseError extends PackError {
  override name = 'MissingBaseError'
  readonly oid: Oid

  constructor(oid: Oid, where = 'is missing') {
    super(`the base ${oid} of a delta ${where}`)
    this.oid = oid
  }
}

/**
 * Resolves every delta of a scanned pack: depth first from each base, so that a base is at hand while its deltas are
 * applied and memory stays within a fixed budget; a base that had to be dropped is made again.
 *
 * @throws {@link PackError}, DeltaError, InflateError
 */
export async function resolveDeltas(options: ResolveOptions): Promise<ResolvedPack> {
  const resolver = new DeltaResolver(options)
  options.memory?.enter(resolver)
  try {
    return await resolver.resolve()
  } finally {
    options.memory?.leave(resolver)
  }
}

class DeltaResolver {
  readonly #options: ResolveOptions
  readonly #limits: PackLimits
  readonly #types: Uint8Array
  readonly #sizes: Uint32Array
  readonly #bases: Uint32Array
  /** The deltas on each entry as linked lists. */
  readonly #firstChild: Int32Array
  readonly #nextSibling: Int32Array
  /** Lists of the deltas by id whose base has not been met, by the number of the base's id. */
  readonly #waiting: Int32Array
  readonly #objects: ByteCache
  readonly #result = new ObjectBuffer()
  /** Bases that the store has: their raw ids, and their types. */
  readonly #external = new GrowingBytes()
  readonly #externalTypes: ObjectType[] = []
  readonly #deltas: number
  #done = 0
  #unfolded = 0

  constructor(options: ResolveOptions) {
    const { scan, ids } = options
    this.#options = options
    this.#limits = options.limits ?? PACK_LIMITS
    this.#objects = new ByteCache(this.#limits.keptObjectBytes)
    this.#types = scan.types.slice()
    this.#sizes = scan.sizes.slice()
    this.#bases = new Uint32Array(scan.entries)
    this.#firstChild = new Int32Array(scan.entries).fill(NONE)
    this.#nextSibling = new Int32Array(scan.entries).fill(NONE)
    this.#deltas = scan.types.reduce((count, type) => count + (type >= OFS_DELTA ? 1 : 0), 0)
    for (let at = 0; at < scan.baseIds.length; at += OID_BYTES) ids.table.intern(scan.baseIds, at)
    this.#waiting = new Int32Array(ids.table.size).fill(NONE)
    options.memory?.check(this.heldBytes)
  }

  get heldBytes(): number {
    const tables = [this.#types, this.#sizes, this.#bases, this.#firstChild, this.#nextSibling, this.#waiting]
    const objects = this.#objects.held + this.#result.heldBytes + this.#external.heldBytes
    return tables.reduce((sum, { byteLength }) => sum + byteLength, objects)
  }

  /** Objects that deltas stand on are made again where they are needed. */
  letGo(): void {
    this.#objects.clear()
    this.#result.letGo()
  }

  async resolve(): Promise<ResolvedPack> {
    const { scan, ids } = this.#options
    this.#linkChildren()
    for (let ordinal = 0; ordinal < scan.entries; ordinal++) {
      if (scan.types[ordinal]! >= OFS_DELTA) continue
      this.#adopt(ordinal)
      if (this.#hasChildren(ordinal)) await this.#resolveChildrenOf(ordinal)
    }
    await this.#resolveThin()
    this.#options.onProgress?.(this.#done, this.#deltas)
    for (let ordinal = 0; ordinal < scan.entries; ordinal++) {
      if (!ids.has(ordinal)) throw new PackError(`entry ${ordinal} is a delta on itself`)
    }
    return { types: this.#types, sizes: this.#sizes, bases: this.#bases, external: this.#external.view() }
  }

  #linkChildren(): void {
    const { scan, ids } = this.#options
    // Backwards, so that each list runs in pack order.
    for (let ordinal = scan.entries - 1; ordinal >= 0; ordinal--) {
      if (scan.types[ordinal]! < OFS_DELTA) continue
      const base = scan.baseOrdinals[ordinal]!
      if (base >= BASE_BY_ID) {
        const number = ids.table.find(scan.baseIds, (base - BASE_BY_ID) * OID_BYTES)
        this.#nextSibling[ordinal] = this.#waiting[number]!
        this.#waiting[number] = ordinal
      } else {
        this.#nextSibling[ordinal] = this.#firstChild[base]!
        this.#firstChild[base] = ordinal
        this.#bases[ordinal] = base + 1
      }
    }
  }

  #hasChildren(ordinal: number): boolean {
    return this.#firstChild[ordinal] !== NONE
  }

  /** Gives an entry whose id is now known the deltas that name it by id. */
  #adopt(ordinal: number): void {
    const first = this.#takeWaiting(this.#options.ids.numberOf(ordinal))
    if (first === NONE) return
    let last = first
    for (let child = first; child !== NONE; child = this.#nextSibling[child]!) {
      this.#bases[child] = ordinal + 1
      last = child
    }
    this.#nextSibling[last] = this.#firstChild[ordinal]!
    this.#firstChild[ordinal] = first
  }

  #takeWaiting(number: number): number {
    // Ids met later than all bases are nobody's base.
    if (number >= this.#waiting.length) return NONE
    const first = this.#waiting[number]!
    this.#waiting[number] = NONE
    return first
  }

  /** Resolves the deltas whose bases are in the store. Any of them may turn out to be a base that others wait for. */
  async #resolveThin(): Promise<void> {
    const isWaiting = (number: number) => this.#waiting[number] !== NONE
    for (let number = 0; number < this.#waiting.length; ) {
      const numbers: number[] = []
      let bytes = 0
      for (; number < this.#waiting.length && numbers.length < READS_AT_ONCE && bytes < READ_AHEAD_BYTES; number++) {
        if (!isWaiting(number)) continue
        numbers.push(number)
        bytes += (await this.#statStore(number))?.size ?? 0
      }
      const bases = await Promise.all(numbers.map((waiting) => this.#readStore(this.#options.ids.table.oidAt(waiting))))
      for (const [i, waiting] of numbers.entries()) {
        const base = bases[i]!
        // One of those before may have been a base of it.
        if (base !== null && isWaiting(waiting)) await this.#resolveOn(waiting, base)
      }
    }
    const missing = this.#waiting.findIndex((first) => first !== NONE)
    if (missing >= 0) throw new MissingBaseError(this.#options.ids.table.oidAt(missing))
  }

  /** Resolves what waits for a base that the store has. */
  async #resolveOn(number: number, base: GitObject): Promise<void> {
    const oid = this.#options.ids.table.bytesAt(number).slice()
    const place = this.#externalTypes.push(base.type) - 1
    this.#external.append(oid, 0, OID_BYTES)
    this.#objects.set(this.#externalKey(place), base.bytes)
    const children: number[] = []
    for (let child = this.#takeWaiting(number); child !== NONE; child = this.#nextSibling[child]!) {
      this.#bases[child] = EXTERNAL_BASE + place
      children.push(child)
    }
    await this.#resolveAll(children.reverse())
    this.#objects.delete(this.#externalKey(place))
  }

  async #resolveChildrenOf(base: number): Promise<void> {
    const stack: number[] = []
    this.#pushChildren(stack, base)
    await this.#resolveAll(stack)
    this.#objects.delete(base)
  }

  /** Resolves the deltas on a stack and all that build on them. An object is let go once all that build on it are made. */
  async #resolveAll(stack: number[]): Promise<void> {
    for (let ordinal = stack.pop(); ordinal !== undefined; ordinal = stack.pop()) {
      if (ordinal < 0) {
        this.#objects.delete(~ordinal)
        continue
      }
      await this.#resolveEntry(ordinal)
      if (!this.#hasChildren(ordinal)) continue
      stack.push(~ordinal)
      this.#pushChildren(stack, ordinal)
    }
  }

  /** In pack order from the top of the stack, and first those that nothing builds on: then the base is not needed long. */
  #pushChildren(stack: number[], base: number): void {
    for (const isBase of [true, false]) {
      const from = stack.length
      for (let child = this.#firstChild[base]!; child !== NONE; child = this.#nextSibling[child]!) {
        if (this.#hasChildren(child) === isBase) stack.push(child)
      }
      reverseFrom(stack, from)
    }
  }

  async #resolveEntry(ordinal: number): Promise<void> {
    const { ids, visitor, onProgress } = this.#options
    const base = this.#baseAtHand(ordinal) ?? (await this.#makeBase(ordinal))
    const delta = this.#keptDelta(ordinal) ?? (await this.#inflate(ordinal))
    const sizes = checkDeltaSizes(base, delta, this.#limits.objectBytes)
    const bytes = this.#result.take(sizes.result)
    applyDeltaInto(base, delta, sizes, bytes)
    this.#count(sizes.result)
    const type = this.#typeOfBase(ordinal)
    const oid = this.#result.hash(type, sizes.result)
    ids.set(ordinal, oid)
    this.#types[ordinal] = type
    this.#sizes[ordinal] = sizes.result
    this.#adopt(ordinal)
    if (this.#hasChildren(ordinal)) this.#objects.set(ordinal, bytes.slice())
    visitor.object(ordinal, type, oid, bytes)
    this.#done++
    if ((this.#done & 1023) === 0) onProgress?.(this.#done, this.#deltas)
  }

  /** A delta has the type of its base, which is always resolved first. */
  #typeOfBase(ordinal: number): ObjectType {
    const base = this.#bases[ordinal]!
    return base >= EXTERNAL_BASE ? this.#externalTypes[base - EXTERNAL_BASE]! : (this.#types[base - 1] as ObjectType)
  }

  #baseAtHand(ordinal: number): Uint8Array | undefined {
    const base = this.#bases[ordinal]!
    return this.#objects.get(base >= EXTERNAL_BASE ? this.#externalKey(base - EXTERNAL_BASE) : base - 1)
  }

  /** The object that an entry builds on: from the nearest one at hand, every delta on the way applied in turn. */
  async #makeBase(ordinal: number): Promise<Uint8Array> {
    const base = this.#bases[ordinal]!
    if (base >= EXTERNAL_BASE) return this.#readExternal(base - EXTERNAL_BASE)
    const chain: number[] = []
    let bytes: Uint8Array | undefined
    for (let at = base - 1; bytes === undefined; ) {
      const next = this.#bases[at]!
      if (next === 0) {
        bytes = await this.#inflate(at)
      } else {
        chain.push(at)
        bytes =
          this.#baseAtHand(at) ?? (next >= EXTERNAL_BASE ? await this.#readExternal(next - EXTERNAL_BASE) : undefined)
        at = next - 1
      }
    }
    for (let at = chain.pop(); at !== undefined; at = chain.pop()) {
      bytes = applyDelta(bytes, this.#keptDelta(at) ?? (await this.#inflate(at)), this.#limits.objectBytes)
      this.#count(bytes.length)
    }
    this.#objects.set(base - 1, bytes)
    return bytes
  }

  #keptDelta(ordinal: number): Uint8Array | null {
    return this.#options.deltas.get(ordinal, this.#options.scan.sizes[ordinal]!)
  }

  /** What an entry holds, object or delta, read from the pack. */
  async #inflate(ordinal: number): Promise<Uint8Array> {
    const { scan, pack } = this.#options
    const size = scan.sizes[ordinal]!
    if (size > this.#limits.objectBytes) {
      throw new PackError(`a delta builds on an object of ${size} bytes; the limit is ${this.#limits.objectBytes}`)
    }
    this.#count(size)
    const start = scan.offsets[ordinal]! + scan.headerLengths[ordinal]!
    return inflateEntry(await pack.read(start, scan.offsets[ordinal + 1]! - start), size)
  }

  /** Objects made again because they did not stay at hand count as well: that is where deep trees of deltas cost. */
  #count(bytes: number): void {
    this.#unfolded += bytes
    if (this.#unfolded > this.#limits.unfoldedBytes) {
      throw new PackError(`the deltas make more than ${this.#limits.unfoldedBytes} bytes. Push it in parts`)
    }
  }

  async #readExternal(place: number): Promise<Uint8Array> {
    const oid = oidFromBytes(this.#external.view(), place * OID_BYTES)
    const base = await this.#readStore(oid)
    if (base === null) throw new MissingBaseError(oid)
    this.#objects.set(this.#externalKey(place), base.bytes)
    return base.bytes
  }

  async #statStore(number: number): Promise<{ readonly size: number } | null> {
    return (await this.#options.store?.stat(this.#options.ids.table.oidAt(number))) ?? null
  }

  async #readStore(oid: Oid): Promise<GitObject | null> {
    try {
      return (await this.#options.store?.read(oid)) ?? null
    } catch (error) {
      if (!(error instanceof ObjectTooLargeError)) throw error
      throw new PackError(`a delta builds on an object that is too large: ${error.message}`)
    }
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
