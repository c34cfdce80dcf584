import { ByteCache } from '../bytes/byte-cache.ts'
import { type Oid, oidToBytes } from '../bytes/oid.ts'
import type { ByteRange } from '../bytes/range.ts'
import { applyDelta } from '../delta/apply-delta.ts'
import type { ObjectSource } from '../object/object-source.ts'
import type { GitObject, ObjectType } from '../object/object-type.ts'
import { asPackError } from './as-pack-error.ts'
import { createEntryHeader, ENTRY_HEADER_LIMIT, PackError, readEntryHeader } from './entry-header.ts'
import { inflateEntry } from './inflate-entry.ts'
import { type PackIndex, SIZE_UNKNOWN } from './pack-index.ts'
import { PACK_LIMITS } from './pack-limits.ts'
import { CHAIN_BYTES, ObjectTooLargeError, type PackedEntry, readPackedEntry } from './packed-entry.ts'

/** A pack to read objects from. */
export interface ReadablePack {
  readonly index: PackIndex
  readonly data: ByteRange
}

/** Where an object lies: the place of its pack in the list, and its ordinal there. */
export interface ObjectPlace {
  readonly pack: number
  readonly ordinal: number
}

/** An object to be streamed. */
export interface OpenObject {
  readonly type: ObjectType
  /** In bytes. */
  readonly size: number
  stream(): ReadableStream<Uint8Array>
}

export interface PackedObjectsOptions {
  /** The largest object or delta to hold in memory, in bytes. */
  readonly objectBytes?: number
  /** Where bases are found that none of the packs has. */
  readonly bases?: ObjectSource | null
}

/** Objects kept for those that build on them, in bytes: the next object asked for is mostly near the last. */
const OBJECT_CACHE_BYTES = 8 * 1024 * 1024
/** Larger ones are not kept: a single one would drive out all others. */
const CACHED_OBJECT_BYTES = 1024 * 1024
/** Compressed bytes of a chain of deltas to ask for at once, and how many entries. */
const READ_AHEAD_BYTES = 4 * 1024 * 1024
const READ_AHEAD_ENTRIES = 6

/** The objects of several packs, where a delta's base may lie in another pack than the delta. */
export class PackedObjects implements ObjectSource {
  readonly #packs: readonly ReadablePack[]
  readonly #limit: number
  readonly #bases: ObjectSource | null
  readonly #entries: number
  readonly #made = new ByteCache(OBJECT_CACHE_BYTES)

  /** @param packs oldest first; an object that several have is taken from the first. */
  constructor(packs: readonly ReadablePack[], options: PackedObjectsOptions = {}) {
    this.#packs = packs
    this.#entries = packs.reduce((sum, pack) => sum + pack.index.entries, 0)
    this.#limit = options.objectBytes ?? PACK_LIMITS.objectBytes
    this.#bases = options.bases ?? null
  }

  get heldBytes(): number {
    return this.#made.held
  }

  /** Objects are made again where they are needed. */
  letGo(): void {
    this.#made.clear()
  }

  find(oid: Oid): ObjectPlace | null {
    return this.#find(oidToBytes(oid))
  }

  /** @throws {@link ObjectTooLargeError}, {@link PackError} */
  async read(oid: Oid): Promise<GitObject | null> {
    const place = this.find(oid)
    return place && this.readAt(place)
  }

  /**
   * Makes an entry's object: the nearest one below it that is whole or at hand, every delta on the way applied in turn.
   * The bytes are shared: leave them as they are.
   *
   * @throws {@link ObjectTooLargeError}, {@link PackError}
   */
  async readAt(place: ObjectPlace): Promise<GitObject> {
    try {
      return await this.#make(place)
    } catch (error) {
      throw asPackError(error)
    }
  }

