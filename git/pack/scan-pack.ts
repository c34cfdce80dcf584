import { createHash, type Hash } from 'node:crypto'
import { Inflate } from 'pako'
import { GrowingFloat64, GrowingUint32 } from '../bytes/growing.ts'
import { OID_BYTES, oidFromBytes } from '../bytes/oid.ts'
import { objectHash } from '../object/hash-object.ts'
import { BLOB, type ObjectType, objectTypeName } from '../object/object-type.ts'
import {
  createEntryHeader,
  type EntryHeader,
  OFS_DELTA,
  PackError,
  REF_DELTA,
  readEntryHeader,
} from './entry-header.ts'
import { InflateError, inflateInto, NEED_INPUT } from './inflate.ts'
import { PackInput } from './pack-input.ts'

export const PACK_MAGIC = 0x5041434b
export const PACK_HEADER_BYTES = 12
/** The least input worth a try at an entry: nearly all entries are smaller. */
const FIRST_TRY_BYTES = 4096
/** Steps in which an entry too large for memory is read and inflated. */
const LARGE_STEP_BYTES = 64 * 1024

/**
 * The largest object or delta that is held in memory, in bytes. Larger blobs are inflated in steps and hashed; larger
 * commits, trees, tags and deltas are refused: a Worker has 128 MB.
 */
export const OBJECT_MEMORY_LIMIT = 32 * 1024 * 1024

/** Hears of every object once its bytes are known. */
export interface ObjectVisitor {
  /** An object whole. `bytes` is lent: it is overwritten after the call. */
  object(ordinal: number, type: ObjectType, oid: Uint8Array, bytes: Uint8Array): void
  /** A blob that is too large for memory: only its id is known. */
  largeBlob(ordinal: number, oid: Uint8Array): void
}

export interface ScanOptions {
  readonly visitor: ObjectVisitor
  /** Takes inflated deltas, so that resolving them needs no second look. Lent like an object's bytes. */
  readonly keepDelta?: (ordinal: number, delta: Uint8Array) => void
  /** Called now and then with the number of entries read and the number that the header declares. */
  readonly onProgress?: (done: number, total: number) => void
  /** Defaults to {@link OBJECT_MEMORY_LIMIT}. */
  readonly objectMemoryLimit?: number
}

/** Marks a base that is named by its id, in {@link PackScan.baseOrdinals}. */
export const BASE_BY_ID = 0xffffffff

/** What one pass over a pack finds. All tables have one value an entry, in pack order. */
export interface PackScan {
  readonly entries: number
  /** Bytes of the pack, trailer included. */
  readonly size: number
  /** Hex of the trailer. */
  readonly checksum: string
  /** entries + 1: where each starts, and where the trailer does. */
  readonly offsets: Float64Array
  /** Where each entry's compressed bytes start, counted from its offset. */
  readonly headerLengths: Uint8Array
  /** As in the pack: 1 to 4, or a delta. */
  readonly types: Uint8Array
  /** Inflated size of what the entry holds: the object, or the delta. */
  readonly sizes: Float64Array
  /** Of deltas: the base's ordinal, or {@link BASE_BY_ID}. */
  readonly baseOrdinals: Uint32Array
  /** Of deltas by id: the base's raw id. */
  readonly baseIds: ReadonlyMap<number, Uint8Array>
}

/**
 * Reads a pack as it arrives, once, in memory that does not depend on its size: where every entry lies, what it is,
 * and the ids of all objects that are whole. Deltas are left to {@link resolveDeltas}.
 *
 * Follows gitformat-pack. @throws {@link PackError} in words that a pusher can act on.
 */
export async function scanPack(chunks: AsyncIterable<Uint8Array>, options: ScanOptions): Promise<PackScan> {
  const scanner = new PackScanner(new PackInput(chunks), options)
  return scanner.scan()
}

class PackScanner {
  readonly #input: PackInput
  readonly #options: ScanOptions
  readonly #limit: number
  readonly #offsets = new GrowingFloat64()
  readonly #sizes = new GrowingFloat64()
  readonly #kinds = new GrowingUint32()
  readonly #bases = new GrowingUint32()
  readonly #baseIds = new Map<number, Uint8Array>()
  readonly #header = createEntryHeader()
  #scratch = new Uint8Array(64 * 1024)

  constructor(input: PackInput, options: ScanOptions) {
    this.#input = input
    this.#options = options
    this.#limit = options.objectMemoryLimit ?? OBJECT_MEMORY_LIMIT
  }

  async scan(): Promise<PackScan> {
    const entries = await this.#readPackHeader()
    for (let ordinal = 0; ordinal < entries; ordinal++) {
      await this.#scanEntry(ordinal)
      if ((ordinal & 1023) === 0) this.#options.onProgress?.(ordinal, entries)
    }
    this.#options.onProgress?.(entries, entries)
    this.#offsets.push(this.#input.offset)
    const trailer = await this.#input.checkTrailer()
    const kinds = this.#kinds.view()
    return {
      entries,
      size: this.#offsets.at(entries) + OID_BYTES,
      checksum: oidFromBytes(trailer),
      offsets: this.#offsets.view(),
      headerLengths: Uint8Array.from(kinds, (kind) => kind >>> 8),
      types: Uint8Array.from(kinds, (kind) => kind & 0xff),
      sizes: this.#sizes.view(),
      baseOrdinals: this.#bases.view(),
      baseIds: this.#baseIds,
    }
  }

