import { deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { oidFromBytes } from '../../../git/bytes/oid.ts'
import { hashObject } from '../../../git/object/hash-object.ts'
import { BLOB, COMMIT, type ObjectType, TREE } from '../../../git/object/object-type.ts'
import { OFS_DELTA, PackError, REF_DELTA } from '../../../git/pack/entry-header.ts'
import { PACK_LIMITS, type PackLimits } from '../../../git/pack/pack-limits.ts'
import { BASE_BY_ID, type PackScan, scanPack } from '../../../git/pack/scan-pack.ts'
import { Random } from '../random.ts'
import {
  blobEntry,
  buildPack,
  concat,
  copy,
  delta,
  entryHeader,
  entryOffsets,
  inChunks,
  insert,
  objectEntry,
  ofsDeltaEntry,
  refDeltaEntry,
  resealed,
  utf8,
} from './pack-builder.ts'

const HELLO = hashObject(BLOB, utf8('hello'))

interface Scanned {
  readonly scan: PackScan
  /** What the visitor heard: `<ordinal> <type> <id>`, with `large` for a type where the bytes were not given. */
  readonly heard: string[]
  readonly deltas: Map<number, Uint8Array>
}

async function scanned(pack: Uint8Array, step?: number, limits: PackLimits = PACK_LIMITS): Promise<Scanned> {
  const heard: string[] = []
  const deltas = new Map<number, Uint8Array>()
  const scan = await scanPack(inChunks(pack, step), {
    visitor: {
      object(ordinal, type, oid, bytes) {
        expect(hashObject(type, bytes)).toBe(oidFromBytes(oid))
        heard.push(`${ordinal} ${type} ${oidFromBytes(oid)}`)
      },
      largeBlob: (ordinal, oid) => heard.push(`${ordinal} large ${oidFromBytes(oid)}`),
    },
    keepDelta: (ordinal, bytes) => deltas.set(ordinal, bytes.slice()),
    limits,
  })
  return { scan, heard, deltas }
}

function headerOf(count: number): Uint8Array {
  return buildPack([], { count })
}

/** Some packs have tens of thousands of entries. */
const TIMEOUT_MS = 30_000

describe('scanPack', { timeout: TIMEOUT_MS }, () => {
  const onHello = delta(5, 8, copy(0, 5), insert('abc'))
  const hello = blobEntry('hello')
  const entries = [
    hello,
    objectEntry(TREE, new Uint8Array(0)),
    ofsDeltaEntry(hello.header.length + hello.compressed.length + 9, onHello),
    refDeltaEntry(HELLO, onHello),
    blobEntry('hello'),
    objectEntry(BLOB, new Random(1).text(9000)),
  ]
  const pack = buildPack(entries)

  it.each([1, 2, 3, 19, 100, 1_000_000])('reads a pack that arrives in chunks of %i bytes', async (step) => {
    const { scan, heard, deltas } = await scanned(pack, step)
    expect(scan).toMatchObject({
      entries: 6,
      size: pack.length,
      checksum: Buffer.from(pack.subarray(-20)).toString('hex'),
    })
    expect([...scan.offsets]).toEqual([...entryOffsets(entries), pack.length - 20])
    expect([...scan.types]).toEqual([BLOB, TREE, OFS_DELTA, REF_DELTA, BLOB, BLOB])
    expect([...scan.sizes]).toEqual([5, 0, onHello.length, onHello.length, 5, 9000])
    expect([...scan.headerLengths]).toEqual(entries.map((entry) => entry.header.length))
    expect([...scan.baseOrdinals]).toEqual([0, 0, 0, BASE_BY_ID, 0, 0])
    expect(oidFromBytes(scan.baseIds)).toBe(HELLO)
    expect(heard).toEqual([
      `0 ${BLOB} ${HELLO}`,
      `1 ${TREE} 4b825dc642cb6eb9a060e54bf8d69288fbee4904`,
      `4 ${BLOB} ${HELLO}`,
      `5 ${BLOB} ${hashObject(BLOB, new Random(1).text(9000))}`,
    ])
    expect([...deltas]).toEqual([
      [2, onHello],
      [3, onHello],
    ])
  })

  it('reads a pack of no entries, of version 2 and 3', async () => {
    for (const version of [2, 3]) {
      const { scan } = await scanned(buildPack([], { version }))
      expect(scan).toMatchObject({ entries: 0, size: 32 })
      expect([...scan.offsets]).toEqual([12])
    }
  })

  it('reads sizes that are longer than they need to be: b3 00', async () => {
    const entry = { header: Uint8Array.of(0xb3, 0x00), compressed: deflateSync(utf8('abc')) }
    const { heard } = await scanned(buildPack([entry]))
    expect(heard).toEqual([`0 ${BLOB} ${hashObject(BLOB, utf8('abc'))}`])
  })

  it('takes empty chunks for what they are', async () => {
    async function* chunks() {
      yield new Uint8Array(0)
      yield pack.subarray(0, 30)
      yield new Uint8Array(0)
      yield pack.subarray(30)
      yield new Uint8Array(0)
    }
    const visitor = { object: () => undefined, largeBlob: () => undefined }
    expect(await scanPack(chunks(), { visitor })).toMatchObject({ entries: 6 })
  })

  it('is cut off wherever it is cut off', async () => {
    for (let length = 0; length < pack.length; length++) {
      await expect(scanned(pack.subarray(0, length)), `${length} bytes`).rejects.toThrow('cut off')
    }
  })

  it('notices a change of any byte', async () => {
    for (let at = 0; at < pack.length; at++) {
      const changed = pack.slice()
      changed[at]! ^= 0x01
      await expect(scanned(changed), `byte ${at}`).rejects.toBeInstanceOf(PackError)
    }
  })

  it('holds no more of a large blob than it needs, and knows its id', async () => {
    const random = new Random(2)
    for (const content of [random.text(1_500_000), random.bytes(1_048_576), new Uint8Array(5_000_000)]) {
      for (const level of [0, 1, 9]) {
        const entry = { header: entryHeader(BLOB, content.length), compressed: deflateSync(content, { level }) }
        const limits = { ...PACK_LIMITS, objectBytes: 1000 }
        const { heard } = await scanned(buildPack([hello, entry, hello]), 10_000, limits)
        expect(heard).toEqual([`0 ${BLOB} ${HELLO}`, `1 large ${hashObject(BLOB, content)}`, `2 ${BLOB} ${HELLO}`])
      }
    }
  })

  it('reads objects larger than its first buffer', async () => {
    const random = new Random(3)
    for (const size of [65_535, 65_536, 65_537, 400_000, 1_048_575]) {
      const content = random.text(size)
      const { heard } = await scanned(buildPack([objectEntry(COMMIT, content)]), 3000)
      expect(heard).toEqual([`0 ${COMMIT} ${hashObject(COMMIT, content)}`])
    }
  })

  it.each<[string, string, Uint8Array]>([
    ['something else', 'not a pack', resealed(concat(utf8('PACT'), pack.subarray(4)))],
    ['version 4', 'version 4', buildPack([hello], { version: 4 })],
    ['a wrong trailer', 'wrong checksum', buildPack([hello], { trailer: new Uint8Array(20) })],
    ['bytes after the trailer', 'bytes follow', concat(pack, Uint8Array.of(0))],
    ['another pack after it', 'bytes follow', concat(pack, pack)],
    ['more entries than it declares', 'wrong checksum', buildPack([hello, hello], { count: 1 })],
    ['fewer entries than it declares', 'cut off|inflate|type|offset|size', buildPack([hello], { count: 2 })],
    ['the reserved type 0', 'reserved type 0', buildPack([{ ...hello, header: Uint8Array.of(0x05) }])],
    ['the reserved type 5', 'reserved type 5', buildPack([{ ...hello, header: Uint8Array.of(0x55) }])],
    ['an object shorter than declared', 'fewer bytes', buildPack([objectEntry(BLOB, utf8('hello'), 6)])],
    ['an object longer than declared', 'more bytes', buildPack([objectEntry(BLOB, utf8('hello'), 4)])],
    ['a blob of 2 MB that is none', 'fewer bytes', buildPack([objectEntry(BLOB, utf8('hello'), 2_000_000)])],
    ['a blob of 2 MB that goes on', 'more bytes', buildPack([objectEntry(BLOB, new Uint8Array(2_000_001), 2_000_000)])],
    ['an ofs-delta on itself', 'no entry starts', buildPack([hello, ofsDeltaEntry(0, onHello)])],
    ['an ofs-delta into the middle of an entry', 'no entry starts', buildPack([hello, ofsDeltaEntry(3, onHello)])],
    ['an ofs-delta on the pack header', 'no entry starts', buildPack([hello, ofsDeltaEntry(26, onHello)])],
    ['an ofs-delta before the pack', 'no entry starts', buildPack([hello, ofsDeltaEntry(2 ** 40, onHello)])],
    [
      'a size of more than 53 bits',
      'impossible size',
      buildPack([{ ...hello, header: concat(Uint8Array.of(0xbf), new Uint8Array(8).fill(0xff), Uint8Array.of(0x7f)) }]),
    ],
    ['a size that never ends', 'impossible size', buildPack([{ ...hello, header: new Uint8Array(200).fill(0xb0) }])],
    [
      'an offset of more than 53 bits',
      'impossible offset',
      buildPack([{ ...hello, header: concat(Uint8Array.of(0x65), new Uint8Array(20).fill(0xff)) }]),
    ],
    [
      'a preset dictionary',
      'preset dictionary',
      buildPack([{ ...hello, compressed: deflateSync(utf8('hello'), { dictionary: utf8('hello') }) }]),
    ],
  ])('refuses %s', async (_, reason, bytes) => {
    await expect(scanned(bytes)).rejects.toThrow(new RegExp(reason))
    await expect(scanned(bytes, 1)).rejects.toBeInstanceOf(PackError)
  })

  it('refuses more entries than it has room for, before it makes any', async () => {
    for (const count of [500_001, 2 ** 31, 2 ** 32 - 1]) {
      await expect(scanned(headerOf(count))).rejects.toThrow(`the pack has ${count} objects; the limit is 500000`)
    }
    await expect(scanned(headerOf(500_000))).rejects.toThrow(PackError)
  })

  it('refuses commits, trees, tags and deltas that do not fit into memory, and says how to go on', async () => {
    const limits = { ...PACK_LIMITS, objectBytes: 100 }
    const large = new Uint8Array(101)
    const cases: [ObjectType | typeof OFS_DELTA, string][] = [
      [COMMIT, 'commit'],
      [TREE, 'tree'],
      [4, 'tag'],
    ]
    for (const [type, name] of cases) {
      await expect(scanned(buildPack([objectEntry(type as ObjectType, large)]), 64, limits)).rejects.toThrow(
        `entry 0 is a ${name} of 101 bytes; the limit is 100`,
      )
    }
    const deltas = buildPack([hello, refDeltaEntry(HELLO, large)])
    await expect(scanned(deltas, 64, limits)).rejects.toThrow(/entry 1 is a delta of 101 bytes.*bigFileThreshold/)
  })

  it('allocates nothing for an object that declares 32 MB and has 5 bytes', async () => {
    const before = process.memoryUsage().arrayBuffers
    await expect(scanned(buildPack([objectEntry(TREE, utf8('hello'), 32 * 1024 * 1024)]))).rejects.toThrow(
      'fewer bytes',
    )
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024)
  })

  it('refuses a pack that inflates to more than it may', async () => {
    const limits = { ...PACK_LIMITS, unfoldedBytes: 9_500 }
    await expect(scanned(buildPack([...entries, objectEntry(BLOB, new Uint8Array(600))]), 64, limits)).rejects.toThrow(
      'inflates to more than 9500 bytes',
    )
  })

  it('lets go of its source when the pack is refused', async () => {
    let isClosed = false
    async function* chunks() {
      try {
        yield utf8('PACK, or so they say')
        yield new Uint8Array(100)
      } finally {
        isClosed = true
      }
    }
    const visitor = { object: () => undefined, largeBlob: () => undefined }
    await expect(scanPack(chunks(), { visitor })).rejects.toThrow(PackError)
    expect(isClosed).toBe(true)
  })

  it('passes on the failure of its source', async () => {
    async function* chunks() {
      yield pack.subarray(0, 40)
      throw new RangeError('the line went dead')
    }
    const visitor = { object: () => undefined, largeBlob: () => undefined }
    await expect(scanPack(chunks(), { visitor })).rejects.toThrow('the line went dead')
  })

  it('takes time in proportion to the pack, however small its chunks and entries are', async () => {
    const many = buildPack(Array.from({ length: 30_000 }, () => blobEntry('')))
    expect((await scanned(many, 1)).heard).toHaveLength(30_000)
    const wide = objectEntry(COMMIT, new Random(4).bytes(300_000))
    expect((await scanned(buildPack([wide]), 1)).heard).toHaveLength(1)
  })
})
