import { describe, expect, it } from 'vitest'
import { RepositoryGraph } from '../../../git/graph/repository-graph.ts'
import { hashObject } from '../../../git/object/hash-object.ts'
import { BLOB, COMMIT, TREE } from '../../../git/object/object-type.ts'
import { PackError } from '../../../git/pack/entry-header.ts'
import { PACK_LIMITS } from '../../../git/pack/pack-limits.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import { MissingBaseError } from '../../../git/pack/resolve-deltas.ts'
import { entryOids, ingest, type TestPack } from '../ingest.ts'
import {
  blobEntry,
  buildPack,
  concat,
  copy,
  delta,
  deltaSize,
  entryOffsets,
  insert,
  objectEntry,
  ofsDeltaEntry,
  type RawEntry,
  refDeltaEntry,
  utf8,
} from './pack-builder.ts'

const HELLO = hashObject(BLOB, utf8('hello'))
const idOf = (text: string) => hashObject(BLOB, utf8(text))

/** A delta that appends to a text. */
function append(base: string, added: string): Uint8Array {
  const copies = base.length === 0 ? [] : [copy(0, base.length)]
  return delta(base.length, base.length + added.length, ...copies, insert(added))
}

/** Entries of which each is an ofs-delta on the one with the given place. */
function ofsDeltas(first: RawEntry, ...deltas: readonly [base: number, bytes: Uint8Array][]): RawEntry[] {
  const entries = [first]
  for (const [base, bytes] of deltas) {
    const offsets = entryOffsets([...entries, first])
    entries.push(ofsDeltaEntry(offsets[entries.length]! - offsets[base]!, bytes))
  }
  return entries
}

async function textsOf(pack: TestPack, earlier: readonly TestPack[] = []): Promise<string[]> {
  const objects = new PackedObjects([...earlier, pack])
  const texts: string[] = []
  for (const oid of entryOids(pack.index)) texts.push(new TextDecoder().decode((await objects.read(oid))!.bytes))
  return texts
}

/** Some packs have tens of thousands of entries. */
const TIMEOUT_MS = 30_000

