import { createHash } from 'node:crypto'
import { GrowingBytes, GrowingFloat64, GrowingUint32 } from '../bytes/growing.ts'
import { type BufferHolder, HeldArrays, type MemoryAccount } from '../bytes/memory-account.ts'
import { OID_BYTES, oidFromBytes } from '../bytes/oid.ts'
import { BLOB, type ObjectType, objectTypeName } from '../object/object-type.ts'
import {
  createEntryHeader,
  type EntryHeader,
  OFS_DELTA,
  PackError,
  REF_DELTA,
  readEntryHeader,
} from './entry-header.ts'
import { DONE, INFLATE_WINDOW_BYTES, Inflater, type InflateStop, NEED_INPUT } from './inflate.ts'
import { InflateError } from './inflate-error.ts'
import { ObjectBuffer } from './object-buffer.ts'
import { SIZE_UNKNOWN } from './pack-index.ts'
import { PackInput } from './pack-input.ts'
import { PACK_LIMITS, type PackLimits } from './pack-limits.ts'

export const PACK_MAGIC = 0x5041434b
export const PACK_HEADER_BYTES = 12
/** Input to have before an entry is begun, and to ask for when it needs more: most entries are smaller. */
const INPUT_BYTES = 4096
/** Blobs from this size on are inflated and hashed in steps: nobody needs them whole. */
const BLOB_IN_STEPS_BYTES = 1024 * 1024
const STEP_BYTES = 256 * 1024

/** Hears of every object once its bytes are known. */
export interface ObjectVisitor {
  /** An object whole. `bytes` is lent: it is overwritten after the call. */
  object(ordinal: number, type: ObjectType, oid: Uint8Array, bytes: Uint8Array): void
  /** A blob that is not held in memory: only its id is known. */
  largeBlob(ordinal: number, oid: Uint8Array): void
}

export interface ScanOptions {
  /** Where the buffers held are entered. */
  readonly memory?: MemoryAccount
  readonly visitor: ObjectVisitor
  /** Takes inflated deltas, so that resolving them needs no second look. Lent like an object's bytes. */
  readonly keepDelta?: (ordinal: number, delta: Uint8Array) => void
  /** Called now and then with the number of entries read and the number that the header declares. */
  readonly onProgress?: (done: number, total: number) => void
  readonly limits?: PackLimits
}

/** In {@link ScannedEntries.baseOrdinals}: added to the place of a base's id in {@link ScannedEntries.baseIds}. */
export const BASE_BY_ID = 0x80000000

/** What one pass over entries finds. All tables have one value an entry, in pack order. */
export interface ScannedEntries extends BufferHolder {
  readonly entries: number
  /** entries + 1: where each starts in the pack, and where the last one ends. */
  readonly offsets: Float64Array
  /** Where each entry's compressed bytes start, counted from its offset. */
  readonly headerLengths: Uint8Array
  /** As in the pack: 1 to 4, or a delta. */
  readonly types: Uint8Array
  /** Inflated size of what the entry holds: the object, or the delta; {@link SIZE_UNKNOWN} for that and larger. */
  readonly sizes: Uint32Array
  /** Of deltas: the base's ordinal, or {@link BASE_BY_ID} and the place of its id. */
  readonly baseOrdinals: Uint32Array
  /** Raw ids of the bases that deltas name by id, 20 bytes each. */
  readonly baseIds: Uint8Array
}

export interface PackScan extends ScannedEntries {
  /** Bytes of the pack, trailer included. */
  readonly size: number
  /** Hex of the trailer. */
  readonly checksum: string
}

/** Entries that follow one another in the middle of a pack. */
export interface PackPart {
  /** Where the first one starts in the pack. */
  readonly start: number
  /** The most to scan: as many as are left in the pack, or fewer. */
  readonly entries: number
  /** No entry is begun after so many bytes. */
  readonly bytes: number
  /**
   * Raw ids of the entries of the pack that start at some offsets before `start`, one after the other; null if none does
   * at one of them. The offsets ascend, and each is there once.
   */
  idsAt(offsets: Float64Array): Promise<Uint8Array | null>
}

