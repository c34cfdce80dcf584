import { deflateSync } from 'node:zlib'
import { concatBytes } from '../bytes/concat.ts'
import { type Oid, oidToBytes } from '../bytes/oid.ts'
import { createDelta } from '../delta/create-delta.ts'
import { GatedSource } from '../object/gated-source.ts'
import type { NewObject } from '../object/new-object.ts'
import type { ObjectSource } from '../object/object-source.ts'
import type { GitObject } from '../object/object-type.ts'
import { encodeEntryHeader, OFS_DELTA, REF_DELTA, withDistance } from './entry-header.ts'
import { PackSink } from './pack-sink.ts'

/** Finds bases of deltas outside of the pack that is made. */
export interface BaseSource extends ObjectSource {
  /** How many deltas are applied to make an object: 0 for one that is kept whole, or not here. */
  deltaDepth(oid: Oid): number
}

/** Longer chains of deltas would make every reader of the newest version apply them all. git's own bound. */
const MOST_DELTAS = 50
/** Larger objects are not worth the memory of a search. */
const DELTA_OBJECT_BYTES = 8 * 1024 * 1024
/** Smaller ones gain nothing: naming a base takes 20 bytes. */
const SMALLEST_TARGET = 50
/** A delta so many times smaller than its object is taken without a look at how well the object compresses. */
const SURE_GAIN = 32
/** Bases that are read together. */
const BASES_AT_ONCE = 16

export interface BuiltPack {
  readonly bytes: Uint8Array
  readonly objects: number
  /** Whether a delta stands on an object that is not in the pack. */
  readonly isThin: boolean
}

/**
 * Makes a pack of new objects, each once. An object that names a base is written as a delta on it where that is
 * smaller; the base may be another of the objects, or one of `bases`, to which the pack is then thin.
 *
 * @param bases null: the pack stands alone.
 */
export async function buildPack(objects: readonly NewObject[], bases: BaseSource | null): Promise<BuiltPack> {
  const unique = new Map(objects.map((object) => [object.oid, object]))
  const ordered = basesFirst(unique)
  const writer = new NewPackWriter(unique, bases)
  writer.begin(ordered.length)
  for (let at = 0; at < ordered.length; at += BASES_AT_ONCE) await writer.write(ordered.slice(at, at + BASES_AT_ONCE))
  return writer.end()
}

/** Puts each object after its base, and leaves the others in their order. Bases that go in a circle break it somewhere. */
function basesFirst(objects: ReadonlyMap<Oid, NewObject>): NewObject[] {
  const placed = new Set<NewObject>()
  for (const object of objects.values()) {
    const chain = new Set<NewObject>()
    for (let at: NewObject | undefined = object; at !== undefined && !placed.has(at) && !chain.has(at); ) {
      chain.add(at)
      at = at.base === null ? undefined : objects.get(at.base)
    }
    for (const one of [...chain].reverse()) placed.add(one)
  }
  return [...placed]
}

/** Where an object has been written, and how many deltas make it. */
interface WrittenEntry {
  readonly position: number
  readonly depth: number
}

class NewPackWriter {
  readonly #objects: ReadonlyMap<Oid, NewObject>
  readonly #bases: BaseSource | null
  readonly #reads: GatedSource | null
  readonly #sink = new PackSink()
  readonly #chunks: Uint8Array[] = []
  readonly #written = new Map<Oid, WrittenEntry>()
  #isThin = false

  constructor(objects: ReadonlyMap<Oid, NewObject>, bases: BaseSource | null) {
    this.#objects = objects
    this.#bases = bases
    this.#reads = bases === null ? null : new GatedSource(bases)
  }

  begin(objects: number): void {
    this.#sink.header(objects)
  }

  async write(objects: readonly NewObject[]): Promise<void> {
    const bases = await Promise.all(objects.map((object) => this.#readBase(object)))
    for (const [i, object] of objects.entries()) this.#writeEntry(object, bases[i]!)
  }

  end(): BuiltPack {
    const bytes = concatBytes([...this.#chunks, ...this.#sink.end()])
    return { bytes, objects: this.#written.size, isThin: this.#isThin }
  }

  /** The base that an object could be a delta on, or null. */
  async #readBase({ type, bytes, oid, base }: NewObject): Promise<GitObject | null> {
    if (base === null || base === oid || bytes.length < SMALLEST_TARGET || bytes.length > DELTA_OBJECT_BYTES)
      return null
    const inPack = this.#objects.get(base)
    const stat = inPack === undefined ? await this.#reads?.stat(base) : { type: inPack.type, size: inPack.bytes.length }
    if (!stat || stat.type !== type || stat.size > DELTA_OBJECT_BYTES) return null
    if (inPack !== undefined) return inPack
    return this.#bases!.deltaDepth(base) < MOST_DELTAS ? this.#reads!.read(base) : null
  }

  #writeEntry(object: NewObject, base: GitObject | null): void {
    const { oid, bytes, type } = object
    const position = this.#sink.position
    const inPack = object.base === null ? undefined : this.#written.get(object.base)
    // One of the pack that comes later is its base in turn, or would be.
    const isUsable = base !== null && (inPack !== undefined || !this.#objects.has(object.base!))
    const below = !isUsable ? 0 : (inPack?.depth ?? this.#bases!.deltaDepth(object.base!))
    const delta = isUsable && below < MOST_DELTAS ? smallerDelta(base.bytes, bytes) : null
    if (delta === null) {
      this.#append(encodeEntryHeader(type, bytes.length), deflateSync(bytes))
    } else if (inPack !== undefined) {
      const header = withDistance(encodeEntryHeader(OFS_DELTA, delta.size), 0, position - inPack.position)
      this.#append(header, delta.compressed)
    } else {
      this.#isThin = true
      this.#append(encodeEntryHeader(REF_DELTA, delta.size), oidToBytes(object.base!), delta.compressed)
    }
    this.#written.set(oid, { position, depth: delta === null ? 0 : below + 1 })
  }

  #append(...parts: readonly Uint8Array[]): void {
    for (const part of parts) this.#sink.append(part)
    this.#chunks.push(...this.#sink.take())
  }
}

/** A delta that takes less room than the object itself, compressed; or null. */
function smallerDelta(base: Uint8Array, target: Uint8Array): { size: number; compressed: Uint8Array } | null {
  const delta = createDelta(base, target, Math.floor(target.length / 2))
  if (delta === null) return null
  const compressed = deflateSync(delta)
  const isSmaller = compressed.length * SURE_GAIN < target.length || compressed.length + 20 < deflateSync(target).length
  return isSmaller ? { size: delta.length, compressed } : null
}