  async #readPackHeader(): Promise<number> {
    const input = this.#input
    if (!(await input.fill(PACK_HEADER_BYTES))) throw new PackError('the pack is cut off in its header')
    const view = new DataView(input.bytes.buffer, input.bytes.byteOffset + input.start, PACK_HEADER_BYTES)
    if (view.getUint32(0) !== PACK_MAGIC) throw new PackError('not a pack')
    const version = view.getUint32(4)
    if (version !== 2 && version !== 3) throw new PackError(`pack version ${version} is not supported`)
    input.start += PACK_HEADER_BYTES
    return view.getUint32(8)
  }

  async #scanEntry(ordinal: number): Promise<void> {
    const input = this.#input
    const header = this.#header
    if (input.available < FIRST_TRY_BYTES) await input.fill(FIRST_TRY_BYTES)
    if (!readEntryHeader(input.bytes.subarray(0, input.end), input.start, header)) {
      throw new PackError('the pack is cut off')
    }
    const headerLength = header.end - input.start
    this.#offsets.push(input.offset)
    this.#sizes.push(header.size)
    this.#kinds.push(header.type | (headerLength << 8))
    this.#bases.push(this.#baseOf(ordinal, header))
    try {
      if (header.size > this.#limit) await this.#scanLargeBlob(ordinal, headerLength)
      else await this.#scanInMemory(ordinal, headerLength)
    } catch (error) {
      if (error instanceof InflateError) throw new PackError(`entry ${ordinal} does not inflate: ${error.message}`)
      throw error
    }
  }

  #baseOf(ordinal: number, header: EntryHeader): number {
    if (header.type === REF_DELTA) {
      this.#baseIds.set(ordinal, this.#input.bytes.slice(header.baseAt, header.baseAt + OID_BYTES))
      return BASE_BY_ID
    }
    if (header.type !== OFS_DELTA) return 0
    const base = findOffset(this.#offsets.view(), this.#input.offset - header.distance)
    if (base < 0 || base === ordinal) throw new PackError(`entry ${ordinal} has a base where no entry starts`)
    return base
  }

  async #scanInMemory(ordinal: number, headerLength: number): Promise<void> {
    const input = this.#input
    const { type, size } = this.#header
    if (size > this.#scratch.length) this.#scratch = new Uint8Array(Math.min(size * 2, Math.max(size, this.#limit)))
    const bytes = this.#scratch.subarray(0, size)
    let end: number
    for (;;) {
      end = inflateInto(input.bytes.subarray(0, input.end), input.start + headerLength, bytes)
      if (end !== NEED_INPUT) break
      // Doubled, so that an entry that arrives in many small chunks is not tried once for each of them.
      const before = input.available
      await input.fill(before * 2)
      if (input.available === before) throw new PackError('the pack is cut off')
    }
    input.start = end
    if (type === OFS_DELTA || type === REF_DELTA) {
      this.#options.keepDelta?.(ordinal, bytes)
    } else {
      this.#options.visitor.object(ordinal, type as ObjectType, objectHash(type as ObjectType, bytes), bytes)
    }
  }

  async #scanLargeBlob(ordinal: number, headerLength: number): Promise<void> {
    const input = this.#input
    const { type, size } = this.#header
    if (type !== BLOB) {
      const what = type === OFS_DELTA || type === REF_DELTA ? 'delta' : objectTypeName(type as ObjectType)
      throw new PackError(
        `entry ${ordinal} is a ${what} of ${size} bytes; the limit is ${this.#limit}. ` +
          'Push with `git -c core.bigFileThreshold=16m push`, so that large files are sent whole',
      )
    }
    input.start += headerLength
    const hash = createHash('sha1').update(`blob ${size}\0`)
    const seen = await this.#inflateInSteps(hash, size)
    if (seen !== size) throw new InflateError('fewer bytes than the entry declares')
    this.#options.visitor.largeBlob(ordinal, hash.digest())
  }

  /** Inflates the stream at the start of the window, step by step, and moves the window behind it. */
  async #inflateInSteps(hash: Hash, size: number): Promise<number> {
    const input = this.#input
    let seen = 0
    let unread = () => 0
    const inflate = new Inflate({ chunkSize: LARGE_STEP_BYTES, windowBits: 15 })
    inflate.onStart = (stream) => {
      unread = () => stream.avail_in
    }
    inflate.onData = (chunk) => {
      seen += chunk.length
      if (seen > size) throw new InflateError('more bytes than the entry declares')
      hash.update(chunk)
    }
    for (;;) {
      if (input.available === 0 && !(await input.fill(1))) throw new PackError('the pack is cut off')
      const step = input.bytes.subarray(input.start, Math.min(input.end, input.start + LARGE_STEP_BYTES))
      inflate.push(step, false)
      if (inflate.err) throw new InflateError(inflate.msg || 'not a zlib stream')
      input.start += step.length
      if (inflate.ended) {
        input.start -= unread()
        return seen
      }
    }
  }
}

/** The ordinal of the entry that starts at `offset`, or -1. */
function findOffset(offsets: Float64Array, offset: number): number {
  let low = 0
  let high = offsets.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = offsets[middle]!
    if (at === offset) return middle
    if (at < offset) low = middle + 1
    else high = middle
  }
  return -1
}
