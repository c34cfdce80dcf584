import { compareOids, OID_BYTES, type Oid, oidFromBytes } from '../bytes/oid.ts'
import type { ObjectType } from '../object/object-type.ts'

/**
 * The index beside a pack: what every entry is and where it lies. Unlike git's `.idx` it also answers, without a look
 * at the pack, what type and size each object has and which entry a delta builds on, so that a fetch is planned
 * from it alone.
 *
 * An entry's *ordinal* is its place in the pack, from 0. Layout, little-endian, every table aligned to its element:
 *
 * | table | bytes | content |
 * |---|---|---|
 * | header | 32 | magic `SKIX`, version, entries, unique ids, external bases, zero, pack size (f64) |
 * | offsets | 8 × (entries + 1) | f64: where each entry starts; the last is where the trailer starts |
 * | sizes | 4 × entries | u32: inflated size of the object, or 2^32 - 1 for that and larger |
 * | bases | 4 × entries | u32: 0 for a whole object, ordinal + 1 of the base, or 2^31 + place in `external` |
 * | ranks | 4 × entries | u32: the place of the entry's id in `oids` |
 * | ordinals | 4 × ids | u32: the (first) entry of each id in `oids` |
 * | fanout | 4 × 256 | u32: how many ids have a first byte of at most this |
 * | oids | 20 × ids | sorted object ids |
 * | external | 20 × external | ids of bases that are not in this pack (a thin pack) |
 * | types | entries | u8: commit 1, tree 2, blob 3, tag 4 |
 */
export const PACK_INDEX_MAGIC = 0x58494b53
export const PACK_INDEX_VERSION = 1
export const PACK_INDEX_HEADER_BYTES = 32
/** A size in the index that says "this or more": read the entry itself. */
export const SIZE_UNKNOWN = 0xffffffff
export const EXTERNAL_BASE = 0x80000000
const FANOUT = 256

/** The index is not one that this version wrote. It can be made anew from the pack. */
export class PackIndexError extends Error {
  override name = 'PackIndexError'
}

/** What a delta entry builds on. */
export type Base = { readonly ordinal: number } | { readonly oid: Oid }

export class PackIndex {
  readonly entries: number
  /** Different ids among the entries: fewer, if the pack holds an object twice. */
  readonly ids: number
  /** Bytes of the pack, header and trailer included. */
  readonly packSize: number
  /** Bytes of this index. */
  readonly byteLength: number
  readonly #offsets: Float64Array
  readonly #sizes: Uint32Array
  readonly #bases: Uint32Array
  readonly #ranks: Uint32Array
  readonly #ordinals: Uint32Array
  readonly #fanout: Uint32Array
  readonly #oids: Uint8Array
  readonly #external: Uint8Array
  readonly #types: Uint8Array

