import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

import { RepositoryGraph } from '../../../git/graph/repository-graph.ts'
import { hashObject } from '../../../git/object/hash-object.ts'
import { objectTypeName } from '../../../git/object/object-type.ts'
import { PACK_LIMITS } from '../../../git/pack/pack-limits.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import { generateRepository } from '../generated-repository.ts'
import { ScratchRepository } from '../git.ts'
import { entryOids, ingest, referenceOid, type TestPack } from '../ingest.ts'
import { Random } from '../random.ts'

/** Every object is read with git as well, beside whatever else the machine does. */
const TIMEOUT_MS = 30_000

describe.each([1, 2])('a pack of the generated repository %i', { timeout: TIMEOUT_MS }, (seed) => {
  const forms: [string, string[]][] = [
    ['ofs-deltas', ['--delta-base-offset']],
    ['ref-deltas', []],
    ['long chains', ['--delta-base-offset', '--window=50', '--depth=200']],
    ['no deltas', ['--window=0']],
    ['stored blocks', ['--compression=0', '--delta-base-offset']],
    ['the best compression', ['--compression=9']],
  ]

  it.each(forms)('with %s is indexed as git does it', async (_, options) => {
    using repository = generateRepository({ seed, commits: 60 })
    const bytes = packObjects(repository, ['--all'], options)
    const pack = await ingest(bytes, { step: 1000 + seed })
    expect(pack.ingested).toMatchObject({ thin: false, missing: [], malformed: [], size: bytes.length })
    await expectIndexOfGit(repository, pack)
    await expectObjectsOfGit(repository, pack)
    expectGraphOfGit(repository, [pack], new Random(seed))
  })

  it('is taken in several thin packs', async () => {
    using repository = generateRepository({ seed, commits: 60 })
    const packs: TestPack[] = []
    const done: string[] = []
    for (const tips of [['c15', 'c20'], ['c40'], ['main', 'c59', 'c30']].map(refs('heads'))) {
      const bytes = packObjects(
        repository,
        [...tips, ...done.map((tip) => `^${tip}`)],
        ['--thin', '--delta-base-offset'],
      )
      packs.push(await ingest(bytes, { earlier: packs, strict: false }))
      done.push(...tips)
    }
    const rest = packObjects(repository, ['--all', ...done.map((tip) => `^${tip}`)], ['--thin'])
    packs.push(await ingest(rest, { earlier: packs }))
    expect(packs.some((pack) => pack.ingested.thin)).toBe(true)
    for (const pack of packs) expect(pack.ingested).toMatchObject({ missing: [], malformed: [] })
    await expectSameObjects(repository, packs)
    expectGraphOfGit(repository, packs, new Random(seed))
  })

  it('is indexed as git does it once git has completed a thin one', async () => {
    using repository = generateRepository({ seed, commits: 60 })
    const base = packObjects(repository, ['refs/heads/c30'], [])
    const tips = ['main', 'c59', 'c55', 'c50'].map((name) => `refs/heads/${name}`)
    const thin = packObjects(repository, [...tips, '^refs/heads/c30'], ['--thin'])
    using other = new ScratchRepository({ bare: true })
    other.git(['index-pack', '--stdin', '--keep'], base)
    const directory = join(other.path, 'objects/pack')
    const name = /\t([0-9a-f]{40})/.exec(`${other.text(['index-pack', '--stdin', '--fix-thin', '--keep'], thin)}`)?.[1]
    const completed = new Uint8Array(readFileSync(join(directory, `pack-${name}.pack`)))
    const earlier = [await ingest(base)]
    const [ours, gits] = [await ingest(thin, { earlier }), await ingest(completed, { earlier })]
    expect(gits.ingested.thin).toBe(false)
    expect(completed.length).toBeGreaterThan(thin.length)
    await expectIndexOfGit(repository, gits)
    // The bases come last, and change nothing of what the others are.
    const fields = (pack: TestPack, ordinal: number) => [
      pack.index.oid(ordinal),
      pack.index.type(ordinal),
      pack.index.size(ordinal),
    ]
    for (let ordinal = 0; ordinal < ours.index.entries; ordinal++)
      expect(fields(gits, ordinal)).toEqual(fields(ours, ordinal))
  })

  it('comes out the same with room for next to nothing', async () => {
    using repository = generateRepository({ seed, commits: 60 })
    const bytes = packObjects(repository, ['--all'], ['--delta-base-offset', '--depth=30'])
    const roomy = await ingest(bytes)
    const limits = { ...PACK_LIMITS, keptDeltaBytes: 0, keptObjectBytes: 0, keptTreeEntries: 0 }
    const cramped = await ingest(bytes, { limits, step: 1 })
    expect(Buffer.compare(cramped.ingested.index, roomy.ingested.index)).toBe(0)
    expect(Buffer.compare(cramped.ingested.graph, roomy.ingested.graph)).toBe(0)
  })

  it('says what is missing where the earlier packs are not there', async () => {
    using repository = generateRepository({ seed, commits: 60 })
    const bytes = packObjects(repository, ['refs/heads/main', '^refs/heads/c20'], ['--delta-base-offset'])
    const pack = await ingest(bytes)
    const there = new Set(entryOids(pack.index))
    const needed = [...there].flatMap((oid) => linksOf(repository, oid))
    const missing = new Set(needed.filter((oid) => !there.has(oid)))
    expect(new Set(pack.ingested.missing)).toEqual(missing)
    expect(Array.from(pack.graph.missing, (reference) => referenceOid(pack, reference)).sort()).toEqual(
      [...missing].sort(),
    )
  })
})

