import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { oidToBytes } from '../../../git/bytes/oid.ts'
import { BLOB, type ObjectType } from '../../../git/object/object-type.ts'
import { OFS_DELTA, REF_DELTA } from '../../../git/pack/entry-header.ts'

/** One entry as it stands in a pack, right or wrong. */
export interface RawEntry {
  readonly header: Uint8Array
  readonly compressed: Uint8Array
}

/** Packs byte by byte, so that a test can break any of them. */
export function buildPack(
  entries: readonly RawEntry[],
  options: { readonly count?: number; readonly version?: number; readonly trailer?: Uint8Array } = {},
): Uint8Array {
  const head = new Uint8Array(12)
  const view = new DataView(head.buffer)
  view.setUint32(0, 0x5041434b)
  view.setUint32(4, options.version ?? 2)
  view.setUint32(8, options.count ?? entries.length)
  const body = concat(head, ...entries.flatMap((entry) => [entry.header, entry.compressed]))
  return concat(body, options.trailer ?? sha1(body))
}

/** Where each entry of {@link buildPack} starts. */
export function entryOffsets(entries: readonly RawEntry[]): number[] {
  const offsets: number[] = []
  let at = 12
  for (const entry of entries) {
    offsets.push(at)
    at += entry.header.length + entry.compressed.length
  }
  return offsets
}

export function objectEntry(type: ObjectType, bytes: Uint8Array, size = bytes.length): RawEntry {
  return { header: entryHeader(type, size), compressed: deflateSync(bytes) }
}

export function blobEntry(text: string): RawEntry {
  return objectEntry(BLOB, utf8(text))
}

export function refDeltaEntry(base: string, delta: Uint8Array): RawEntry {
  return { header: concat(entryHeader(REF_DELTA, delta.length), oidToBytes(base)), compressed: deflateSync(delta) }
}

export function ofsDeltaEntry(distance: number, delta: Uint8Array): RawEntry {
  return {
    header: concat(entryHeader(OFS_DELTA, delta.length), encodeDistance(distance)),
    compressed: deflateSync(delta),
  }
}

export function entryHeader(type: number, size: number): Uint8Array {
  const bytes = [(type << 4) | (size % 16)]
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1]! |= 0x80
    bytes.push(rest % 128)
  }
  return Uint8Array.from(bytes)
}

export function encodeDistance(distance: number): Uint8Array {
  const bytes = [distance % 128]
  for (let rest = Math.floor(distance / 128) - 1; rest >= 0; rest = Math.floor(rest / 128) - 1) {
    bytes.unshift(0x80 | (rest % 128))
  }
  return Uint8Array.from(bytes)
}

/** A delta: the two sizes, then instructions. */
export function delta(base: number, result: number, ...instructions: readonly Uint8Array[]): Uint8Array {
  return concat(deltaSize(base), deltaSize(result), ...instructions)
}

export function deltaSize(size: number): Uint8Array {
  const bytes: number[] = []
  for (let rest = size; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Uint8Array.from([...bytes, rest])
    bytes.push(0x80 | (rest % 128))
  }
}

/** `size` bytes of the base from `from`. */
export function copy(from: number, size: number): Uint8Array {
  const bytes = [0x80]
  for (let i = 0; i < 4; i++) {
    const byte = Math.floor(from / 256 ** i) % 256
    if (byte === 0) continue
    bytes[0]! |= 1 << i
    bytes.push(byte)
  }
  for (let i = 0; i < 3; i++) {
    const byte = Math.floor(size / 256 ** i) % 256
    if (byte === 0) continue
    bytes[0]! |= 0x10 << i
    bytes.push(byte)
  }
  return Uint8Array.from(bytes)
}

export function insert(text: string): Uint8Array {
  const bytes = utf8(text)
  return concat(Uint8Array.of(bytes.length), bytes)
}

/** The pack with its trailer made right again after a change. */
export function resealed(pack: Uint8Array): Uint8Array {
  const body = pack.subarray(0, pack.length - 20)
  return concat(body, sha1(body))
}

export function sha1(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha1').update(bytes).digest())
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts))
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** The bytes in pieces of `step`; each is overwritten once the next is asked for, as a reader's buffer may be. */
export async function* inChunks(bytes: Uint8Array, step = 65536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += step) {
    const chunk = bytes.slice(at, at + step)
    yield chunk
    chunk.fill(0xee)
  }
}