/**
 * Reads a pack as it arrives, once, in memory that does not depend on its size: where every entry lies, what it is,
 * and the ids of all objects that are whole. Deltas are left to {@link resolveDeltas}.
 *
 * Follows gitformat-pack. @throws {@link PackError} in words that a pusher can act on.
 */
export async function scanPack(chunks: AsyncIterable<Uint8Array>, options: ScanOptions): Promise<PackScan> {
  const input = new PackInput(chunks)
  const scanner = new PackScanner(input, options)
  options.memory?.enter(scanner)
  try {
    return await scanner.scan()
  } catch (error) {
    await input.close()
    throw error
  } finally {
    options.memory?.leave(scanner)
  }
}

/**
 * The same of a part of a pack. Deltas whose base comes before it say so by its id.
 *
 * @param chunks the pack's bytes from the part's start on
 */
export async function scanPart(
  chunks: AsyncIterable<Uint8Array>,
  part: PackPart,
  options: ScanOptions,
): Promise<ScannedEntries> {
  const input = new PackInput(chunks, part.start)
  const scanner = new PackScanner(input, options, part)
  options.memory?.enter(scanner)
  try {
    return await scanner.scanEntries(part.entries)
  } finally {
    await input.close()
    options.memory?.leave(scanner)
  }
}

class PackScanner {
  readonly #input: PackInput
  readonly #options: ScanOptions
  readonly #limits: PackLimits
  readonly #part: PackPart | null
  readonly #offsets = new GrowingFloat64()
  readonly #sizes = new GrowingUint32()
  readonly #kinds = new GrowingUint32()
  readonly #bases = new GrowingUint32()
  readonly #baseIds = new GrowingBytes()
  /** Deltas whose base comes before the part, and where it starts. */
  readonly #before = new GrowingUint32()
  readonly #beforeAt = new GrowingFloat64()
  readonly #header = createEntryHeader()
  readonly #inflater = new Inflater()
  readonly #object = new ObjectBuffer()
  #unfolded = 0

  constructor(input: PackInput, options: ScanOptions, part: PackPart | null = null) {
    this.#input = input
    this.#part = part
    this.#options = options
    this.#limits = options.limits ?? PACK_LIMITS
  }

