import { describe, expect, it } from 'vitest'
import { BufferRange, type ByteRange, readPieces } from '../../../git/bytes/range.ts'
import { hashObject } from '../../../git/object/hash-object.ts'
import { BLOB } from '../../../git/object/object-type.ts'
import { PackError } from '../../../git/pack/entry-header.ts'
import { EXTERNAL_BASE, PackIndex, writePackIndex } from '../../../git/pack/pack-index.ts'
import { ObjectTooLargeError } from '../../../git/pack/packed-entry.ts'
import { PackedObjects, type ReadablePack } from '../../../git/pack/packed-objects.ts'
import { ingest } from '../ingest.ts'
import { Random } from '../random.ts'
import {
  blobEntry,
  buildPack,
  copy,
  delta,
  entryOffsets,
  insert,
  objectEntry,
  ofsDeltaEntry,
  type RawEntry,
  refDeltaEntry,
  utf8,
} from './pack-builder.ts'

const HELLO = hashObject(BLOB, utf8('hello'))
const HELLO_YOU = hashObject(BLOB, utf8('hello you'))
const onHello = refDeltaEntry(HELLO, delta(5, 9, copy(0, 5), insert(' you')))

/** A range that notes what is read of it. */
class WatchedRange implements ByteRange {
  readonly reads: [offset: number, length: number][] = []
  readonly #range: BufferRange
  readonly size: number

  constructor(bytes: Uint8Array) {
    this.#range = new BufferRange(bytes)
    this.size = bytes.length
  }

  read(offset: number, length: number): Promise<Uint8Array> {
    this.reads.push([offset, length])
    return this.#range.read(offset, length)
  }

  stream(offset: number, length: number): ReadableStream<Uint8Array> {
    return this.#range.stream(offset, length)
  }

  pieces(offset: number, length: number, pieceBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
    return readPieces(this, offset, length, pieceBytes)
  }
}

async function text(objects: PackedObjects, oid: string): Promise<string | null> {
  const object = await objects.read(oid)
  return object && new TextDecoder().decode(object.bytes)
}

