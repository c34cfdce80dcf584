import { describe, expect, it } from 'vitest'
import { MemoryAccount } from '../../../git/bytes/memory-account.ts'
import { BufferRange } from '../../../git/bytes/range.ts'
import { LINK_LIMITS, type LinkLimits, type LinkState } from '../../../git/graph/link-files.ts'
import { isLinked, linkNext, relinked } from '../../../git/graph/link-parts.ts'
import { mergePacks } from '../../../git/graph/merge-packs.ts'
import { PackGraph } from '../../../git/graph/pack-graph.ts'
import type { PackHandle } from '../../../git/graph/pack-handle.ts'
import { hashObject } from '../../../git/object/hash-object.ts'
import { BLOB, COMMIT, type ObjectType, TAG, TREE } from '../../../git/object/object-type.ts'
import { CutParts } from '../../../git/pack/cut-parts.ts'
import { PackError } from '../../../git/pack/entry-header.ts'
import { PackIndex } from '../../../git/pack/pack-index.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import { MissingBaseError } from '../../../git/pack/resolve-deltas.ts'
import { cutAll, linksByOid, MemoryLinkFiles, split } from '../cut-parts.ts'
import { generateRepository } from '../generated-repository.ts'
import { GIT_TIME, ScratchRepository } from '../git.ts'
import { manyObjects } from '../many-objects.ts'
import {
  buildPack,
  copy,
  delta,
  insert,
  objectEntry,
  ofsDeltaEntry,
  type RawEntry,
  refDeltaEntry,
  utf8,
} from '../pack/pack-builder.ts'
import { clone, ingest, ingestAll, packOf, seededRandom } from '../packs.ts'
import { concat } from '../protocol/wire.ts'
import { pushes } from '../pushes.ts'
import { randomHistory } from '../random-history.ts'

/** Steps as small as can be. */
const SMALL: Partial<LinkLimits> = { ids: 12, children: 20, listed: 10, listedCommits: 3 }
const WHO = 'A <a@example.com> 1700000000 +0000'

interface Made {
  readonly oid: string
  readonly entry: RawEntry
}

function make(type: ObjectType, content: string | Uint8Array): Made {
  const bytes = typeof content === 'string' ? utf8(content) : content
  return { oid: hashObject(type, bytes), entry: objectEntry(type, bytes) }
}