  get heldBytes(): number {
    const tables = [
      this.#offsets,
      this.#sizes,
      this.#kinds,
      this.#bases,
      this.#baseIds,
      this.#object,
      this.#before,
      this.#beforeAt,
    ]
    return tables.reduce((sum, { heldBytes }) => sum + heldBytes, this.#input.bytes.byteLength)
  }

  /** Room for a large object is made again where one comes. */
  letGo(): void {
    this.#object.letGo()
  }

  async scan(): Promise<PackScan> {
    const entries = await this.scanEntries(await this.#readPackHeader())
    const trailer = await this.#input.checkTrailer()
    const size = entries.offsets[entries.entries]! + OID_BYTES
    return { ...entries, size, checksum: oidFromBytes(trailer) }
  }

  /** @param limit how many to scan at most; all of them unless it is a part that is cut short by its bytes */
  async scanEntries(limit: number): Promise<ScannedEntries> {
    const input = this.#input
    const end = this.#part === null ? Number.POSITIVE_INFINITY : this.#part.start + this.#part.bytes
    let entries = 0
    for (; entries < limit && input.offset < end; entries++) {
      if (input.available < INPUT_BYTES) await input.fill(INPUT_BYTES)
      this.#readHeader(entries)
      try {
        if (this.#header.type === BLOB && this.#header.size >= BLOB_IN_STEPS_BYTES) await this.#hashInSteps(entries)
        else await this.#inflateWhole(entries)
      } catch (error) {
        if (error instanceof InflateError) throw new PackError(`entry ${entries} does not inflate: ${error.message}`)
        throw error
      }
      if ((entries & 1023) === 0) this.#options.onProgress?.(entries, limit)
    }
    this.#options.onProgress?.(entries, limit)
    this.#offsets.push(input.offset)
    if (this.#before.length > 0) await this.#findBefore()
    const headerLengths = new Uint8Array(entries)
    const types = new Uint8Array(entries)
    this.#options.memory?.check(2 * entries)
    for (let ordinal = 0; ordinal < entries; ordinal++) {
      const kind = this.#kinds.at(ordinal)
      headerLengths[ordinal] = kind >>> 8
      types[ordinal] = kind & 0xff
    }
    const tables = {
      offsets: this.#offsets.view(),
      headerLengths,
      types,
      sizes: this.#sizes.view(),
      baseOrdinals: this.#bases.view(),
      baseIds: this.#baseIds.view(),
    }
    return { ...tables, entries, heldBytes: new HeldArrays(...Object.values(tables)).heldBytes }
  }

  async #readPackHeader(): Promise<number> {
    const input = this.#input
    if (!(await input.fill(PACK_HEADER_BYTES))) throw new PackError('the pack is cut off in its header')
    const entries = parsePackHeader(input.bytes, input.start)
    if (entries > this.#limits.entries) {
      throw new PackError(`the pack has ${entries} objects; the limit is ${this.#limits.entries}. Push it in parts`)
    }
    input.start += PACK_HEADER_BYTES
    return entries
  }

  /** Reads an entry's header into the tables, and moves the input to its compressed bytes. */
  #readHeader(ordinal: number): void {
    const input = this.#input
    const header = this.#header
    if (!readEntryHeader(input.bytes, input.start, header, input.end)) throw new PackError('the pack is cut off')
    const headerLength = header.end - input.start
    this.#checkSize(ordinal, header)
    this.#offsets.push(input.offset)
    this.#sizes.push(Math.min(header.size, SIZE_UNKNOWN))
    this.#kinds.push(header.type | (headerLength << 8))
    this.#bases.push(this.#baseOf(ordinal, header))
    input.start = header.end
  }

  #checkSize(ordinal: number, { type, size }: EntryHeader): void {
    const { objectBytes, unfoldedBytes } = this.#limits
    if (type !== BLOB && size > objectBytes) {
      const what = type === OFS_DELTA || type === REF_DELTA ? 'delta' : objectTypeName(type as ObjectType)
      throw new PackError(
        `entry ${ordinal} is a ${what} of ${size} bytes; the limit is ${objectBytes}. ` +
          'Push with `git -c core.bigFileThreshold=16m push`, so that large files are sent whole',
      )
    }
    this.#unfolded += size
    if (this.#unfolded > unfoldedBytes) {
      throw new PackError(`the pack inflates to more than ${unfoldedBytes} bytes. Push it in parts`)
    }
  }

  #baseOf(ordinal: number, header: EntryHeader): number {
    if (header.type === REF_DELTA) return this.#baseById(this.#input.bytes, header.baseAt)
    if (header.type !== OFS_DELTA) return 0
    const offset = this.#input.offset - header.distance
    if (this.#part !== null && offset < this.#part.start) {
      this.#before.push(ordinal)
      this.#beforeAt.push(offset)
      return 0
    }
    const base = findOffset(this.#offsets, offset)
    if (base < 0 || base === ordinal) throw new PackError(`entry ${ordinal} has a base where no entry starts`)
    return base
  }

  /** Has the deltas whose base comes before the part name it by its id. In the order of the bases: so they are read then. */
  async #findBefore(): Promise<void> {
    const all = this.#beforeAt.view()
    const offsets = all.slice().sort()
    let length = 0
    for (const [i, offset] of offsets.entries()) if (i === 0 || offset !== offsets[i - 1]) offsets[length++] = offset
    const found = offsets.subarray(0, length)
    this.#options.memory?.check(offsets.byteLength + length * OID_BYTES)
    const ids = await this.#part!.idsAt(found)
    if (ids === null) throw new PackError('a delta has a base where no entry starts')
    const place = this.#baseIds.length / OID_BYTES
    this.#baseIds.append(ids, 0, ids.length)
    for (const [i, ordinal] of this.#before.view().entries()) {
      this.#bases.set(ordinal, BASE_BY_ID + place + placeIn(found, all[i]!))
    }
  }

