import { describe, expect, it } from 'vitest'
import { oidToBytes } from '../../../git/bytes/oid.ts'
import { ForbiddenObjectError } from '../../../git/graph/ingest-pack.ts'
import { PackGraph, PackGraphError } from '../../../git/graph/pack-graph.ts'
import { hashObject } from '../../../git/object/hash-object.ts'
import { BLOB, COMMIT, type ObjectType, TAG, TREE } from '../../../git/object/object-type.ts'
import { PackError } from '../../../git/pack/entry-header.ts'
import { PACK_LIMITS } from '../../../git/pack/pack-limits.ts'
import { ingest, referenceOid, type TestPack } from '../ingest.ts'
import { buildPack, concat, copy, delta, objectEntry, refDeltaEntry, utf8 } from '../pack/pack-builder.ts'
import { Random } from '../random.ts'

/** An object with its id. */
interface Made {
  readonly type: ObjectType
  readonly bytes: Uint8Array
  readonly oid: string
}

function make(type: ObjectType, content: Uint8Array | string): Made {
  const bytes = typeof content === 'string' ? utf8(content) : content
  return { type, bytes, oid: hashObject(type, bytes) }
}

const blob = (text: string) => make(BLOB, text)
const tree = (...entries: readonly [mode: string, name: string, oid: string][]) =>
  make(TREE, concat(...entries.map(([mode, name, oid]) => concat(utf8(`${mode} ${name}\0`), oidToBytes(oid)))))
const commit = (root: string, parents: readonly string[] = [], time = 5, message = '') =>
  make(
    COMMIT,
    `tree ${root}\n${parents.map((parent) => `parent ${parent}\n`).join('')}` +
      `author A <a@b> 1 +0000\ncommitter C <c@d> ${time} +0000\n\n${message}`,
  )
const tag = (target: Made, type = 'commit') => make(TAG, `object ${target.oid}\ntype ${type}\ntag t\n\n`)

const packOf = (...objects: readonly Made[]) => buildPack(objects.map(({ type, bytes }) => objectEntry(type, bytes)))

/** What each commit of the pack lists. */
function listsOf(pack: TestPack): Map<string, Set<string>> {
  const lists = new Map<string, Set<string>>()
  for (let at = 0; at < pack.graph.commits; at++) {
    const objects = Array.from(pack.graph.objects(at), (reference) => referenceOid(pack, reference))
    expect(new Set(objects).size).toBe(objects.length)
    lists.set(pack.index.oid(pack.graph.ordinals[at]!), new Set(objects))
  }
  return lists
}

const NOWHERE = 'ab'.repeat(20)
const a = blob('a')
const b = blob('b')
const inner = tree(['100644', 'a', a.oid])
const root = tree(['100644', 'b', b.oid], ['40000', 'dir', inner.oid])
const first = commit(root.oid)

/** Some packs have tens of thousands of entries. */
const TIMEOUT_MS = 30_000