describe('resolveDeltas', { timeout: TIMEOUT_MS }, () => {
  it('resolves ofs-deltas on deltas, of the type of the base at the bottom', async () => {
    const pack = await ingest(
      buildPack(
        ofsDeltas(objectEntry(COMMIT, utf8('a')), [0, append('a', 'b')], [1, append('ab', 'c')], [0, append('a', 'd')]),
      ),
    )
    expect(await textsOf(pack)).toEqual(['a', 'ab', 'abc', 'ad'])
    expect([0, 1, 2, 3].map((ordinal) => pack.index.type(ordinal))).toEqual([COMMIT, COMMIT, COMMIT, COMMIT])
    expect([0, 1, 2, 3].map((ordinal) => pack.index.baseOrdinal(ordinal))).toEqual([-1, 0, 1, 0])
    expect([0, 1, 2, 3].map((ordinal) => pack.index.size(ordinal))).toEqual([1, 2, 3, 2])
  })

  it('resolves ref-deltas whose base comes later, is a delta itself, or is there twice', async () => {
    const pack = await ingest(
      buildPack([
        refDeltaEntry(idOf('hello b'), append('hello b', ' c')),
        refDeltaEntry(HELLO, append('hello', ' a')),
        refDeltaEntry(HELLO, append('hello', ' b')),
        blobEntry('hello'),
        blobEntry('hello'),
      ]),
    )
    expect(await textsOf(pack)).toEqual(['hello b c', 'hello a', 'hello b', 'hello', 'hello'])
    expect([0, 1, 2].map((ordinal) => pack.index.baseOrdinal(ordinal))).toEqual([2, 3, 3])
    expect(pack.index.find(Buffer.from(HELLO, 'hex'))).toBe(3)
  })

  it('resolves deltas whose bases only the store has, and others that wait for what comes of them', async () => {
    const first = await ingest(buildPack([blobEntry('hello')]))
    const pack = await ingest(
      buildPack([
        refDeltaEntry(idOf('hello b'), append('hello b', ' c')),
        refDeltaEntry(HELLO, append('hello', ' a')),
        refDeltaEntry(HELLO, append('hello', ' b')),
        ...ofsDeltas(blobEntry('x'), [0, append('x', 'y')]),
      ]),
      { earlier: [first] },
    )
    expect(pack.ingested.thin).toBe(true)
    expect(await textsOf(pack, [first])).toEqual(['hello b c', 'hello a', 'hello b', 'x', 'xy'])
    expect(pack.index.base(1)).toEqual({ oid: HELLO })
    expect(pack.index.base(0)).toEqual({ ordinal: 2 })
  })

  it('reads bases from the pack again where they do not stay at hand', async () => {
    const limits = { ...PACK_LIMITS, keptObjectBytes: 0, keptDeltaBytes: 0 }
    const deltas: [number, Uint8Array][] = []
    let text = 'a'
    for (let depth = 0; depth < 20; depth++) {
      // Two deltas on each: one that goes on, and one that comes back to the base later.
      const base = depth === 0 ? 0 : 2 * depth - 1
      deltas.push([base, append(text, 'b')], [base, append(text, 'c')])
      text += 'b'
    }
    const pack = await ingest(buildPack(ofsDeltas(blobEntry('a'), ...deltas)), { limits })
    const texts = await textsOf(pack)
    expect(texts[39]).toBe(`a${'b'.repeat(20)}`)
    expect(texts[40]).toBe(`a${'b'.repeat(19)}c`)
  })

  it('names the base that is missing', async () => {
    const pack = buildPack([blobEntry('x'), refDeltaEntry(HELLO, append('hello', '!'))])
    await expect(ingest(pack)).rejects.toThrow(`the base ${HELLO} of a delta is missing`)
    await expect(ingest(pack, { earlier: [await ingest(buildPack([blobEntry('y')]))] })).rejects.toThrow(
      MissingBaseError,
    )
    const onThat = buildPack([
      refDeltaEntry(idOf('hello!'), append('hello!', '?')),
      refDeltaEntry(HELLO, append('hello', '!')),
    ])
    await expect(ingest(onThat)).rejects.toThrow(MissingBaseError)
  })

  it('refuses deltas that claim to build on each other', async () => {
    const [a, b] = [idOf('a'), idOf('b')]
    await expect(
      ingest(
        buildPack([
          refDeltaEntry(a, append('a', 'x')),
          refDeltaEntry(b, append('b', 'x')),
          refDeltaEntry(idOf('ax'), append('ax', 'y')),
        ]),
      ),
    ).rejects.toThrow(MissingBaseError)
  })

  it.each<[string, string, Uint8Array]>([
    ['declares 4 GB', 'more than the limit', concat(deltaSize(5), deltaSize(2 ** 32), copy(0, 5))],
    ['declares more than it can make', 'too short', concat(deltaSize(5), deltaSize(30_000_000), Uint8Array.of(1))],
    ['is for another base', 'base of another size', append('hell', 'o')],
    ['copies from outside of its base', 'outside of its base', delta(5, 5, copy(1, 5))],
    ['is empty', 'ends inside its header', new Uint8Array(0)],
  ])('refuses a delta that %s', async (_, reason, bytes) => {
    const pack = buildPack([blobEntry('hello'), refDeltaEntry(HELLO, bytes)])
    await expect(ingest(pack)).rejects.toThrow(PackError)
    await expect(ingest(pack)).rejects.toThrow(reason)
  })

  it('refuses a delta on a blob that does not fit into memory', async () => {
    const large = objectEntry(BLOB, new Uint8Array(2_000_000))
    const pack = buildPack([
      large,
      refDeltaEntry(hashObject(BLOB, new Uint8Array(2_000_000)), delta(2_000_000, 1, insert('x'))),
    ])
    await expect(ingest(pack, { limits: { ...PACK_LIMITS, objectBytes: 1_000_000 } })).rejects.toThrow(
      'builds on an object of 2000000 bytes; the limit is 1000000',
    )
    expect((await ingest(pack)).ingested.objects).toBe(2)
  })

  it('refuses a delta on an object of the store that does not fit into memory', async () => {
    const content = new Uint8Array(2_000_000)
    const earlier = [await ingest(buildPack([objectEntry(BLOB, content)]))]
    const objects = new PackedObjects(earlier, { objectBytes: 1_000_000 })
    const known = { objects, graph: new RepositoryGraph(earlier) }
    const pack = buildPack([refDeltaEntry(hashObject(BLOB, content), delta(2_000_000, 1, insert('x')))])
    await expect(ingest(pack, { known })).rejects.toThrow(/^a delta builds on an object that is too large/)
    await expect(ingest(pack, { known })).rejects.toThrow(PackError)
  })

  it('refuses the bomb: a few bytes of deltas that unfold to terabytes', async () => {
    // Each copies its base ten times.
    const deltas: [number, Uint8Array][] = []
    let size = 1000
    for (let depth = 0; depth < 4; depth++) {
      deltas.push([depth, delta(size, size * 10, ...Array(10).fill(copy(0, size)))])
      size *= 10
    }
    const pack = buildPack(ofsDeltas(blobEntry('z'.repeat(1000)), ...deltas))
    expect(pack.length).toBeLessThan(500)
    await expect(ingest(pack, { limits: { ...PACK_LIMITS, unfoldedBytes: 5_000_000 } })).rejects.toThrow(
      'make more than 5000000 bytes',
    )
    await expect(ingest(pack, { limits: { ...PACK_LIMITS, objectBytes: 5_000_000 } })).rejects.toThrow(
      'the limit of 5000000',
    )
  })

  it('counts what it has to make again: a deep tree of deltas that do not stay at hand', async () => {
    const deltas: [number, Uint8Array][] = []
    const size = 10_000
    for (let depth = 0; depth < 100; depth++) {
      const again = delta(size, size, copy(0, size - 1), insert(String.fromCharCode(33 + (depth % 90))))
      const base = depth === 0 ? 0 : 2 * depth - 1
      deltas.push(
        [base, again],
        [base, delta(size, size, copy(0, size - 2), insert(`-${String.fromCharCode(33 + (depth % 90))}`))],
      )
    }
    const pack = buildPack(ofsDeltas(blobEntry('z'.repeat(size)), ...deltas))
    const honest = { ...PACK_LIMITS, unfoldedBytes: 300 * size }
    expect((await ingest(pack, { limits: honest })).ingested.objects).toBe(201)
    await expect(ingest(pack, { limits: { ...honest, keptObjectBytes: 0 } })).rejects.toThrow(
      'the deltas make more than',
    )
  })

  it('takes a chain of 20,000 deltas without a deep stack', async () => {
    const entries: RawEntry[] = [blobEntry('0')]
    let previous = entries[0]!
    for (let depth = 1; depth < 20_000; depth++) {
      const distance = previous.header.length + previous.compressed.length
      const text = String(depth)
      previous = ofsDeltaEntry(distance, delta(String(depth - 1).length, text.length, insert(text)))
      entries.push(previous)
    }
    const pack = await ingest(buildPack(entries))
    expect(pack.index.oid(19_999)).toBe(idOf('19999'))
    const cramped = { ...PACK_LIMITS, keptDeltaBytes: 0 }
    expect((await ingest(buildPack(entries), { limits: cramped })).index.oid(19_999)).toBe(idOf('19999'))
  })

  it('takes 20,000 deltas that wait for one base, or each for its own', async () => {
    const waiting = Array.from({ length: 20_000 }, (_, i) => refDeltaEntry(HELLO, append('hello', String(i))))
    const pack = await ingest(buildPack([...waiting, blobEntry('hello')]))
    expect(pack.index.oid(19_999)).toBe(idOf('hello19999'))
    const bases = Array.from({ length: 5_000 }, (_, i) => blobEntry(String(i)))
    const each = bases.map((_, i) => refDeltaEntry(idOf(String(i)), append(String(i), '!')))
    expect((await ingest(buildPack([...each, ...bases]))).index.oid(4_999)).toBe(idOf('4999!'))
    await expect(ingest(buildPack(each))).rejects.toThrow(MissingBaseError)
  })

  it('keeps trees of submodules and empty trees as they are', async () => {
    const gitlink = concat(utf8('160000 module\0'), new Uint8Array(20).fill(0xab))
    const pack = await ingest(buildPack([objectEntry(TREE, new Uint8Array(0)), objectEntry(TREE, gitlink)]), {
      strict: true,
    })
    expect(pack.ingested).toMatchObject({ missing: [], malformed: [] })
  })
})