  #baseById(bytes: Uint8Array, at: number): number {
    const place = this.#baseIds.length / OID_BYTES
    this.#baseIds.append(bytes, at, at + OID_BYTES)
    return BASE_BY_ID + place
  }

  async #inflateWhole(ordinal: number): Promise<void> {
    const { type, size } = this.#header
    const object = this.#object
    // No more room than there are bytes for: the declared size may be a lie.
    let bytes = object.take(Math.min(size, Math.max(object.capacity, BLOB_IN_STEPS_BYTES)))
    this.#inflater.begin(bytes)
    for (;;) {
      const stop = this.#inflateSome()
      if (stop === DONE) break
      if (stop === NEED_INPUT) {
        await this.#moreInput()
      } else {
        if (bytes.length === size) throw new InflateError('more bytes than the entry declares')
        bytes = object.extend(Math.min(size, bytes.length * 2))
        this.#inflater.continueIn(bytes, this.#inflater.written)
      }
    }
    if (this.#inflater.written !== size) throw new InflateError('fewer bytes than the entry declares')
    if (type === OFS_DELTA || type === REF_DELTA) {
      this.#options.keepDelta?.(ordinal, bytes)
    } else {
      this.#options.visitor.object(ordinal, type as ObjectType, object.hash(type as ObjectType, size), bytes)
    }
  }

  /** Hashes a blob through a buffer that slides. */
  async #hashInSteps(ordinal: number): Promise<void> {
    const { size } = this.#header
    const inflater = this.#inflater
    const bytes = this.#object.take(INFLATE_WINDOW_BYTES + STEP_BYTES)
    const hash = createHash('sha1').update(`blob ${size}\0`)
    let hashed = 0
    let seen = 0
    inflater.begin(bytes)
    for (;;) {
      const stop = this.#inflateSome()
      hash.update(bytes.subarray(hashed, inflater.written))
      seen += inflater.written - hashed
      if (seen > size) throw new InflateError('more bytes than the entry declares')
      if (stop === DONE) break
      if (stop === NEED_INPUT) {
        hashed = inflater.written
        await this.#moreInput()
      } else {
        const kept = Math.min(inflater.written, INFLATE_WINDOW_BYTES)
        bytes.copyWithin(0, inflater.written - kept, inflater.written)
        inflater.continueIn(bytes, kept)
        hashed = kept
      }
    }
    if (seen !== size) throw new InflateError('fewer bytes than the entry declares')
    this.#options.visitor.largeBlob(ordinal, hash.digest())
  }

  #inflateSome(): InflateStop {
    const input = this.#input
    const stop = this.#inflater.run(input.bytes, input.start, input.end)
    input.start = this.#inflater.position
    return stop
  }

  async #moreInput(): Promise<void> {
    const before = this.#input.available
    await this.#input.fill(before + INPUT_BYTES)
    if (this.#input.available === before) throw new PackError('the pack is cut off')
  }
}

/** @returns how many entries the pack whose header is at `at` declares. @throws {@link PackError} */
export function parsePackHeader(bytes: Uint8Array, at: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, PACK_HEADER_BYTES)
  if (view.getUint32(0) !== PACK_MAGIC) throw new PackError('not a pack')
  const version = view.getUint32(4)
  if (version !== 2 && version !== 3) throw new PackError(`pack version ${version} is not supported`)
  return view.getUint32(8)
}

/** The ordinal of the entry that starts at `offset`, or -1. */
function findOffset(offsets: GrowingFloat64, offset: number): number {
  return placeIn(offsets.view(), offset)
}

/** The place of a value among ascending ones, or -1. */
function placeIn(values: Float64Array, value: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = values[middle]!
    if (at === value) return middle
    if (at < value) low = middle + 1
    else high = middle
  }
  return -1
}