function refs(kind: string): (names: string[]) => string[] {
  return (names) => names.map((name) => `refs/${kind}/${name}`)
}

function packObjects(
  repository: ScratchRepository,
  revisions: readonly string[],
  options: readonly string[],
): Uint8Array {
  const all = revisions.includes('--all') ? ['--all'] : []
  const args = [
    'pack-objects',
    '-q',
    '--stdout',
    '--revs',
    '--threads=1',
    '--no-reuse-delta',
    '--no-reuse-object',
    ...all,
    ...options,
  ]
  const lines = revisions.filter((revision) => revision !== '--all').map((revision) => `${revision}\n`)
  return new Uint8Array(repository.git(args, lines.join('')))
}

/** Compares offsets, bases and ids with `git verify-pack -v`, types and sizes with `git cat-file`. */
async function expectIndexOfGit(repository: ScratchRepository, pack: TestPack): Promise<void> {
  repository.git(['index-pack', '--stdin', '--keep'], pack.bytes)
  const directory = join(repository.path, 'objects/pack')
  const name = readdirSync(directory).find((file) => file === `pack-${pack.ingested.checksum}.idx`)
  expect(name).toBeDefined()
  const offsets = new Map<string, number>()
  const bases = new Map<string, string>()
  for (const line of repository.text(['verify-pack', '-v', join(directory, name!)]).split('\n')) {
    const match = /^([0-9a-f]{40}) \w+ +\d+ \d+ (\d+)(?: \d+ ([0-9a-f]{40}))?$/.exec(line)
    if (match === null) continue
    offsets.set(match[1]!, Number(match[2]))
    if (match[3]) bases.set(match[1]!, match[3])
  }
  const oids = entryOids(pack.index)
  expect(new Map(oids.map((oid, ordinal) => [oid, pack.index.offset(ordinal)]))).toEqual(offsets)
  const ourBases = oids.flatMap((oid, ordinal): [string, string][] =>
    pack.index.isDelta(ordinal) ? [[oid, oids[pack.index.baseOrdinal(ordinal)]!]] : [],
  )
  expect(new Map(ourBases)).toEqual(bases)
  const lines = oids.map((oid, i) => `${oid} ${objectTypeName(pack.index.type(i))} ${pack.index.size(i)}`)
  expect(lines).toEqual(repository.text(['cat-file', '--batch-check'], oids.join('\n')).split('\n'))
  for (const [ordinal, oid] of oids.entries()) {
    expect(pack.index.find(Buffer.from(oid, 'hex'))).toBe(ordinal)
    expect(pack.index.findByPrefix(oid.slice(0, 12), 10)).toEqual([oid])
  }
  expect(pack.index.offset(pack.index.entries)).toBe(pack.bytes.length - 20)
}

/** Compares every object, read whole and as a stream, with `git cat-file --batch`. */
async function expectObjectsOfGit(repository: ScratchRepository, pack: TestPack): Promise<void> {
  const objects = new PackedObjects([pack])
  const oids = entryOids(pack.index)
  const expected = batch(repository, oids)
  for (const oid of oids) {
    const object = (await objects.read(oid))!
    const { type, bytes } = expected.get(oid)!
    expect(objectTypeName(object.type)).toBe(type)
    expect(Buffer.compare(object.bytes, bytes)).toBe(0)
    const open = (await objects.open(oid))!
    const streamed = Buffer.from(await new Response(open.stream()).arrayBuffer())
    expect(open.size).toBe(bytes.length)
    expect(Buffer.compare(streamed, bytes)).toBe(0)
    expect(await objects.stat(oid)).toEqual({ type: object.type, size: bytes.length })
  }
}