describe('PackedObjects', () => {
  it('finds what is there and answers null for what is not', async () => {
    const objects = new PackedObjects([await ingest(buildPack([blobEntry('hello')]))])
    expect(await text(objects, HELLO)).toBe('hello')
    expect(await objects.stat(HELLO)).toEqual({ type: BLOB, size: 5 })
    expect(objects.find(HELLO)).toEqual({ pack: 0, ordinal: 0 })
    expect(await objects.read(HELLO_YOU)).toBeNull()
    expect(await objects.stat(HELLO_YOU)).toBeNull()
    expect(await objects.open(HELLO_YOU)).toBeNull()
    expect(await new PackedObjects([]).read(HELLO)).toBeNull()
  })

  it('finds ids by their first digits, over all packs, each once', async () => {
    const first = await ingest(buildPack([blobEntry('hello'), blobEntry('a')]))
    const second = await ingest(buildPack([blobEntry('hello'), blobEntry('b')]))
    const objects = new PackedObjects([first, second])
    expect(await objects.findByPrefix(HELLO.slice(0, 4), 10)).toEqual([HELLO])
    expect(await objects.findByPrefix('0000', 10)).toEqual([])
    expect(await objects.findByPrefix(HELLO, 10)).toEqual([HELLO])
  })

  it('reads deltas across packs, in any order of the packs', async () => {
    const first = await ingest(buildPack([blobEntry('hello')]))
    const second = await ingest(buildPack([onHello]), { earlier: [first] })
    for (const packs of [
      [first, second],
      [second, first],
    ]) {
      expect(await text(new PackedObjects(packs), HELLO_YOU)).toBe('hello you')
    }
    expect(await text(new PackedObjects([second], { bases: new PackedObjects([first]) }), HELLO_YOU)).toBe('hello you')
    await expect(new PackedObjects([second]).read(HELLO_YOU)).rejects.toThrow(`the base ${HELLO} of a delta is missing`)
  })

  it('refuses packs whose deltas build on each other in a ring', async () => {
    // Each entry is a delta on the other pack's, which no pack that was taken in can be.
    const ring = (own: string, other: string): ReadablePack => {
      const bytes = buildPack([refDeltaEntry(other, delta(5, 5, copy(0, 5)))])
      const index = writePackIndex({
        packSize: bytes.length,
        offsets: Float64Array.of(12, bytes.length - 20),
        sizes: Uint32Array.of(5),
        bases: Uint32Array.of(EXTERNAL_BASE),
        types: Uint8Array.of(BLOB),
        oids: Buffer.from(own, 'hex'),
        external: Buffer.from(other, 'hex'),
      })
      return { index: new PackIndex(index), data: new BufferRange(bytes) }
    }
    const objects = new PackedObjects([ring(HELLO, HELLO_YOU), ring(HELLO_YOU, HELLO)])
    await expect(objects.read(HELLO)).rejects.toThrow('deltas build on each other')
  })

  it('reads no more than an entry and what it builds on, and that once', async () => {
    const entries: RawEntry[] = [blobEntry('0'.repeat(50))]
    for (let depth = 1; depth <= 40; depth++) {
      const offsets = entryOffsets([...entries, entries[0]!])
      entries.push(
        ofsDeltaEntry(
          offsets[depth]! - offsets[depth - 1]!,
          delta(50, 50, copy(0, 48), insert(String(depth).padStart(2, '0'))),
        ),
      )
    }
    const bytes = buildPack([...entries, objectEntry(BLOB, new Random(1).bytes(100_000))])
    const pack = await ingest(bytes)
    const data = new WatchedRange(bytes)
    const objects = new PackedObjects([{ index: pack.index, data }])
    expect(await text(objects, pack.index.oid(40))).toBe(`${'0'.repeat(48)}40`)
    expect(data.reads).toHaveLength(41)
    expect(new Set(data.reads.map(([offset]) => offset)).size).toBe(41)
    expect(await text(objects, pack.index.oid(39))).toBe(`${'0'.repeat(48)}39`)
    expect(await text(objects, pack.index.oid(17))).toBe(`${'0'.repeat(48)}17`)
    expect(data.reads).toHaveLength(41)
  })

  it('streams an object that is too large for memory', async () => {
    const content = new Random(2).text(300_000)
    const oid = hashObject(BLOB, content)
    const pack = await ingest(
      buildPack([objectEntry(BLOB, content), refDeltaEntry(oid, delta(300_000, 5, copy(0, 5)))]),
    )
    const objects = new PackedObjects([pack], { objectBytes: 1000 })
    await expect(objects.read(oid)).rejects.toThrow(ObjectTooLargeError)
    await expect(objects.open(pack.index.oid(1))).rejects.toThrow(ObjectTooLargeError)
    const open = (await objects.open(oid))!
    expect(open).toMatchObject({ type: BLOB, size: 300_000 })
    expect(Buffer.compare(Buffer.from(await new Response(open.stream()).arrayBuffer()), content)).toBe(0)
  })

  it('reads an incompressible object as large as may be', async () => {
    const content = new Random(3).bytes(5000)
    const pack = await ingest(buildPack([objectEntry(BLOB, content)]))
    const objects = new PackedObjects([pack], { objectBytes: 5000 })
    expect((await objects.read(hashObject(BLOB, content)))?.bytes).toHaveLength(5000)
  })

  it('refuses a pack that is not the one of its index', async () => {
    const content = new Random(4).text(2000)
    const pack = await ingest(buildPack([objectEntry(BLOB, content)]))
    const oid = hashObject(BLOB, content)
    for (let at = 12; at < pack.bytes.length - 20; at += 7) {
      const bytes = pack.bytes.slice()
      bytes[at]! ^= 0x55
      const other: ReadablePack = { index: pack.index, data: new BufferRange(bytes) }
      await expect(new PackedObjects([other]).read(oid), `byte ${at}`).rejects.toBeInstanceOf(PackError)
    }
  })

  it('does not let a caller of a stream change what others read', async () => {
    const objects = new PackedObjects([await ingest(buildPack([blobEntry('hello'), onHello]))])
    const open = (await objects.open(HELLO_YOU))!
    for await (const chunk of open.stream()) chunk.fill(0)
    expect(await text(objects, HELLO_YOU)).toBe('hello you')
  })
})
