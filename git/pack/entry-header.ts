import { OID_BYTES } from '../bytes/oid.ts'

/** Types that only packs know: deltas, whose base is so many bytes earlier, or named by its id. */
export const OFS_DELTA = 6
export const REF_DELTA = 7

/** A size takes at most so many bytes: git reads no longer ones either. */
const SIZE_BYTES_LIMIT = 10
/** An entry's header is at most this long: a size, then an id or an offset. */
export const ENTRY_HEADER_LIMIT = SIZE_BYTES_LIMIT + OID_BYTES

/** The pack breaks the format (gitformat-pack), or a limit of this reader. */
export class PackError extends Error {
  override name = 'PackError'
}

export interface EntryHeader {
  /** 1 to 4, or {@link OFS_DELTA} or {@link REF_DELTA}. */
  type: number
  /** Declared size in bytes of what is compressed: the object, or the delta. */
  size: number
  /** How many bytes before the start of this entry its base starts; 0 unless an ofs-delta. */
  distance: number
  /** Where in the bytes the base's raw id stands; -1 unless a ref-delta. */
  baseAt: number
  /** Where the compressed bytes start. */
  end: number
}

export function createEntryHeader(): EntryHeader {
  return { type: 0, size: 0, distance: 0, baseAt: -1, end: 0 }
}

/**
 * Reads the header of the entry at `at` into `header`, from bytes that end at `end`. Sizes need not be in their shortest form (`b3 00`).
 *
 * @returns false if the bytes end before the header does.
 * @throws {@link PackError}
 */
export function readEntryHeader(bytes: Uint8Array, at: number, header: EntryHeader, end = bytes.length): boolean {
  let position = at
  if (position >= end) return false
  let byte = bytes[position++]!
  header.type = (byte >> 4) & 7
  let size = byte & 15
  // Multiplied, not shifted: sizes may pass 32 bits.
  for (let scale = 16; byte & 0x80; scale *= 128) {
    if (position >= end) return false
    byte = bytes[position++]!
    size += (byte & 127) * scale
    if (!Number.isSafeInteger(size) || position - at > SIZE_BYTES_LIMIT) {
      throw new PackError('an entry declares an impossible size')
    }
  }
  header.size = size
  header.distance = 0
  header.baseAt = -1
  if (header.type === OFS_DELTA) {
    let distance = 0
    do {
      if (position >= end) return false
      byte = bytes[position++]!
      distance = distance * 128 + (byte & 127)
      if (byte & 0x80) distance += 1
      if (!Number.isSafeInteger(distance)) throw new PackError('an entry declares an impossible offset')
    } while (byte & 0x80)
    header.distance = distance
  } else if (header.type === REF_DELTA) {
    if (position + OID_BYTES > end) return false
    header.baseAt = position
    position += OID_BYTES
  } else if (header.type === 0 || header.type === 5) {
    throw new PackError(`an entry has the reserved type ${header.type}`)
  }
  header.end = position
  return true
}

const MORE = 0x80
const TYPE_BITS = 0x70

/** The header of an entry that is whole. */
export function encodeEntryHeader(type: number, size: number): Uint8Array {
  const bytes: number[] = []
  let byte = (type << 4) | (size % 16)
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push(byte | MORE)
    byte = rest % 128
  }
  bytes.push(byte)
  return Uint8Array.from(bytes)
}

/** The header at `at`, an ofs-delta's, for another distance to its base. */
export function withDistance(bytes: Uint8Array, at: number, distance: number): Uint8Array {
  const tail = [distance % 128]
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest -= 1
    tail.unshift((rest % 128) | MORE)
  }
  return Uint8Array.from([...bytes.subarray(at, sizeEnd(bytes, at)), ...tail])
}

/** The header at `at`, an ofs-delta's, as that of a ref-delta. */
export function withBaseId(bytes: Uint8Array, at: number, base: Uint8Array): Uint8Array {
  const header = Uint8Array.from([...bytes.subarray(at, sizeEnd(bytes, at)), ...base])
  header[0] = (header[0]! & ~TYPE_BITS) | (REF_DELTA << 4)
  return header
}

/** Where the type and size of an entry end. */
function sizeEnd(bytes: Uint8Array, at: number): number {
  let end = at
  while (bytes[end]! & MORE) end++
  return end + 1
}