async function expectSameObjects(repository: ScratchRepository, packs: readonly TestPack[]): Promise<void> {
  const objects = new PackedObjects(packs)
  const oids = allObjects(repository, ['--all'])
  for (const oid of oids) {
    const object = await objects.read(oid)
    expect(object && hashObject(object.type, object.bytes)).toBe(oid)
  }
  expect(new Set(packs.flatMap((pack) => entryOids(pack.index)))).toEqual(new Set(oids))
}

/** For random wants and haves, the lists of the graph make up what `git rev-list --objects` finds. */
function expectGraphOfGit(repository: ScratchRepository, packs: readonly TestPack[], random: Random): void {
  const graph = new RepositoryGraph(packs)
  const commits = repository.text(['rev-list', '--all']).split('\n')
  expect(graph.size).toBe(commits.length)
  const parents = new Map(
    repository
      .text(['rev-list', '--all', '--parents'])
      .split('\n')
      .map((line): [string, string[]] => {
        const [oid, ...others] = line.split(' ')
        return [oid!, others]
      }),
  )
  const generations = new Map<string, number>()
  for (const oid of repository.text(['rev-list', '--all', '--topo-order', '--reverse']).split('\n')) {
    generations.set(oid, 1 + Math.max(0, ...parents.get(oid)!.map((parent) => generations.get(parent)!)))
  }
  for (const oid of commits) {
    const commit = graph.find(oid)
    expect(Array.from(graph.parents(commit), (parent) => graph.oid(parent))).toEqual([...new Set(parents.get(oid))])
    expect(graph.generation(commit)).toBe(generations.get(oid))
  }
  const listed = listedObjects(packs)
  for (let round = 0; round < 12; round++) {
    const want = random.pick(commits)
    const haves = round < 6 ? [] : [random.pick(commits), random.pick(commits)]
    const exclusions = haves.map((oid) => `^${oid}`)
    const range = repository
      .text(['rev-list', want, ...exclusions])
      .split('\n')
      .filter(Boolean)
    const union = new Set(range.flatMap((oid) => [oid, ...listed.get(oid)!]))
    const needed = allObjects(repository, [want, ...exclusions])
    for (const oid of needed) expect(union, `${want} needs ${oid}`).toContain(oid)
    // Nothing but what the want has; with haves, some that they have too may be sent again.
    const reachable = new Set(allObjects(repository, [want]))
    for (const oid of union) expect(reachable).toContain(oid)
  }
}

function listedObjects(packs: readonly TestPack[]): Map<string, string[]> {
  const listed = new Map<string, string[]>()
  for (const pack of packs) {
    for (let commit = 0; commit < pack.graph.commits; commit++) {
      const objects = Array.from(pack.graph.objects(commit), (reference) => referenceOid(pack, reference))
      expect(new Set(objects).size).toBe(objects.length)
      listed.set(pack.index.oid(pack.graph.ordinals[commit]!), objects)
    }
  }
  return listed
}

function allObjects(repository: ScratchRepository, revisions: readonly string[]): string[] {
  const lines = repository.text(['rev-list', '--objects', '--no-object-names', ...revisions])
  return lines.split('\n').filter(Boolean)
}

/** Ids of what an object points at. */
function linksOf(repository: ScratchRepository, oid: string): string[] {
  const type = repository.text(['cat-file', '-t', oid])
  if (type === 'blob') return []
  if (type === 'tree') {
    const lines = repository.text(['ls-tree', oid]).split('\n')
    return lines.flatMap((line) => /^\d+ (?:blob|tree) ([0-9a-f]{40})/.exec(line)?.[1] ?? [])
  }
  const [head] = repository.text(['cat-file', type, oid]).split('\n\n')
  return [...head!.matchAll(/^(?:tree|parent|object) ([0-9a-f]{40})$/gm)].map((match) => match[1]!)
}

function batch(
  repository: ScratchRepository,
  oids: readonly string[],
): Map<string, { type: string; bytes: Uint8Array }> {
  const output = repository.git(['cat-file', '--batch'], oids.join('\n'))
  const objects = new Map<string, { type: string; bytes: Uint8Array }>()
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(10, at)
    const [oid, type, size] = Buffer.from(output.subarray(at, end)).toString().split(' ')
    objects.set(oid!, { type: type!, bytes: output.subarray(end + 1, end + 1 + Number(size)) })
    at = end + 2 + Number(size)
  }
  return objects
}
