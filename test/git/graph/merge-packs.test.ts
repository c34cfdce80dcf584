import { describe, expect, it } from 'vitest'
import { MemoryAccount, MemoryLimitError } from '../../../git/bytes/memory-account.ts'
import type { Oid } from '../../../git/bytes/oid.ts'
import { BufferRange } from '../../../git/bytes/range.ts'
import { MERGE_BYTES_PER_OBJECT, mergePacks } from '../../../git/graph/merge-packs.ts'
import { PackGraph } from '../../../git/graph/pack-graph.ts'
import type { PackHandle } from '../../../git/graph/pack-handle.ts'
import { PackIndex } from '../../../git/pack/pack-index.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import { GIT_TIME, ScratchRepository } from '../git.ts'
import { manyObjects } from '../many-objects.ts'
import { clone, ingest, ingestAll, linksOf, packOf, seededRandom } from '../packs.ts'
import { concat } from '../protocol/wire.ts'
import { pushes } from '../pushes.ts'
import { randomHistory } from '../random-history.ts'

async function merge(packs: readonly PackHandle[], older: readonly PackHandle[], memory = new MemoryAccount()) {
  const chunks: Uint8Array[] = []
  const files: Uint8Array[] = []
  const keep = (into: Uint8Array[]) => async (bytes: Uint8Array) => void into.push(bytes.slice())
  const merged = await mergePacks(
    packs.map((pack) => ({ ...pack, graph: async () => pack.graph })),
    { write: keep(chunks), end: async () => undefined, index: keep(files), graph: keep(files) },
    { older: new PackedObjects(older), memory },
  )
  const bytes = concat(chunks)
  expect(merged.size).toBe(bytes.length)
  const [index, graph] = files as [Uint8Array, Uint8Array]
  const pack: PackHandle = { index: new PackIndex(index), graph: new PackGraph(graph), data: new BufferRange(bytes) }
  expect(merged.objects).toBe(pack.index.entries)
  return { bytes, pack }
}

/** What an index says, in words. */
function entriesOf({ index }: PackHandle) {
  return Array.from({ length: index.entries }, (_, ordinal) => ({
    oid: index.oid(ordinal),
    offset: index.offset(ordinal),
    type: index.type(ordinal),
    size: index.size(ordinal),
    base: index.base(ordinal),
  }))
}

describe.each([1, 2, 3, 4, 5, 6])('pushes of a random history (seed %i)', (seed) => {
  it('become one pack that is what its bytes say', GIT_TIME, async () => {
    const random = seededRandom(seed)
    using history = randomHistory(random, 40)
    const packs = await ingestAll(pushes(history, random, 6))
    const first = random(packs.length - 1)
    const end = first + 2 + random(packs.length - first - 1)
    const older = packs.slice(0, first)
    const { bytes, pack } = await merge(packs.slice(first, end), older)
    const ingested = await ingest(bytes, older)
    expect(entriesOf(pack)).toEqual(entriesOf(ingested))
    expect(linksOf(pack)).toEqual(linksOf(ingested))
  })

  it('are cloned the same from packs merged again and again', GIT_TIME, async () => {
    const random = seededRandom(seed)
    using history = randomHistory(random, 40)
    let packs = await ingestAll(pushes(history, random, 8))
    while (packs.length > 1) {
      const first = random(packs.length - 1)
      const end = first + 2 + random(packs.length - first - 1)
      const older = packs.slice(0, first)
      packs = [...older, (await merge(packs.slice(first, end), older)).pack, ...packs.slice(end)]
      using client = new ScratchRepository({ bare: true })
      client.git(['index-pack', '--stdin', '--strict'], await clone(packs, history.commits))
      for (const [i, oid] of history.commits.entries()) client.git(['update-ref', `refs/tips/${i}`, oid])
      client.git(['fsck', '--strict'])
    }
    // All that was pushed is in one pack now, each object once, and stands alone.
    using client = new ScratchRepository({ bare: true })
    const [last] = packs as [PackHandle]
    client.git(['index-pack', '--stdin', '--strict'], await last.data.read(0, last.data.size))
    expect(last.index.ids).toBe(last.index.entries)
  })
})

it('lists what was missing until it came, so that it is sent', GIT_TIME, async () => {
  using repository = new ScratchRepository({ bare: true })
  const blob = repository.store('blob', 'late\n')
  const tree = repository.text(['mktree'], `100644 blob ${blob}\tlate\n`)
  const commit = repository.text(['commit-tree', '-m', 'early', tree])
  const objects = (oids: string[]) => repository.git(['pack-objects', '--stdout', '-q'], `${oids.join('\n')}\n`)
  const early = await ingest(objects([commit, tree]))
  const late = await ingest(objects([blob]), [early])
  const { pack } = await merge([early, late], [])
  expect(linksOf(pack).missing).toEqual([blob])
  using client = new ScratchRepository({ bare: true })
  client.git(['index-pack', '--stdin', '--strict'], await clone([pack], [commit]))
  client.git(['update-ref', 'refs/heads/main', commit])
  client.git(['fsck', '--strict'])
})

it('keeps deltas that stand on older packs', GIT_TIME, async () => {
  using repository = new ScratchRepository({ bare: true })
  const text = (n: number) => `${Array.from({ length: 400 }, (_, line) => `line ${line} of a file`).join('\n')}\n${n}\n`
  const commits: Oid[] = []
  const packs: Uint8Array[] = []
  for (let n = 0; n < 4; n++) {
    const tree = repository.text(['mktree'], `100644 blob ${repository.store('blob', text(n))}\tfile\n`)
    const parent = commits.at(-1)
    commits.push(repository.text(['commit-tree', '-m', `${n}`, ...(parent ? ['-p', parent] : []), tree]))
    packs.push(packOf(repository, [commits.at(-1)!, ...(parent ? [`^${parent}`] : [])], ['--thin']))
  }
  const [base, ...thin] = await ingestAll(packs)
  const { pack, bytes } = await merge(thin, [base!])
  expect(bytes.length).toBeLessThan(base!.data.size)
  expect(entriesOf(pack).filter((entry) => entry.base !== null && 'oid' in entry.base).length).toBeGreaterThan(0)
  using client = new ScratchRepository({ bare: true })
  client.git(['index-pack', '--stdin', '--strict'], await clone([base!, pack], commits))
})

it('holds no more for an object than its limits count on', GIT_TIME, async () => {
  const [older, newer] = [
    manyObjects({ commits: 2000, files: 24 }),
    manyObjects({ commits: 1500, files: 30, seed: 'newer' }),
  ]
  const packs = await ingestAll([older.pack, newer.pack])
  const { objects } = packs.reduce((sum, { index }) => ({ objects: sum.objects + index.entries }), { objects: 0 })
  const memory = new MemoryAccount()
  const { pack } = await merge(packs, [], memory)
  expect(pack.index.ids).toBe(pack.index.entries)
  expect(memory.peak / objects).toBeGreaterThan(MERGE_BYTES_PER_OBJECT - 20)
  expect(memory.peak / objects).toBeLessThan(MERGE_BYTES_PER_OBJECT)
  await expect(merge(packs, [], new MemoryAccount(memory.peak - 1))).rejects.toThrow(MemoryLimitError)
})