function tree(...entries: readonly [mode: string, name: string, oid: string][]): Made {
  const bytes = entries.map(([mode, name, oid]) => concat([utf8(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]))
  return make(TREE, concat(bytes))
}

function commit(of: string, parents: readonly string[] = [], message = 'message'): Made {
  const lines = [`tree ${of}`, ...parents.map((parent) => `parent ${parent}`), `author ${WHO}`, `committer ${WHO}`]
  return make(COMMIT, `${lines.join('\n')}\n\n${message}\n`)
}

function packWith(...objects: readonly (Made | RawEntry)[]): Uint8Array {
  return buildPack(objects.map((object) => ('entry' in object ? object.entry : object)))
}

describe.each([1, 2, 3])('linking by the smallest steps (seed %i)', (seed) => {
  it('says the same as one look at the whole pack', GIT_TIME, async () => {
    const random = seededRandom(seed)
    using repository = generateRepository({ seed, commits: 60 })
    const refs = repository.text(['for-each-ref', '--format=%(refname)']).split('\n')
    const bytes = packOf(repository, refs, seed === 2 ? ['--no-reuse-delta', '--window=40'] : [])
    const whole = await ingest(bytes)
    const { packs, linked, steps } = await split(bytes, [], { entries: () => 5 + random(60), limits: SMALL })
    expect(steps).toBeGreaterThan(40)
    expect(linked).toMatchObject({ missing: [], malformed: [], mistyped: [] })
    expect(linksByOid(packs)).toEqual(linksByOid([whole]))
    const wants = repository.text(['rev-list', '--all']).split('\n')
    using client = new ScratchRepository({ bare: true })
    client.git(['index-pack', '--stdin'], await clone(packs, wants))
    for (const oid of wants) expect(client.text(['cat-file', '-t', oid])).toBe('commit')
  })

  it('says the same on top of others', GIT_TIME, async () => {
    const random = seededRandom(seed)
    using history = randomHistory(random, 40)
    const all = pushes(history, random, 2)
    const older = await ingestAll(all.slice(0, 1))
    const whole = await ingest(all[1]!, older)
    const { packs, linked } = await split(all[1]!, older, { entries: () => 1 + random(20), limits: SMALL })
    expect(linked.missing).toEqual([])
    expect(linksByOid(packs)).toEqual(linksByOid([whole]))
  })

  it('goes on wherever it is cut off, and comes to the same', GIT_TIME, async () => {
    const random = seededRandom(seed)
    using history = randomHistory(random, 20)
    const bytes = packOf(history.repository, history.commits)
    const entries = () => 25
    const undisturbed = await split(bytes, [], { entries, limits: SMALL })
    const { parts, known } = await cutAll(bytes, [], { entries })
    const files = new MemoryLinkFiles()
    let isCutOff = false
    files.beforeWrite = () => {
      isCutOff = !isCutOff
      if (isCutOff) throw new Error('cut off')
    }
    const inputOf = () => {
      const limits = { ...LINK_LIMITS, ...SMALL }
      return { parts: new CutParts(parts, null), known, files, limits, memory: new MemoryAccount() }
    }
    let state: LinkState | null = null
    let cutOffs = 0
    for (let input = inputOf(); !isLinked(input, state); input = inputOf()) {
      const before: string = JSON.stringify(state)
      try {
        state = await linkNext(input, state)
      } catch (error) {
        expect(error).toEqual(new Error('cut off'))
        cutOffs++
        state = JSON.parse(before) as LinkState | null
      }
    }
    expect(cutOffs).toBeGreaterThan(12)
    expect(files.graphs).toEqual(undisturbed.files.graphs)
    expect(state).toEqual({ ...undisturbed.linked, othersFile: state.othersFile })
  })

  it('is merged to what the whole pack says', GIT_TIME, async () => {
    const random = seededRandom(seed)
    using history = randomHistory(random, 40)
    const bytes = packOf(history.repository, [...history.commits, ...history.tags.map((tag) => `refs/tags/${tag}`)])
    const { packs } = await split(bytes, [], { entries: () => 10 + random(40) })
    const [first, end] = [random(packs.length - 1), packs.length - random(2)]
    const older = packs.slice(0, first)
    const merged = [...older, await merge(packs.slice(first, end), older), ...packs.slice(end)]
    using client = new ScratchRepository({ bare: true })
    client.git(['index-pack', '--stdin', '--strict'], await clone(merged, history.commits))
    for (const [i, oid] of history.commits.entries()) client.git(['update-ref', `refs/tips/${i}`, oid])
    client.git(['fsck', '--strict'])
    expect(linksByOid(merged)).toEqual(linksByOid([await ingest(bytes)]))
  })
})

async function merge(packs: readonly PackHandle[], older: readonly PackHandle[]): Promise<PackHandle> {
  const [chunks, files]: [Uint8Array[], Uint8Array[]] = [[], []]
  const keep = (into: Uint8Array[]) => async (bytes: Uint8Array) => void into.push(bytes.slice())
  const target = { write: keep(chunks), end: async () => undefined, index: keep(files), graph: keep(files) }
  const opened = packs.map((pack) => ({ ...pack, graph: async () => pack.graph }))
  await mergePacks(opened, target, { older: new PackedObjects(older), memory: new MemoryAccount() })
  const data = new BufferRange(concat(chunks))
  return { index: new PackIndex(files[0]!), graph: new PackGraph(files[1]!), data }
}

describe('parts of a pack that', () => {
  const file = make(BLOB, 'file\n')
  const one = tree(['100644', 'file', file.oid])
  const first = commit(one.oid)
  const entries = () => 1

  it('has objects several times says of each once', async () => {
    const other = make(BLOB, 'other\n')
    const two = tree(['100644', 'file', file.oid], ['100644', 'other', other.oid])
    const second = commit(two.oid, [first.oid])
    const bytes = packWith(second, first, first, two, second, one, file, other, file, two)
    const { packs, linked } = await split(bytes, [], { entries, limits: SMALL })
    expect(linked).toMatchObject({ missing: [], malformed: [], mistyped: [] })
    expect(packs.map(({ graph }) => graph.commits)).toEqual([1, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    expect(linksByOid(packs)).toEqual(linksByOid([await ingest(bytes)]))
    using client = new ScratchRepository({ bare: true })
    client.git(['index-pack', '--stdin', '--strict'], await clone(packs, [second.oid]))
    client.git(['update-ref', 'refs/heads/main', second.oid])
    client.git(['fsck', '--strict'])
  })

  it('lacks objects names them, and only what is there is listed', async () => {
    const absent = ['1', '2', '3'].map((digit) => digit.repeat(40)) as [string, string, string]
    const half = tree(['100644', 'absent', absent[0]], ['100644', 'file', file.oid], ['40000', 'sub', absent[1]])
    const tip = commit(half.oid, [absent[2]])
    const { packs, linked } = await split(packWith(tip, half, file), [], { entries, limits: SMALL })
    expect([...linked.missing!].sort()).toEqual(absent)
    const [only] = linksByOid(packs).commits.values()
    expect(only).toMatchObject({ generation: 1, parents: [absent[2]], objects: [file.oid, half.oid].sort() })
    expect(packs.map(({ graph }) => graph.missing.length)).toEqual([3, 3, 3])
  })

  it('is linked again finds what has come meanwhile', async () => {
    const whole = packWith(first, one)
    const { parts } = await cutAll(whole, [], { entries })
    const files = new MemoryLinkFiles()
    const link = async (from: LinkState | null, older: readonly PackHandle[]) => {
      let state = from
      const { known } = await cutAll(packWith(file), older, { entries })
      for (;;) {
        const input = { parts: new CutParts(parts, known.objects), known, files, memory: new MemoryAccount() }
        if (isLinked(input, state)) return state
        state = await linkNext(input, state)
      }
    }
    const before = await link(null, [])
    expect(before.missing).toEqual([file.oid])
    const after = await link(relinked(before), [await ingest(packWith(file))])
    expect(after.missing).toEqual([])
    const graph = new PackGraph(files.graphs[0]!)
    expect(Array.from(graph.objects(0), (reference) => graph.external(reference))).toEqual([file.oid])
    expect(graph.missing).toHaveLength(0)
  })

  it('has objects of other forms and types says so', async () => {
    const bad = [make(COMMIT, 'no tree\n'), make(TREE, 'no mode'), make(TAG, 'no object\n')]
    const wrong = tree(['40000', 'a-file', file.oid])
    const tips = [commit(wrong.oid), commit(file.oid), commit(one.oid, [one.oid])]
    const bytes = packWith(...bad, ...tips, wrong, one, file)
    const { linked, packs } = await split(bytes, [], { entries, limits: SMALL })
    expect(linked.malformed.map((text) => text.slice(0, 40)).sort()).toEqual(bad.map(({ oid }) => oid).sort())
    expect([...linked.mistyped].sort()).toEqual(
      [`${file.oid}: not a tree`, `${one.oid}: not a commit`]
        .map((text) => `${text}, or not everywhere, as what points at it says`)
        .sort(),
    )
    expect(linksByOid(packs)).toEqual(linksByOid([await ingest(bytes)]))
  })

  it('has deltas on what is nowhere cannot be cut', async () => {
    const change = delta(5, 10, copy(0, 5), insert('more\n'))
    const bytes = packWith(file, one, refDeltaEntry('4'.repeat(40), change))
    await expect(split(bytes, [], { entries })).rejects.toThrow(MissingBaseError)
  })

  it.each([1, 7])('has deltas on the middle of an entry cannot be cut (%i bytes off)', async (off) => {
    const change = delta(5, 10, copy(0, 5), insert('more\n'))
    const before = file.entry.header.length + file.entry.compressed.length
    const bytes = packWith(file, ofsDeltaEntry(before - off, change))
    await expect(split(bytes, [], { entries })).rejects.toThrow('a base where no entry starts')
  })

  it('has deltas on deltas in other parts is read through them all', async () => {
    const texts = ['0\n', '0\n1\n', '0\n1\n2\n', '0\n1\n2\n3\n']
    const made = texts.map((text) => make(BLOB, text))
    const trees = made.map(({ oid }) => tree(['100644', 'file', oid]))
    // Trees as deltas on each other: all but the id is the same.
    const asDelta = (at: number, distance: number) => {
      const changed = Buffer.from(made[at]!.oid, 'hex')
      return ofsDeltaEntry(distance, delta(32, 32, copy(0, 12), Uint8Array.of(changed.length), changed))
    }
    const commits: Made[] = []
    for (const [i, { oid }] of trees.entries()) commits.push(commit(oid, i === 0 ? [] : [commits[i - 1]!.oid]))
    const size = ({ header, compressed }: RawEntry) => header.length + compressed.length
    const rows: RawEntry[] = [...commits.toReversed().map(({ entry }) => entry), trees[0]!.entry]
    for (let at = 1; at < trees.length; at++) rows.push(asDelta(at, size(rows.at(-1)!)))
    const bytes = buildPack([...rows, ...made.map(({ entry }) => entry)])
    const { packs } = await split(bytes, [], { entries, limits: SMALL })
    expect(linksByOid(packs)).toEqual(linksByOid([await ingest(bytes)]))
  })

  it('has more commits, or points at more that is elsewhere, than can be held is refused in words', async () => {
    const { pack } = manyObjects({ commits: 12, files: 2 })
    const limits = { ...SMALL, commits: 11 }
    await expect(split(pack, [], { entries: () => 20, limits })).rejects.toThrow(
      new PackError('the pack has more than 11 commits; so many cannot be linked'),
    )
    const elsewhere = tree(
      ['100644', 'a', '5'.repeat(40)],
      ['100644', 'b', '6'.repeat(40)],
      ['100644', 'c', '7'.repeat(40)],
    )
    await expect(split(packWith(elsewhere), [], { entries, limits: { others: 2 } })).rejects.toThrow(
      new PackError("the pack's objects point at more than 2 objects that it does not have"),
    )
  })
})
