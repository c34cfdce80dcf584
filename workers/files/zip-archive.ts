import { crc32, deflateRawSync } from 'node:zlib'
import { concatBytes } from '../../git/bytes/concat.ts'
import { isDirectory, isSymlink } from '../../git/object/file-mode.ts'
import { isUtf8 } from '../../git/object/text.ts'
import { gatherChunks, streamChunks } from '../http/byte-stream.ts'
import type { ArchiveEntry, ArchiveOptions, StreamedContent } from './archive-entries.ts'

/**
 * A zip writer (PKWARE's APPNOTE 6.3.10) for trees: Unix modes and symlinks, names as the bytes they are, more than
 * 4 GiB, and nothing held but the directory that comes last. The libraries that stream send each file through
 * several streams, which in workerd takes 1.4 ms a file; here small files are deflated at once.
 */

const LOCAL_HEADER = 0x04034b50
const DATA_DESCRIPTOR = 0x08074b50
const CENTRAL_HEADER = 0x02014b50
const ZIP64_END = 0x06064b50
const ZIP64_LOCATOR = 0x07064b50
const END = 0x06054b50

const STORED = 0
const DEFLATED = 8
/** The checksum and the sizes follow the content. */
const DESCRIPTOR_FLAG = 0x0008
const UTF8_FLAG = 0x0800
const MADE_BY_UNIX = 3 << 8
const DIRECTORY_ATTRIBUTE = 0x10
const TIMESTAMP_EXTRA = 0x5455
const ZIP64_EXTRA = 0x0001
/** Versions of zip that unpacking needs: 2.0, and 4.5 for 64 bits. */
const VERSION = 20
const ZIP64_VERSION = 45
const MAX_16 = 0xffff
const MAX_32 = 0xffffffff
/** Deflate makes content that it cannot compress larger, by less than this factor. */
const DEFLATE_OVERHEAD = 1.001

/** The time of all entries. */
interface ZipTime {
  /** Date and time of day as FAT has them, in UTC. */
  readonly dos: number
  /** The extra field that has it to the second, and says which zone. */
  readonly extra: Uint8Array
}

/** What both headers of an entry say. */
interface Header {
  readonly name: Uint8Array
  readonly mode: number
  readonly flags: number
  readonly method: number
  readonly checksum: number
  /** Bytes as stored. */
  readonly packed: number
  /** Bytes as unpacked. */
  readonly size: number
}

/** An entry that has been written, from `offset` to `end` of the archive. */
interface Written extends Header {
  readonly offset: number
  readonly end: number
}

/**
 * A zip with the commit's id as its comment, as `git archive` writes it.
 *
 * @param zip64From what 32 bits are taken to hold no more; lower in tests
 */
export function zipArchive(
  entries: AsyncIterable<ArchiveEntry>,
  options: ArchiveOptions,
  zip64From = MAX_32,
): ReadableStream<Uint8Array> {
  return streamChunks(gatherChunks(writeZip(entries, options, zip64From)))
}

async function* writeZip(
  entries: AsyncIterable<ArchiveEntry>,
  { commit, time }: ArchiveOptions,
  zip64From: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const zipTime = encodeTime(time)
  const directory = new GrowingBuffer()
  let count = 0
  let offset = 0
  for await (const entry of entries) {
    const { content } = entry
    const one: Written =
      content === null || content instanceof Uint8Array
        ? yield* writeWhole(entry, content ?? new Uint8Array(0), offset, zipTime)
        : yield* writeStreamed(entry, content, offset, zipTime, zip64From)
    directory.append(centralHeader(one, zipTime, zip64From))
    count++
    offset = one.end
  }
  yield directory.bytes()
  yield endOfArchive(count, offset, offset + directory.length, zip64From)
  yield new TextEncoder().encode(commit)
}

function* writeWhole(
  { name, mode }: ArchiveEntry,
  content: Uint8Array,
  offset: number,
  time: ZipTime,
): Generator<Uint8Array, Written, undefined> {
  // A link's target must be stored: unpackers read it without unpacking it.
  const deflated = isSymlink(mode) || content.length === 0 ? content : deflateRawSync(content)
  const isSmaller = deflated.length < content.length
  const packed = isSmaller ? deflated : content
  const method = isSmaller ? DEFLATED : STORED
  const header: Header = {
    name,
    mode,
    flags: nameFlag(name),
    method,
    checksum: crc32(content),
    packed: packed.length,
    size: content.length,
  }
  const local = localHeader(header, time, null)
  yield local
  yield packed
  return { ...header, offset, end: offset + local.length + packed.length }
}

async function* writeStreamed(
  { name, mode }: ArchiveEntry,
  content: StreamedContent,
  offset: number,
  time: ZipTime,
  zip64From: number,
): AsyncGenerator<Uint8Array, Written, undefined> {
  const flags = nameFlag(name) | DESCRIPTOR_FLAG
  const start = { name, mode, flags, method: DEFLATED, checksum: 0, packed: 0, size: 0 }
  const width = content.size * DEFLATE_OVERHEAD >= zip64From ? 8 : 4
  const local = localHeader(start, time, width === 8 ? zip64Extra([0, 0]) : null)
  yield local
  let { checksum, packed, size } = start
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      checksum = crc32(chunk, checksum)
      size += chunk.length
      controller.enqueue(chunk)
    },
  })
  const deflate = new CompressionStream('deflate-raw') as ReadableWritablePair<Uint8Array, Uint8Array>
  for await (const chunk of content.stream().pipeThrough(counting).pipeThrough(deflate)) {
    packed += chunk.length
    yield chunk
  }
  const descriptor = fields([4, DATA_DESCRIPTOR], [4, checksum], [width, packed], [width, size])
  yield descriptor
  return { ...start, checksum, packed, size, offset, end: offset + local.length + packed + descriptor.length }
}