describe('the graph of a pack', { timeout: TIMEOUT_MS }, () => {
  it('lists for a commit what is new in it', async () => {
    const c = blob('c')
    const changed = tree(['100644', 'b', b.oid], ['100644', 'c', c.oid], ['40000', 'dir', inner.oid])
    const second = commit(changed.oid, [first.oid], 9)
    const same = commit(changed.oid, [second.oid], 7)
    const pack = await ingest(packOf(second, a, same, first, changed, root, inner, b, c))
    expect(listsOf(pack)).toEqual(
      new Map([
        [second.oid, new Set([changed.oid, c.oid])],
        [same.oid, new Set()],
        [first.oid, new Set([root.oid, a.oid, b.oid, inner.oid])],
      ]),
    )
    expect([...pack.graph.generations]).toEqual([2, 3, 1])
    expect([...pack.graph.times]).toEqual([9, 7, 5])
    expect(referenceOid(pack, pack.graph.parents(1)[0]!)).toBe(second.oid)
    expect(referenceOid(pack, pack.graph.trees[1]!)).toBe(changed.oid)
  })

  it('lists nothing of what any parent of a merge has', async () => {
    const left = tree(['100644', 'l', a.oid])
    const right = tree(['100644', 'r', b.oid])
    const both = tree(['100644', 'l', a.oid], ['100644', 'r', b.oid])
    const [one, two] = [commit(left.oid), commit(right.oid)]
    const merge = commit(both.oid, [one.oid, two.oid, one.oid])
    const pack = await ingest(packOf(merge, one, two, left, right, both, a, b))
    expect(listsOf(pack).get(merge.oid)).toEqual(new Set([both.oid]))
    expect(Array.from(pack.graph.parents(0), (parent) => referenceOid(pack, parent))).toEqual([
      one.oid,
      two.oid,
      one.oid,
    ])
  })

  it('lists no submodule and misses none', async () => {
    const withModule = tree(['160000', 'module', NOWHERE])
    const pack = await ingest(packOf(commit(withModule.oid), withModule), { strict: true })
    expect(pack.ingested.missing).toEqual([])
    expect([...listsOf(pack).values()]).toEqual([new Set([withModule.oid])])
  })

  it('counts an object that is in the pack twice once, where the index finds it', async () => {
    const pack = await ingest(packOf(a, first, root, first, inner, root, b, a, tag(first), tag(first)))
    expect(pack.graph.commits).toBe(1)
    expect(pack.graph.tags).toBe(1)
    expect([...pack.graph.ordinals]).toEqual([1])
    expect([...pack.graph.tagOrdinals]).toEqual([8])
    expect([...pack.graph.objects(0)].sort()).toEqual([0, 2, 4, 6])
  })

  it('counts it once also where the first of the two is a delta, known later than the other', async () => {
    const again = refDeltaEntry(
      root.oid,
      delta(root.bytes.length, first.bytes.length, concat(Uint8Array.of(first.bytes.length), first.bytes)),
    )
    // As a delta on a tree it becomes a tree of those bytes, which is malformed: not the commit.
    const onCommit = refDeltaEntry(
      commit(root.oid, [], 6).oid,
      delta(first.bytes.length, first.bytes.length, concat(Uint8Array.of(first.bytes.length), first.bytes)),
    )
    const entries = [first, root, inner, a, b, commit(root.oid, [], 6)].map(({ type, bytes }) =>
      objectEntry(type, bytes),
    )
    const pack = await ingest(buildPack([onCommit, ...entries]))
    expect(pack.index.find(oidToBytes(first.oid))).toBe(0)
    expect([...pack.graph.ordinals]).toEqual([0, 6])
    await expect(ingest(buildPack([again, ...entries]), { strict: true })).rejects.toThrow(ForbiddenObjectError)
  })

  it('names all that is missing, each once: of commits, trees, tags, and trees that no commit has', async () => {
    const [x, y, z] = [blob('x'), blob('y'), blob('z')]
    const lone = tree(['100644', 'x', x.oid])
    const half = tree(['100644', 'y', y.oid], ['40000', 'z', lone.oid])
    const orphan = commit(half.oid, [first.oid])
    const pack = await ingest(packOf(orphan, half, lone, tag(z, 'blob'), commit(root.oid, [], 1)))
    expect(new Set(pack.ingested.missing)).toEqual(new Set([first.oid, x.oid, y.oid, z.oid, root.oid]))
    expect(listsOf(pack).get(orphan.oid)).toEqual(new Set([half.oid, lone.oid]))
    const stray = await ingest(packOf(lone))
    expect(stray.ingested.missing).toEqual([x.oid])
  })

  it('misses nothing that an earlier pack has', async () => {
    const earlier = [await ingest(packOf(first, root, inner, a, b))]
    const c = blob('c')
    const next = tree(['100644', 'b', b.oid], ['100644', 'c', c.oid], ['40000', 'dir', inner.oid])
    const pack = await ingest(packOf(commit(next.oid, [first.oid]), next, c, tag(first)), { earlier, strict: true })
    expect(pack.ingested.missing).toEqual([])
    expect([...listsOf(pack).values()]).toEqual([new Set([next.oid, c.oid])])
    expect([...pack.graph.generations]).toEqual([2])
    expect(referenceOid(pack, pack.graph.tagTargets[0]!)).toBe(first.oid)
    // An old tree that comes back is listed with all that hangs below it: its objects may be elsewhere in the history.
    const back = commit(root.oid, [(await emptyCommit()).oid])
    const revert = await ingest(packOf(back, await emptyCommit(), make(TREE, '')), { earlier })
    expect(listsOf(revert).get(back.oid)).toEqual(new Set([root.oid, inner.oid, a.oid, b.oid]))
  })

  async function emptyCommit(): Promise<Made> {
    return commit(make(TREE, '').oid, [first.oid])
  }

  it.each<[string, readonly Made[]]>([
    ['a commit whose tree is a blob', [commit(a.oid), a]],
    ['a commit whose parent is a tree', [commit(inner.oid, [inner.oid]), inner, a]],
    ['a directory that is a blob', ((t) => [commit(t.oid), t, a])(tree(['40000', 'a', a.oid]))],
    ['a file that is a directory', ((t) => [commit(t.oid), t, inner, a])(tree(['100644', 'x', inner.oid]))],
    [
      'a tree that is once a file and once a directory',
      ((t) => [commit(t.oid), t, inner, a])(tree(['100644', 'x', inner.oid], ['40000', 'y', inner.oid])),
    ],
    ['a tag of a commit that is a blob', [tag(a), a]],
    ['a stray tree whose file is a commit', ((t) => [t, first, root, inner, a, b])(tree(['100644', 'x', first.oid]))],
  ])('refuses %s, or says it', async (_, objects) => {
    await expect(ingest(packOf(...objects), { strict: true })).rejects.toThrow(ForbiddenObjectError)
    const { malformed } = (await ingest(packOf(...objects))).ingested
    expect(malformed).toHaveLength(1)
    expect(malformed[0]).toMatch(/^[0-9a-f]{40}: not a (commit|tree|blob|tag)/)
  })

  it('checks the types of what earlier packs have', async () => {
    const earlier = [await ingest(packOf(first, root, inner, a, b))]
    await expect(ingest(packOf(commit(a.oid)), { earlier, strict: true })).rejects.toThrow(`${a.oid}: not a tree`)
  })

  it.each<[string, Made]>([
    ['a commit without a tree', make(COMMIT, 'author x\n\n')],
    ['a tag without a target', make(TAG, 'type commit\n')],
    ['a tree that is cut off', make(TREE, '100644 a\x0a3')],
    ['a tree with .git in it', tree(['40000', '.git', inner.oid])],
    ['a tree with a name twice', tree(['100644', 'a', a.oid], ['100644', 'a', b.oid])],
    ['a tree with a path for a name', tree(['100644', 'a/b', a.oid])],
  ])('refuses %s in a push', async (_, object) => {
    await expect(ingest(packOf(object, inner, a, b), { strict: true })).rejects.toThrow(object.oid)
    const pack = await ingest(packOf(commit(object.type === TREE ? object.oid : inner.oid), object, inner, a, b))
    expect(pack.index.entries).toBe(5)
  })

  it('takes a history of 10,000 commits without a deep stack, in any order', async () => {
    const commits: Made[] = [commit(inner.oid)]
    for (let i = 1; i < 10_000; i++) commits.push(commit(inner.oid, [commits[i - 1]!.oid], i))
    for (const order of [commits, commits.toReversed()]) {
      const pack = await ingest(packOf(...order, inner, a))
      expect(pack.ingested.missing).toEqual([])
      const last = order === commits ? 9_999 : 0
      expect(pack.graph.generations[last]).toBe(10_000)
    }
  })

  it('takes a merge of 5,000 parents', async () => {
    const parents = Array.from({ length: 5000 }, (_, i) => commit(inner.oid, [], i))
    const merge = commit(
      root.oid,
      parents.map((parent) => parent.oid),
    )
    const pack = await ingest(packOf(merge, ...parents, root, inner, a, b))
    expect(pack.graph.parents(0)).toHaveLength(5000)
    expect(listsOf(pack).get(merge.oid)).toEqual(new Set([root.oid, b.oid]))
  })

  it('takes commits that name one parent 50,000 times', async () => {
    const [one, two] = [commit(inner.oid), commit(inner.oid, [], 2)]
    const many = (parent: Made) => commit(inner.oid, Array(50_000).fill(parent.oid))
    const top = many(one)
    const pack = await ingest(packOf(many(top), top, many(two), one, two, inner, a))
    expect([...pack.graph.generations]).toEqual([3, 2, 2, 1, 1])
    const elsewhere = await ingest(packOf(many(one), inner, a), { earlier: [pack] })
    expect([...elsewhere.graph.generations]).toEqual([2])
  })

  it('refuses ids that were made up to crowd its tables', async () => {
    const made = Array.from({ length: 40_000 }, (_, i) => `${'ab'.repeat(16)}${i.toString(16).padStart(8, '0')}`)
    const names = made.map((oid, i): [string, string, string] => ['100644', String(i).padStart(6, '0'), oid])
    await expect(ingest(packOf(tree(...names)))).rejects.toThrow(PackError)
    await expect(ingest(packOf(tree(...names)))).rejects.toThrow('more object ids with the same first digits')
  })

  it('refuses a pack that speaks of more objects than there is room for', async () => {
    const random = new Random(6)
    const names = Array.from({ length: 200 }, (_, i) => String(i).padStart(3, '0'))
    const wide = tree(
      ...names.map((name): [string, string, string] => ['100644', name, Buffer.from(random.bytes(20)).toString('hex')]),
    )
    await expect(ingest(packOf(wide), { limits: { ...PACK_LIMITS, ids: 100 } })).rejects.toThrow(
      'more than 100 objects',
    )
  })

  it('refuses millions of parents that a few bytes of deltas make', async () => {
    const parent = `parent ${first.oid}\n`
    const bytes = utf8(`tree ${root.oid}\n${parent.repeat(200_000)}\n`)
    const large = make(COMMIT, bytes)
    const deltas = Array.from({ length: 45 }, (_, i) =>
      refDeltaEntry(
        large.oid,
        delta(bytes.length, bytes.length + 2, copy(0, bytes.length), utf8(`\x02${String(i).padStart(2, '0')}`)),
      ),
    )
    const pack = buildPack([objectEntry(COMMIT, bytes), ...deltas])
    expect(pack.length).toBeLessThan(40_000)
    await expect(ingest(pack)).rejects.toThrow(PackError)
  })
})

describe('PackGraph', () => {
  it.each<[string, (file: Uint8Array) => Uint8Array]>([
    ['nothing', () => new Uint8Array(0)],
    ['another file', (file) => file.slice().fill(0, 0, 4)],
    ['another version', (file) => file.slice().fill(200, 4, 5)],
    ['one that is cut off', (file) => file.slice(0, -1)],
    ['one that goes on', (file) => concat(file, Uint8Array.of(0))],
  ])('refuses %s', async (_, change) => {
    const { ingested } = await ingest(packOf(first, root, inner, a, b))
    expect(() => new PackGraph(change(ingested.graph))).toThrow(PackGraphError)
  })
})
