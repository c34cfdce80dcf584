import { OID_BYTES, type Oid, oidFromBytes } from '../bytes/oid.ts'
import type { ByteRange } from '../bytes/range.ts'
import type { ObjectType } from '../object/object-type.ts'
import { type Layout, PACK_INDEX_HEADER_BYTES, readLayout } from './pack-index.ts'

/** What an index says of an entry. */
export interface PagedEntry {
  /** Where it starts in the pack, and where the next one does. */
  readonly start: number
  readonly end: number
  readonly type: ObjectType
  /** As in the index file. */
  readonly base: number
  /** Of the object, as in the index file. */
  readonly size: number
}

/**
 * An index (see PackIndex) that is not in memory: each question reads the few bytes with the answer. For packs of which few
 * entries are needed, far from each other.
 */
export class PagedIndex {
  readonly #file: ByteRange
  #layout: Promise<Layout> | null = null

  constructor(file: ByteRange) {
    this.#file = file
  }

  /** @throws PackIndexError, and what the range throws */
  async entry(ordinal: number): Promise<PagedEntry> {
    const layout = await this.#readLayout()
    const offsets = await this.#view(layout.offsets + 8 * ordinal, 16)
    const base = await this.#view(layout.bases + 4 * ordinal, 4)
    const size = await this.#view(layout.sizes + 4 * ordinal, 4)
    const type = await this.#view(layout.types + ordinal, 1)
    return {
      start: offsets.getFloat64(0, true),
      end: offsets.getFloat64(8, true),
      type: type.getUint8(0) as ObjectType,
      base: base.getUint32(0, true),
      size: size.getUint32(0, true),
    }
  }

  /** The id of a base outside of the pack. */
  async externalBase(place: number): Promise<Oid> {
    const { external } = await this.#readLayout()
    return oidFromBytes(await this.#file.read(external + OID_BYTES * place, OID_BYTES))
  }

  #readLayout(): Promise<Layout> {
    this.#layout ??= this.#file.read(0, PACK_INDEX_HEADER_BYTES).then((header) => readLayout(header, this.#file.size))
    return this.#layout
  }

  async #view(at: number, length: number): Promise<DataView> {
    const bytes = await this.#file.read(at, length)
    return new DataView(bytes.buffer, bytes.byteOffset, length)
  }
}
