import { describe, expect, it } from 'vitest'
import type { Oid } from '../../../git/bytes/oid.ts'
import type { PackHandle } from '../../../git/graph/pack-handle.ts'
import { RepositoryGraph } from '../../../git/graph/repository-graph.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import { type WritePackOptions, writePack } from '../../../git/pack/write-pack.ts'
import { type FetchPlan, planFetch } from '../../../git/walk/plan-fetch.ts'
import { ScratchRepository } from '../git.ts'
import { ingestAll, packOf, seededRandom } from '../packs.ts'
import { concat } from '../protocol/wire.ts'
import { type RandomHistory, randomHistory } from '../random-history.ts'

/** Ids of a plan's objects, sorted. */
function planned(packs: readonly PackHandle[], plan: FetchPlan): Oid[] {
  return plan.selection
    .flatMap((ordinals, pack) => [...ordinals].map((ordinal) => packs[pack]!.index.oid(ordinal)))
    .sort()
}

/** Ids of all that some objects reach, and of no other, sorted. */
function reachable(repository: ScratchRepository, wants: readonly Oid[], haves: readonly Oid[] = []): Oid[] {
  const revisions = [...wants, ...haves.map((oid) => `^${oid}`)].join('\n')
  const list = repository.text(['rev-list', '--objects', '--no-object-names', '--stdin'], `${revisions}\n`)
  return list === '' ? [] : [...new Set(list.split('\n'))].sort()
}

/** The history as a series of pushes: packs of what is new at each step, thin now and then. */
function pushes(history: RandomHistory, random: (limit: number) => number, count: number): Uint8Array[] {
  const { repository, commits, tags } = history
  const packs: Uint8Array[] = []
  let pushed: Oid[] = []
  for (let push = 1; push <= count; push++) {
    const upTo = push === count ? commits.length : Math.floor((commits.length * push) / count)
    const tips = commits.slice(0, upTo)
    if (push === count) tips.push(...tags.map((tag) => repository.text(['rev-parse', tag])))
    const options = random(2) === 0 ? ['--thin'] : []
    packs.push(
      packOf(repository, [...tips, ...pushed.map((oid) => `^${oid}`)], [...options, `--window=${2 + random(20)}`]),
    )
    // A pusher does not know all that the server has: some objects are sent twice.
    pushed = tips.filter(() => random(3) > 0)
  }
  return packs
}

/** A client that has what `haves` reach takes in the pack, and then has what `wants` reach, sound and whole. */
function receive(history: RandomHistory, pack: Uint8Array, wants: readonly Oid[], haves: readonly Oid[]): void {
  using client = new ScratchRepository({ bare: true })
  if (haves.length > 0) client.git(['index-pack', '--stdin', '--strict'], packOf(history.repository, haves))
  client.git(['index-pack', '--stdin', '--fix-thin'], pack)
  for (const [i, oid] of wants.entries()) client.git(['update-ref', `refs/tips/${i}`, oid])
  client.git(['fsck', '--strict', '--connectivity-only'])
  expect(reachable(client, wants)).toEqual(reachable(history.repository, wants))
  client.git(['fsck', '--strict'])
}

async function written(
  packs: readonly PackHandle[],
  plan: FetchPlan,
  options: Partial<WritePackOptions> = {},
): Promise<Uint8Array> {
  const pack = writePack(packs, plan.selection, {
    ofsDelta: true,
    client: null,
    objects: new PackedObjects(packs),
    ...options,
  })
  const chunks: Uint8Array[] = []
  for await (const chunk of pack.chunks()) chunks.push(chunk)
  return concat(chunks)
}

describe.each([1, 2, 3, 4, 5, 6, 7, 8])('a random history (seed %i)', (seed) => {
  it('is cloned and fetched as git would', { timeout: 60_000 }, async () => {
    const random = seededRandom(seed)
    using history = randomHistory(random, 30 + random(50))
    const { repository, commits, tags } = history
    const packs = await ingestAll(pushes(history, random, 1 + random(5)))
    const graph = new RepositoryGraph(packs)
    const objects = new PackedObjects(packs)
    const tips = [...commits, ...tags.map((tag) => repository.text(['rev-parse', tag]))]
    const some = (list: readonly Oid[], most: number) =>
      Array.from({ length: 1 + random(most) }, () => list[random(list.length)]!)

    const all = await planFetch(graph, { wants: tips, haves: [] }, objects)
    expect(planned(packs, all)).toEqual(reachable(repository, tips))
    expect(all.objects).toBe(planned(packs, all).length)
    receive(history, await written(packs, all), tips, [])

    for (let round = 0; round < 4; round++) {
      const wants = some(tips, 4)
      const haves = random(4) === 0 ? [] : some(commits, 6)
      const plan = await planFetch(graph, { wants, haves: [...haves, 'f'.repeat(40)] }, objects)
      const ours = planned(packs, plan)
      const wanted = new Set(reachable(repository, wants))
      const had = new Set(haves.length === 0 ? [] : reachable(repository, haves))
      expect(ours.filter((oid) => !wanted.has(oid))).toEqual([])
      expect([...wanted].filter((oid) => !had.has(oid) && !ours.includes(oid))).toEqual([])
      if (haves.length === 0) expect(ours).toEqual([...wanted])
      const ourCommits = ours.filter((oid) => commits.includes(oid))
      expect(ourCommits.filter((oid) => had.has(oid))).toEqual([])
      const client = random(3) === 0 ? null : plan.client
      receive(history, await written(packs, plan, { client, ofsDelta: random(4) > 0 }), wants, haves)
    }
  })
})
