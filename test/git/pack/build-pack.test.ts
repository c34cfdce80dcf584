import { describe, expect, it } from 'vitest'
import type { Oid } from '../../../git/bytes/oid.ts'
import { editTree } from '../../../git/edit/edit-tree.ts'
import { serializeCommit } from '../../../git/object/commit.ts'
import { hashObject } from '../../../git/object/hash-object.ts'
import type { NewObject } from '../../../git/object/new-object.ts'
import { BLOB, COMMIT, type ObjectType, objectTypeName, TREE } from '../../../git/object/object-type.ts'
import { type BaseSource, buildPack } from '../../../git/pack/build-pack.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import { GIT_TIME, ScratchRepository } from '../git.ts'
import { MemoryObjects } from '../memory-objects.ts'
import { ingest, ingestAll } from '../packs.ts'
import { Random } from '../random.ts'
import { utf8 } from './pack-builder.ts'

/** Objects in memory, all of them whole unless said otherwise. */
class MemoryBases extends MemoryObjects implements BaseSource {
  readonly depths = new Map<Oid, number>()

  deltaDepth(oid: Oid): number {
    return this.depths.get(oid) ?? 0
  }
}

const object = (type: ObjectType, bytes: Uint8Array, base: Oid | null = null): NewObject => ({
  type,
  bytes,
  oid: hashObject(type, bytes),
  base,
})
const blob = (bytes: Uint8Array, base: Oid | null = null) => object(BLOB, bytes, base)

/** Has git take a pack, with `known` stored beforehand. @returns how it lists the entries: type, and depth for a delta. */
function verify(pack: Uint8Array, known: readonly NewObject[] = []): Map<Oid, { type: string; depth: number }> {
  using target = new ScratchRepository({ bare: true })
  for (const { type, bytes } of known) target.store(objectTypeName(type), bytes)
  const checksum = target.text(['index-pack', '--stdin', '--fix-thin', '--strict'], pack).split('\t')[1]!
  const lines = target.text(['verify-pack', '-v', `objects/pack/pack-${checksum}.idx`]).split('\n')
  const entries = lines.map((line) => line.split(/ +/)).filter(([oid]) => /^[0-9a-f]{40}$/.test(oid!))
  return new Map(entries.map(([oid, type, , , , depth]) => [oid!, { type: type!, depth: Number(depth ?? 0) }]))
}

const random = new Random(1)
const OLD = blob(random.text(5000))
const changed = (bytes: Uint8Array, at: number) => {
  const copy = bytes.slice()
  copy.set(utf8(`changed ${at}`), at)
  return copy
}

