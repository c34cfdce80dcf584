import { type Oid, oidToBytes } from '../bytes/oid.ts'
import type { ByteRange } from '../bytes/range.ts'
import { applyDelta } from '../delta/apply-delta.ts'
import type { ObjectSource } from '../object/object-source.ts'
import type { GitObject, ObjectType } from '../object/object-type.ts'
import { createEntryHeader, ENTRY_HEADER_LIMIT, PackError, readEntryHeader } from './entry-header.ts'
import { inflateEntry } from './inflate-entry.ts'
import { type PackIndex, SIZE_UNKNOWN } from './pack-index.ts'
import { PACK_LIMITS } from './pack-limits.ts'

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

/** An object is too large to be held in memory; it can be streamed by {@link PackedObjects.open} if it is no delta. */
export class ObjectTooLargeError extends Error {
  override name = 'ObjectTooLargeError'
}

interface Step {
  readonly type: number
  readonly bytes: Uint8Array
}

/** The objects of several packs, where a delta's base may lie in another pack than the delta. */
export class PackedObjects implements ObjectSource {
  readonly #packs: readonly ReadablePack[]
  readonly #limit: number

  /** @param packs oldest first; an object that several have is taken from the first. */
  constructor(packs: readonly ReadablePack[], objectMemoryLimit = PACK_LIMITS.objectBytes) {
    this.#packs = packs
    this.#limit = objectMemoryLimit
  }

  find(oid: Oid): ObjectPlace | null {
    return this.#find(oidToBytes(oid))
  }

  /** @throws {@link ObjectTooLargeError}, {@link PackError} */
  async read(oid: Oid): Promise<GitObject | null> {
    const place = this.find(oid)
    return place && this.readAt(place)
  }

  /** Reads an entry and every base it stands on, then applies the deltas. */
  async readAt(place: ObjectPlace): Promise<GitObject> {
    const type = this.#packs[place.pack]!.index.type(place.ordinal)
    const deltas: Uint8Array[] = []
    for (let at = place; ; ) {
      const { bytes } = await this.#readEntry(at)
      const base = this.#baseOf(at)
      if (base === null) return { type, bytes: this.#apply(bytes, deltas) }
      deltas.push(bytes)
      at = base
    }
  }

  async stat(oid: Oid): Promise<{ type: ObjectType; size: number } | null> {
    const place = this.find(oid)
    if (place === null) return null
    const { index } = this.#packs[place.pack]!
    const size = index.size(place.ordinal)
    return { type: index.type(place.ordinal), size: size === SIZE_UNKNOWN ? await this.#declaredSize(place) : size }
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

  #apply(base: Uint8Array, deltas: Uint8Array[]): Uint8Array {
    let bytes = base
    for (let delta = deltas.pop(); delta !== undefined; delta = deltas.pop()) {
      bytes = applyDelta(bytes, delta, this.#limit)
    }
    return bytes
  }

  #find(oid: Uint8Array): ObjectPlace | null {
    for (let pack = 0; pack < this.#packs.length; pack++) {
      const ordinal = this.#packs[pack]!.index.find(oid)
      if (ordinal >= 0) return { pack, ordinal }
    }
    return null
  }

  #baseOf({ pack, ordinal }: ObjectPlace): ObjectPlace | null {
    const base = this.#packs[pack]!.index.base(ordinal)
    if (base === null) return null
    if ('ordinal' in base) return { pack, ordinal: base.ordinal }
    const place = this.find(base.oid)
    if (place === null) throw new PackError(`the base ${base.oid} of a delta is missing`)
    return place
  }

  async #readEntry({ pack, ordinal }: ObjectPlace): Promise<Step> {
    const { index, data } = this.#packs[pack]!
    const offset = index.offset(ordinal)
    const length = index.offset(ordinal + 1) - offset
    if (length > this.#limit) throw new ObjectTooLargeError(`an entry of ${length} bytes; the limit is ${this.#limit}`)
    const entry = await data.read(offset, length)
    const header = createEntryHeader()
    if (!readEntryHeader(entry, 0, header)) throw new PackError('an entry is cut off')
    if (header.size > this.#limit) {
      throw new ObjectTooLargeError(`an object of ${header.size} bytes; the limit is ${this.#limit}`)
    }
    return { type: header.type, bytes: inflateEntry(entry.subarray(header.end), header.size) }
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

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    type: 'bytes',
    start(controller) {
      if (bytes.length > 0) controller.enqueue(bytes.slice())
      controller.close()
    },
  })
}