/** @param zip64 for sizes of 64 bits that follow the content: the field that says so */
function localHeader({ name, flags, method, checksum, packed, size }: Header, time: ZipTime, zip64: Uint8Array | null) {
  const extra = zip64 === null ? time.extra : concatBytes([time.extra, zip64])
  return concatBytes([
    fields(
      [4, LOCAL_HEADER],
      [2, zip64 === null ? VERSION : ZIP64_VERSION],
      [2, flags],
      [2, method],
      [4, time.dos],
      [4, checksum],
      [4, zip64 === null ? packed : MAX_32],
      [4, zip64 === null ? size : MAX_32],
      [2, name.length],
      [2, extra.length],
    ),
    name,
    extra,
  ])
}

function centralHeader(written: Written, time: ZipTime, zip64From: number): Uint8Array {
  const { name, mode, flags, method, checksum, packed, size, offset } = written
  // In this order, and only those that do not fit.
  const large = [size, packed, offset].filter((value) => value >= zip64From)
  const short = (value: number) => (value >= zip64From ? MAX_32 : value)
  const extra = large.length === 0 ? time.extra : concatBytes([time.extra, zip64Extra(large)])
  const version = large.length === 0 ? VERSION : ZIP64_VERSION
  return concatBytes([
    fields(
      [4, CENTRAL_HEADER],
      [2, MADE_BY_UNIX | version],
      [2, version],
      [2, flags],
      [2, method],
      [4, time.dos],
      [4, checksum],
      [4, short(packed)],
      [4, short(size)],
      [2, name.length],
      [2, extra.length],
      [2, 0],
      [2, 0],
      [2, 0],
      [2, isDirectory(mode) ? DIRECTORY_ATTRIBUTE : 0],
      [2, unixMode(mode)],
      [4, short(offset)],
    ),
    name,
    extra,
  ])
}

function unixMode(mode: number): number {
  if (isDirectory(mode)) return mode | 0o755
  return isSymlink(mode) ? mode | 0o777 : mode
}

/** The records after the central directory, up to the comment of {@link COMMENT_BYTES}. */
function endOfArchive(count: number, directoryAt: number, end: number, zip64From: number): Uint8Array {
  const length = end - directoryAt
  const isLarge = count >= Math.min(MAX_16, zip64From) || length >= zip64From || directoryAt >= zip64From
  const zip64 = isLarge
    ? fields(
        [4, ZIP64_END],
        [8, 44],
        [2, MADE_BY_UNIX | ZIP64_VERSION],
        [2, ZIP64_VERSION],
        [4, 0],
        [4, 0],
        [8, count],
        [8, count],
        [8, length],
        [8, directoryAt],
        [4, ZIP64_LOCATOR],
        [4, 0],
        [8, end],
        [4, 1],
      )
    : new Uint8Array(0)
  const shortCount = isLarge ? MAX_16 : count
  return concatBytes([
    zip64,
    fields(
      [4, END],
      [2, 0],
      [2, 0],
      [2, shortCount],
      [2, shortCount],
      [4, isLarge ? MAX_32 : length],
      [4, isLarge ? MAX_32 : directoryAt],
      [2, COMMENT_BYTES],
    ),
  ])
}

/** The comment is a commit id in hex. */
const COMMENT_BYTES = 40

function zip64Extra(values: readonly number[]): Uint8Array {
  return fields([2, ZIP64_EXTRA], [2, values.length * 8], ...values.map((value): Field => [8, value]))
}

function nameFlag(name: Uint8Array): number {
  return isUtf8(name) ? UTF8_FLAG : 0
}

const EARLIEST_YEAR = 1980
const LATEST_YEAR = 2107

function encodeTime(seconds: number): ZipTime {
  const date = new Date(Math.min(seconds, MAX_32) * 1000)
  const year = Math.min(Math.max(date.getUTCFullYear(), EARLIEST_YEAR), LATEST_YEAR)
  const day = ((year - EARLIEST_YEAR) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate()
  const time = (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >>> 1)
  const extra = fields([2, TIMESTAMP_EXTRA], [2, 5], [1, 1], [4, Math.min(seconds, MAX_32)])
  return { dos: day * 0x10000 + time, extra }
}

/** Bytes that are added to one by one: an array of small arrays would take three times as much memory. */
class GrowingBuffer {
  length = 0
  #held = new Uint8Array(64 * 1024)

  append(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.#held.length) {
      const larger = new Uint8Array(2 * (this.length + bytes.length))
      larger.set(this.bytes())
      this.#held = larger
    }
    this.#held.set(bytes, this.length)
    this.length += bytes.length
  }

  bytes(): Uint8Array {
    return this.#held.subarray(0, this.length)
  }
}

type Field = readonly [bytes: 1 | 2 | 4 | 8, value: number]

/** Numbers one after the other, little-endian. */
function fields(...values: readonly Field[]): Uint8Array {
  const bytes = new Uint8Array(values.reduce((sum, [width]) => sum + width, 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const [width, value] of values) {
    if (width === 1) view.setUint8(at, value)
    else if (width === 2) view.setUint16(at, value, true)
    else view.setUint32(at, value % 2 ** 32, true)
    if (width === 8) view.setUint32(at + 4, Math.floor(value / 2 ** 32), true)
    at += width
  }
  return bytes
}