  /** @throws {@link PackIndexError} */
  constructor(file: Uint8Array) {
    const aligned = file.byteOffset % 8 === 0 ? file : file.slice()
    const { buffer, byteOffset } = aligned
    const layout = readLayout(aligned)
    this.byteLength = file.length
    this.entries = layout.entries
    this.ids = layout.ids
    this.packSize = layout.packSize
    this.#offsets = new Float64Array(buffer, byteOffset + layout.offsets, layout.entries + 1)
    this.#sizes = new Uint32Array(buffer, byteOffset + layout.sizes, layout.entries)
    this.#bases = new Uint32Array(buffer, byteOffset + layout.bases, layout.entries)
    this.#ranks = new Uint32Array(buffer, byteOffset + layout.ranks, layout.entries)
    this.#ordinals = new Uint32Array(buffer, byteOffset + layout.ordinals, layout.ids)
    this.#fanout = new Uint32Array(buffer, byteOffset + layout.fanout, FANOUT)
    checkFanout(this.#fanout, layout.ids)
    this.#oids = new Uint8Array(buffer, byteOffset + layout.oids, layout.ids * OID_BYTES)
    this.#external = new Uint8Array(buffer, byteOffset + layout.external, layout.externals * OID_BYTES)
    this.#types = new Uint8Array(buffer, byteOffset + layout.types, layout.entries)
  }

  /** The ordinal of the object whose raw id is at `at` of `oid`, or -1. */
  find(oid: Uint8Array, at = 0): number {
    const first = oid[at]!
    let low = first === 0 ? 0 : this.#fanout[first - 1]!
    let high = this.#fanout[first]!
    while (low < high) {
      const middle = (low + high) >>> 1
      const order = compareOids(this.#oids, middle * OID_BYTES, oid, at)
      if (order === 0) return this.#ordinals[middle]!
      if (order < 0) low = middle + 1
      else high = middle
    }
    return -1
  }

  /** The ids that start with these hex digits (at least two), at most `limit` of them. */
  findByPrefix(prefix: string, limit: number): Oid[] {
    const found: Oid[] = []
    const first = Number.parseInt(prefix.slice(0, 2), 16)
    const end = this.#fanout[first]!
    for (let rank = first === 0 ? 0 : this.#fanout[first - 1]!; rank < end && found.length < limit; rank++) {
      const oid = oidFromBytes(this.#oids, rank * OID_BYTES)
      if (oid.startsWith(prefix)) found.push(oid)
    }
    return found
  }

  /** The raw id of an entry, as a view. */
  oidBytes(ordinal: number): Uint8Array {
    const at = this.#ranks[ordinal]! * OID_BYTES
    return this.#oids.subarray(at, at + OID_BYTES)
  }

  oid(ordinal: number): Oid {
    return oidFromBytes(this.#oids, this.#ranks[ordinal]! * OID_BYTES)
  }

  /** Where the entry starts in the pack; for the ordinal after the last, where the trailer starts. */
  offset(ordinal: number): number {
    return this.#offsets[ordinal]!
  }

  type(ordinal: number): ObjectType {
    return this.#types[ordinal] as ObjectType
  }

  /** Inflated size of the object in bytes; {@link SIZE_UNKNOWN} stands for that and everything larger. */
  size(ordinal: number): number {
    return this.#sizes[ordinal]!
  }

  /** Whether the entry is a delta. */
  isDelta(ordinal: number): boolean {
    return this.#bases[ordinal] !== 0
  }

  /** The entry that this one is a delta against, or -1: it is whole, or its base is in another pack. */
  baseOrdinal(ordinal: number): number {
    const base = this.#bases[ordinal]!
    return base >= EXTERNAL_BASE ? -1 : base - 1
  }

  /** Raw ids of the bases that are not in this pack, 20 bytes each, as a view. */
  get externalBases(): Uint8Array {
    return this.#external
  }

  /** What the entry is a delta against, or null for a whole object. */
  base(ordinal: number): Base | null {
    const base = this.#bases[ordinal]!
    if (base === 0) return null
    if (base < EXTERNAL_BASE) return { ordinal: base - 1 }
    return { oid: oidFromBytes(this.#external, (base - EXTERNAL_BASE) * OID_BYTES) }
  }
}

/** Whoever searches goes by it: one that does not ascend to the number of ids leads out of the table, or in circles. */
function checkFanout(fanout: Uint32Array, ids: number): void {
  let before = 0
  for (const end of fanout) {
    if (end < before) throw new PackIndexError('index is not in order')
    before = end
  }
  if (before !== ids) throw new PackIndexError('index does not list all of its ids')
}

/** What {@link writePackIndex} is given: one value an entry, in pack order. */
export interface PackIndexTables {
  readonly packSize: number
  /** entries + 1 of them. */
  readonly offsets: Float64Array
  readonly sizes: Uint32Array
  /** As in the file. */
  readonly bases: Uint32Array
  readonly types: Uint8Array
  /** Raw ids, 20 bytes each. */
  readonly oids: Uint8Array
  /** By entry: the place of its id in `oids`. Default: that of the entry. */
  readonly numbers?: Uint32Array
  /** 20 bytes a base outside of the pack. */
  readonly external: Uint8Array
}

/** What {@link writePackIndex} takes at most, in bytes, beside what it is given: the file, and 4 an entry to sort them. */
export function indexingBytes({ types, external }: Pick<PackIndexTables, 'types' | 'external'>): number {
  return planLayout(types.length, types.length, external.length / OID_BYTES).byteLength + 4 * types.length
}

/** Says in an index file that the entries start elsewhere, in the same order. @param offsets entries + 1 of them */
export function placeEntries(file: Uint8Array, offsets: Float64Array, packSize: number): void {
  const layout = readLayout(file)
  new Float64Array(file.buffer, file.byteOffset + layout.offsets, layout.entries + 1).set(offsets)
  new DataView(file.buffer, file.byteOffset).setFloat64(24, packSize, true)
}

/** Writes the index of a pack; an id that occurs twice is listed once, at its first entry. */
export function writePackIndex(tables: PackIndexTables): Uint8Array {
  const { oids } = tables
  const entries = tables.types.length
  const oidAt = oidPlaces(tables)
  const byId = sortByOid(oids, oidAt, entries)
  const repeats = (i: number) => i > 0 && compareOids(oids, oidAt(byId[i - 1]!), oids, oidAt(byId[i]!)) === 0
  let ids = 0
  for (let i = 0; i < entries; i++) if (!repeats(i)) ids++
  const layout = planLayout(entries, ids, tables.external.length / OID_BYTES)
  const file = new Uint8Array(layout.byteLength)
  const header = new DataView(file.buffer)
  header.setUint32(0, PACK_INDEX_MAGIC, true)
  header.setUint32(4, PACK_INDEX_VERSION, true)
  header.setUint32(8, entries, true)
  header.setUint32(12, ids, true)
  header.setUint32(16, layout.externals, true)
  header.setFloat64(24, tables.packSize, true)
  new Float64Array(file.buffer, layout.offsets, entries + 1).set(tables.offsets)
  new Uint32Array(file.buffer, layout.sizes, entries).set(tables.sizes)
  new Uint32Array(file.buffer, layout.bases, entries).set(tables.bases)
  const ranks = new Uint32Array(file.buffer, layout.ranks, entries)
  const ordinals = new Uint32Array(file.buffer, layout.ordinals, ids)
  const fanout = new Uint32Array(file.buffer, layout.fanout, FANOUT)
  let rank = -1
  for (let i = 0; i < entries; i++) {
    const entry = byId[i]!
    if (!repeats(i)) {
      const at = oidAt(entry)
      ordinals[++rank] = entry
      file.set(oids.subarray(at, at + OID_BYTES), layout.oids + rank * OID_BYTES)
      fanout[oids[at]!]!++
    }
    ranks[entry] = rank
  }
  for (let byte = 1; byte < FANOUT; byte++) fanout[byte]! += fanout[byte - 1]!
  file.set(tables.external, layout.external)
  file.set(tables.types, layout.types)
  return file
}

/** Where the id of each entry starts in `oids`. */
function oidPlaces({ numbers }: PackIndexTables): (entry: number) => number {
  return numbers === undefined ? (entry) => entry * OID_BYTES : (entry) => numbers[entry]! * OID_BYTES
}

/** Entry numbers in the order of their ids, then of their place: a radix sort on the first two bytes, then by comparison. */
function sortByOid(oids: Uint8Array, oidAt: (entry: number) => number, entries: number): Uint32Array {
  const prefixOf = (entry: number) => (oids[oidAt(entry)]! << 8) | oids[oidAt(entry) + 1]!
  const ends = new Uint32Array(65536 + 1)
  for (let entry = 0; entry < entries; entry++) ends[prefixOf(entry) + 1]!++
  for (let prefix = 0; prefix < 65536; prefix++) ends[prefix + 1]! += ends[prefix]!
  const starts = ends.slice()
  const sorted = new Uint32Array(entries)
  for (let entry = 0; entry < entries; entry++) sorted[starts[prefixOf(entry)]!++] = entry
  for (let prefix = 0; prefix < 65536; prefix++) {
    const [start, end] = [ends[prefix]!, ends[prefix + 1]!]
    if (end - start < 2) continue
    sorted.subarray(start, end).sort((a, b) => compareOids(oids, oidAt(a), oids, oidAt(b)) || a - b)
  }
  return sorted
}

/** Where the tables of an index file start, in bytes. */
export interface Layout {
  readonly entries: number
  readonly ids: number
  readonly externals: number
  readonly offsets: number
  readonly sizes: number
  readonly bases: number
  readonly ranks: number
  readonly ordinals: number
  readonly fanout: number
  readonly oids: number
  readonly external: number
  readonly types: number
  readonly byteLength: number
}

function planLayout(entries: number, ids: number, externals: number): Layout {
  const offsets = PACK_INDEX_HEADER_BYTES
  const sizes = offsets + 8 * (entries + 1)
  const bases = sizes + 4 * entries
  const ranks = bases + 4 * entries
  const ordinals = ranks + 4 * entries
  const fanout = ordinals + 4 * ids
  const oids = fanout + 4 * FANOUT
  const external = oids + OID_BYTES * ids
  const types = external + OID_BYTES * externals
  const byteLength = types + entries
  return { entries, ids, externals, offsets, sizes, bases, ranks, ordinals, fanout, oids, external, types, byteLength }
}

/** @param length that of the file, of which the header will do. @throws {@link PackIndexError} */
export function readLayout(file: Uint8Array, length = file.length): Layout & { packSize: number } {
  if (file.length < PACK_INDEX_HEADER_BYTES) throw new PackIndexError('index is shorter than its header')
  const header = new DataView(file.buffer, file.byteOffset, file.byteLength)
  if (header.getUint32(0, true) !== PACK_INDEX_MAGIC) throw new PackIndexError('not a pack index')
  const version = header.getUint32(4, true)
  if (version !== PACK_INDEX_VERSION) throw new PackIndexError(`pack index version ${version} is not supported`)
  const layout = planLayout(header.getUint32(8, true), header.getUint32(12, true), header.getUint32(16, true))
  if (layout.byteLength !== length) throw new PackIndexError('index has the wrong length')
  return { ...layout, packSize: header.getFloat64(24, true) }
}
