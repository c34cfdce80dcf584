import { describe, expect, it } from 'vitest'
import { REQUEST_MEMORY } from '../../../git/bytes/memory-account.ts'
import { BufferRange } from '../../../git/bytes/range.ts'
import type { PackHandle } from '../../../git/graph/pack-handle.ts'
import { RepositoryGraph } from '../../../git/graph/repository-graph.ts'
import { PackError } from '../../../git/pack/entry-header.ts'
import { MissingBaseError } from '../../../git/pack/resolve-deltas.ts'
import { verifyPack } from '../../../git/pack/verify-pack.ts'
import { linksByOid, split } from '../cut-parts.ts'
import { GIT_TIME, ScratchRepository } from '../git.ts'
import { manyObjects } from '../many-objects.ts'
import { clone, ingest, ingestAll, linksOf, packOf, seededRandom } from '../packs.ts'
import { pushes } from '../pushes.ts'
import { randomHistory } from '../random-history.ts'

function standsOnOthers({ index }: PackHandle): boolean {
  const bases = Array.from({ length: index.entries }, (_, entry) => index.base(entry))
  return bases.some((base) => base !== null && 'oid' in base)
}

describe.each([1, 2, 3, 4])('a pack of a random history that is cut into several (seed %i)', (seed) => {
  it('says the same of its commits as whole, and is cloned the same', GIT_TIME, async () => {
    const random = seededRandom(seed)
    using history = randomHistory(random, 60)
    const tips = [...history.commits, ...history.tags.map((tag) => `refs/tags/${tag}`)]
    const bytes = packOf(history.repository, tips, seed % 2 === 0 ? [] : ['--no-reuse-delta', '--window=40'])
    const whole = await ingest(bytes)
    const { packs, linked } = await split(bytes, [], { entries: () => 1 + random(40) })
    expect(packs.length).toBeGreaterThan(3)
    expect(linked.missing).toEqual([])
    expect(linksByOid(packs)).toEqual(linksByOid([whole]))
    using client = new ScratchRepository({ bare: true })
    client.git(['index-pack', '--stdin', '--strict'], await clone(packs, history.commits))
    for (const [i, oid] of history.commits.entries()) client.git(['update-ref', `refs/tips/${i}`, oid])
    client.git(['fsck', '--strict'])
  })

  it('may be thin, and may be followed by others', GIT_TIME, async () => {
    const random = seededRandom(seed)
    using history = randomHistory(random, 40)
    const all = pushes(history, random, 3)
    const [first] = await ingestAll(all.slice(0, 1))
    const { packs } = await split(all[1]!, [first!], { entries: () => 1 + random(20), bytes: 3000 })
    const before = [first!, ...packs]
    const last = await ingest(all[2]!, before)
    using client = new ScratchRepository({ bare: true })
    client.git(['index-pack', '--stdin', '--strict'], await clone([...before, last], history.commits))
    for (const [i, oid] of history.commits.entries()) client.git(['update-ref', `refs/tips/${i}`, oid])
    client.git(['fsck', '--strict'])
  })
})

describe.each(['ofs', 'ref'] as const)('deltas that name their base by %s', (deltas) => {
  it('stand on bases in older parts', GIT_TIME, async () => {
    const { pack, objects, tip } = manyObjects({ commits: 200, files: 24, deltas })
    const { packs } = await split(pack, [], { entries: () => 700 })
    expect(packs.map(({ index }) => index.entries)).toEqual([...Array(7).fill(700), 300])
    expect(packs.map(standsOnOthers)).toEqual([false, ...Array(7).fill(true)])
    using client = new ScratchRepository({ bare: true })
    client.git(['index-pack', '--stdin', '--strict'], await clone(packs, [tip]))
    client.git(['update-ref', 'refs/heads/main', tip])
    client.git(['fsck', '--strict'])
    expect(client.text(['cat-file', '--batch-all-objects', '--batch-check', '--unordered']).split('\n')).toHaveLength(
      objects,
    )
  })
})

it('a part ends with the entry that passes its bytes', async () => {
  const { pack, tip } = manyObjects({ commits: 40, files: 4, largeFile: 3000 })
  const { packs } = await split(pack, [], { entries: () => 1e6, bytes: 20_000 })
  for (const { data } of packs.slice(0, -1)) expect(data.size).toBeGreaterThan(20_000)
  for (const { data } of packs) expect(data.size).toBeLessThan(20_000 + 3200)
  using client = new ScratchRepository({ bare: true })
  client.git(['index-pack', '--stdin', '--strict'], await clone(packs, [tip]))
})

it('tells what its objects lack', async () => {
  using repository = new ScratchRepository({ bare: true })
  const blob = repository.store('blob', 'elsewhere\n')
  const tree = repository.text(['mktree'], `100644 blob ${blob}\tfile\n`)
  const commit = repository.text(['commit-tree', '-m', 'message', tree])
  const bytes = repository.git(['pack-objects', '--stdout', '-q'], `${commit}\n${tree}\n`)
  const { packs, linked } = await split(bytes, [], { entries: () => 1 })
  expect(linked.missing).toEqual([blob])
  expect(packs.map((pack) => linksOf(pack).missing)).toEqual([[blob], [blob]])
})

it('a delta whose base comes in a later part lacks it', async () => {
  const { pack } = manyObjects({ commits: 40, files: 4, deltas: 'ref', basesLast: true })
  await expect(split(pack, [], { entries: () => 100 })).rejects.toThrow(MissingBaseError)
  expect((await split(pack, [], { entries: () => 1e6 })).packs).toHaveLength(1)
})

it('a pack that is not all there is refused before it is cut', async () => {
  const { pack } = manyObjects({ commits: 4, files: 4 })
  const changed = pack.slice()
  changed[100]! ^= 1
  for (const bytes of [changed, pack.subarray(0, -1), pack.subarray(0, 20), new Uint8Array(40)]) {
    await expect(verifyPack(new BufferRange(bytes))).rejects.toThrow(PackError)
  }
})

it('more than half a million objects take no more memory than a request may hold', { timeout: 120_000 }, async () => {
  const { pack, objects, tip } = manyObjects({ commits: 21_000, files: 24 })
  expect(objects).toBeGreaterThan(500_000)
  const peaks: number[] = []
  const { packs } = await split(pack, [], { entries: () => 250_000, peaks })
  expect(packs).toHaveLength(3)
  expect(Math.max(...peaks)).toBeLessThanOrEqual(REQUEST_MEMORY)
  const graph = new RepositoryGraph(packs)
  expect(graph.generation(graph.find(tip))).toBe(21_000)
})