  async stat(oid: Oid): Promise<{ type: ObjectType; size: number } | null> {
    const place = this.find(oid)
    if (place === null) return null
    const { index } = this.#packs[place.pack]!
    const size = index.size(place.ordinal)
    return { type: index.type(place.ordinal), size: size === SIZE_UNKNOWN ? await this.#declaredSize(place) : size }
  }

  /** How many deltas are applied to make an object: 0 for one that is kept whole, or is not here. */
  deltaDepth(oid: Oid): number {
    let depth = 0
    // No further than there are entries: only a hostile pusher makes a ring.
    for (let at = this.find(oid); at !== null && depth < this.#entries; depth++) {
      const base = this.#packs[at.pack]!.index.base(at.ordinal)
      if (base === null) return depth
      at = 'ordinal' in base ? { pack: at.pack, ordinal: base.ordinal } : this.find(base.oid)
    }
    return depth
  }

  /** Ids that start with these hex digits, at most `limit`, each once. */
  async findByPrefix(prefix: string, limit: number): Promise<Oid[]> {
    const found = new Set<Oid>()
    for (const { index } of this.#packs) for (const oid of index.findByPrefix(prefix, limit)) found.add(oid)
    return [...found].slice(0, limit)
  }

  /** The object as a stream: a whole entry is inflated as it is read, a delta is made in memory first. */
  async open(oid: Oid): Promise<OpenObject | null> {
    const place = this.find(oid)
    if (place === null) return null
    const { index, data } = this.#packs[place.pack]!
    const type = index.type(place.ordinal)
    if (index.isDelta(place.ordinal)) {
      const { bytes } = await this.readAt(place)
      return { type, size: bytes.length, stream: () => streamOf(bytes) }
    }
    const header = await this.#readHeader(place)
    const start = index.offset(place.ordinal) + header.end
    const length = index.offset(place.ordinal + 1) - start
    return {
      type,
      size: header.size,
      stream: () => data.stream(start, length).pipeThrough(new DecompressionStream('deflate') as InflateStream),
    }
  }

  async #make(place: ObjectPlace): Promise<GitObject> {
    const { type, bytes, chain } = await this.#readBase(place)
    let object = bytes
    let made = 0
    while (chain.length > 0) {
      const places = this.#takeAhead(chain)
      const entries = await Promise.all(places.map((at) => this.#readEntry(at)))
      for (const [i, entry] of entries.entries()) {
        made += object.length
        if (made > CHAIN_BYTES)
          throw new ObjectTooLargeError(`an object made of more than ${CHAIN_BYTES} bytes of bases`)
        object = applyDelta(object, inflateEntry(entry.compressed, entry.size), this.#limit)
        this.#keep(places[i]!, object)
      }
    }
    return { type, bytes: object }
  }

  /** What an entry's deltas start from, and the places of those deltas, the first to be applied last. */
  async #readBase(place: ObjectPlace): Promise<{ type: ObjectType; bytes: Uint8Array; chain: ObjectPlace[] }> {
    const type = this.#packs[place.pack]!.index.type(place.ordinal)
    const chain: ObjectPlace[] = []
    for (let at = place; ; ) {
      const made = this.#made.get(cacheKey(at))
      if (made !== undefined) return { type, bytes: made, chain }
      const { index } = this.#packs[at.pack]!
      const base = index.base(at.ordinal)
      if (base === null) {
        const { compressed, size } = await this.#readEntry(at)
        const bytes = inflateEntry(compressed, size)
        if (chain.length > 0) this.#keep(at, bytes)
        return { type, bytes, chain }
      }
      chain.push(at)
      // Bases by id may lie in other packs, whose objects may build on this one's: only a hostile pusher makes a ring.
      if (chain.length > this.#entries) throw new PackError('deltas build on each other')
      if ('ordinal' in base) {
        at = { pack: at.pack, ordinal: base.ordinal }
        continue
      }
      const next = this.find(base.oid)
      if (next !== null) {
        at = next
        continue
      }
      const outside = await this.#bases?.read(base.oid)
      if (!outside) throw new PackError(`the base ${base.oid} of a delta is missing`)
      return { type, bytes: outside.bytes, chain }
    }
  }

  /** Takes the next deltas off a chain: as many as may be asked for at once. */
  #takeAhead(chain: ObjectPlace[]): ObjectPlace[] {
    const places: ObjectPlace[] = []
    let bytes = 0
    while (chain.length > 0 && places.length < READ_AHEAD_ENTRIES) {
      const { pack, ordinal } = chain.at(-1)!
      const { index } = this.#packs[pack]!
      bytes += index.offset(ordinal + 1) - index.offset(ordinal)
      if (bytes > READ_AHEAD_BYTES && places.length > 0) break
      places.push(chain.pop()!)
    }
    return places
  }

  #keep(place: ObjectPlace, bytes: Uint8Array): void {
    if (bytes.length <= CACHED_OBJECT_BYTES) this.#made.set(cacheKey(place), bytes)
  }

  #find(oid: Uint8Array): ObjectPlace | null {
    for (let pack = 0; pack < this.#packs.length; pack++) {
      const ordinal = this.#packs[pack]!.index.find(oid)
      if (ordinal >= 0) return { pack, ordinal }
    }
    return null
  }

  #readEntry({ pack, ordinal }: ObjectPlace): Promise<PackedEntry> {
    const { index, data } = this.#packs[pack]!
    return readPackedEntry(data, index.offset(ordinal), index.offset(ordinal + 1), this.#limit)
  }

  async #readHeader({ pack, ordinal }: ObjectPlace): Promise<{ size: number; end: number }> {
    const { index, data } = this.#packs[pack]!
    const offset = index.offset(ordinal)
    const length = Math.min(index.offset(ordinal + 1) - offset, ENTRY_HEADER_LIMIT)
    const header = createEntryHeader()
    if (!readEntryHeader(await data.read(offset, length), 0, header)) throw new PackError('an entry is cut off')
    return header
  }

  async #declaredSize(place: ObjectPlace): Promise<number> {
    return (await this.#readHeader(place)).size
  }
}

type InflateStream = ReadableWritablePair<Uint8Array, Uint8Array>

function cacheKey({ pack, ordinal }: ObjectPlace): number {
  return pack * 2 ** 32 + ordinal
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    type: 'bytes',
    start(controller) {
      if (bytes.length > 0) controller.enqueue(bytes.slice())
      controller.close()
    },
  })
}