describe('buildPack', () => {
  it('makes a pack of all types that git takes', async () => {
    const file = blob(utf8('file'))
    const { tree, objects } = await editTree(new MemoryObjects(), null, [
      { kind: 'write', path: utf8('a/b'), content: file.bytes },
    ])
    const person = { name: 'A', email: 'a@b', time: 1, zone: 0 }
    const commit = serializeCommit({ tree, parents: [], author: person, committer: person, message: 'm' })
    const pack = await buildPack([object(COMMIT, commit), ...objects], null)
    expect(pack).toMatchObject({ objects: 4, isThin: false })
    expect([...verify(pack.bytes).values()].map(({ type }) => type).sort()).toEqual(['blob', 'commit', 'tree', 'tree'])
  })

  it('makes an empty pack of nothing', async () => {
    const { bytes, objects } = await buildPack([], null)
    expect(objects).toBe(0)
    expect(verify(bytes).size).toBe(0)
  })

  it('makes deltas on what the account has, and is thin then', async () => {
    const bases = new MemoryBases()
    bases.addAll([OLD])
    const fresh = blob(changed(OLD.bytes, 2000), OLD.oid)
    const pack = await buildPack([fresh], bases)
    expect(pack.isThin).toBe(true)
    expect(pack.bytes.length).toBeLessThan(110)
    expect(verify(pack.bytes, [OLD]).get(fresh.oid)).toEqual({ type: 'blob', depth: 1 })
    expect((await buildPack([fresh], null)).isThin).toBe(false)
  })

  it('makes deltas on what is in the pack, whatever the order', async () => {
    const versions = [OLD]
    for (let i = 1; i < 5; i++) versions.push(blob(changed(versions.at(-1)!.bytes, i * 900), versions.at(-1)!.oid))
    const pack = await buildPack(versions.toReversed(), null)
    expect(pack.isThin).toBe(false)
    const entries = verify(pack.bytes)
    expect(versions.map(({ oid }) => entries.get(oid)!.depth)).toEqual([0, 1, 2, 3, 4])
  })

  it('lets no chain of deltas grow without end', async () => {
    const versions = [OLD]
    for (let i = 1; i < 120; i++) versions.push(blob(changed(versions.at(-1)!.bytes, i * 37), versions.at(-1)!.oid))
    const entries = verify((await buildPack(versions, null)).bytes)
    const depths = versions.map(({ oid }) => entries.get(oid)!.depth)
    expect(Math.max(...depths)).toBe(50)
    expect(depths.filter((depth) => depth === 0)).toHaveLength(3)
    const bases = new MemoryBases()
    bases.addAll([OLD])
    bases.depths.set(OLD.oid, 49)
    const [first, second] = versions.slice(1, 3)
    expect((await buildPack([first!], bases)).isThin).toBe(true)
    const next = await buildPack([first!, second!], bases)
    expect(verify(next.bytes, [OLD]).get(second!.oid)!.depth).toBe(0)
    bases.depths.set(OLD.oid, 50)
    expect((await buildPack([first!], bases)).isThin).toBe(false)
  })

  it.each<[string, (bases: MemoryBases) => NewObject[]]>([
    ['a base that is not there', () => [blob(OLD.bytes, '1'.repeat(40))]],
    ['a base that is the object', () => [{ ...OLD, base: OLD.oid }]],
    ['a base of another type', (bases) => [blob(random.text(500), bases.tree({ a: '1' }))]],
    ['a base that has nothing of it', (bases) => [blob(random.bytes(2000), bases.add(BLOB, random.bytes(2000)))]],
    [
      'an object that compresses as well',
      (bases) => [blob(new Uint8Array(10_000), bases.add(BLOB, random.bytes(100)))],
    ],
    [
      'an object that is small',
      (bases) => [blob(utf8('small, but the same'), bases.add(BLOB, utf8('small, but the same?')))],
    ],
  ])('writes whole what has %s', async (_, objectsOf) => {
    const bases = new MemoryBases()
    const objects = objectsOf(bases)
    const pack = await buildPack(objects, bases)
    expect(pack.isThin).toBe(false)
    expect([...verify(pack.bytes).values()].map(({ depth }) => depth)).toEqual([0])
  })

  it('breaks a circle of bases, and writes an object given twice once', async () => {
    const one = blob(changed(OLD.bytes, 100))
    const two = blob(changed(OLD.bytes, 200))
    const pack = await buildPack([{ ...one, base: two.oid }, { ...two, base: one.oid }, one], null)
    expect(pack.objects).toBe(2)
    expect(verify(pack.bytes).size).toBe(2)
  })

  it('makes packs of many objects of all sizes, in chunks too', GIT_TIME, async () => {
    const bases = new MemoryBases()
    const known: NewObject[] = []
    const objects = [blob(random.bytes(1_500_000))]
    for (let i = 0; i < 100; i++) {
      const base = known.length > 0 && random.chance(0.5) ? random.pick(known) : blob(random.text(random.below(20_000)))
      if (random.chance(0.5)) known.push(base)
      else objects.push(base)
      objects.push(
        blob(changed(base.bytes.length > 100 ? base.bytes : new Uint8Array(200), random.below(80)), base.oid),
      )
    }
    bases.addAll(known)
    const pack = await buildPack(objects, bases)
    const entries = verify(pack.bytes, known)
    for (const { oid } of objects) expect(entries.has(oid)).toBe(true)
    const handle = await ingest(pack.bytes.slice(), await ingestAll([(await buildPack(known, null)).bytes]))
    expect(handle.index.entries).toBe(pack.objects)
  })

  it('keeps a commit of one line small in a large directory', async () => {
    const source = new MemoryBases()
    const base = source.tree(
      Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`src/file-${i}`, `content ${i}\n`.repeat(50)])),
    )
    const { objects } = await editTree(source, base, [
      { kind: 'write', path: utf8('src/file-7'), content: utf8(`${'content 7\n'.repeat(50)}one line more\n`) },
    ])
    const pack = await buildPack(objects, source)
    expect(objects.map(({ type }) => type)).toEqual([BLOB, TREE, TREE])
    expect(pack.bytes.length).toBeLessThan(250)
  })
})

describe('PackedObjects.deltaDepth', () => {
  it('counts deltas through thin packs', async () => {
    const versions = [OLD]
    for (let i = 1; i < 4; i++) versions.push(blob(changed(versions.at(-1)!.bytes, i * 900), versions.at(-1)!.oid))
    const packs = await ingestAll([(await buildPack(versions.slice(0, 2), null)).bytes])
    const objects = new PackedObjects(packs)
    packs.push(await ingest((await buildPack(versions.slice(2), objects)).bytes, packs))
    const all = new PackedObjects(packs)
    expect(versions.map(({ oid }) => all.deltaDepth(oid))).toEqual([0, 1, 2, 3])
    expect(all.deltaDepth('1'.repeat(40))).toBe(0)
    for (const { oid, bytes } of versions) expect(Buffer.compare((await all.read(oid))!.bytes, bytes)).toBe(0)
  })
})
