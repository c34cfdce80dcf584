import { describe, expect, it } from 'vitest'
import type { Oid } from '../../../git/bytes/oid.ts'
import type { PackHandle } from '../../../git/graph/pack-handle.ts'
import { RepositoryGraph } from '../../../git/graph/repository-graph.ts'
import { MissingObjectError } from '../../../git/object/missing-object-error.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import { type WritePackOptions, writePack } from '../../../git/pack/write-pack.ts'
import { type FetchPlan, type FindTags, planFetch } from '../../../git/walk/plan-fetch.ts'
import { GIT_TIME, ScratchRepository } from '../git.ts'
import { ingestAll, packOf, seededRandom } from '../packs.ts'
import { concat } from '../protocol/wire.ts'
import { pushes } from '../pushes.ts'
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
  for await (const chunk of pack.chunks()) chunks.push(Uint8Array.from(chunk))
  return concat(chunks)
}

describe.each([1, 2, 3, 4])('a random history (seed %i)', (seed) => {
  it('is cloned and fetched as git would', GIT_TIME, async () => {
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

    for (let round = 0; round < 3; round++) {
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

describe('planFetch', GIT_TIME, () => {
  it('sends along the tags of what it sends', async () => {
    using repository = new ScratchRepository()
    const commit = (name: string) => {
      repository.git(['commit', '-q', '--allow-empty', '-m', name])
      return repository.text(['rev-parse', 'HEAD'])
    }
    const [first, second] = [commit('first'), commit('second')]
    repository.git(['tag', '-a', '-m', 'old', 'old', first])
    repository.git(['tag', '-a', '-m', 'new', 'new', second])
    repository.git(['tag', '-a', '-m', 'outer', 'outer', 'new'])
    repository.git(['tag', 'light', second])
    const packs = await ingestAll([packOf(repository, [], ['--all'])])
    const graph = new RepositoryGraph(packs)
    const tags = ['old', 'new', 'outer', 'light'].map((name) => {
      const [target, peeled] = [repository.text(['rev-parse', name]), repository.text(['rev-parse', `${name}^{}`])]
      return { target, peeled: peeled === target ? null : peeled }
    })
    const asked: (readonly Oid[] | null)[] = []
    const findTags: FindTags = async (peeled) => {
      asked.push(peeled)
      return tags
    }
    const plan = await planFetch(graph, { wants: [second], haves: [first], findTags }, new PackedObjects(packs))
    expect(planned(packs, plan)).toEqual([second, tags[1]!.target, tags[2]!.target].sort())
    expect(asked).toEqual([[second]])
  })

  it('takes wants of any type', async () => {
    using history = randomHistory(seededRandom(21), 20)
    const { repository } = history
    const packs = await ingestAll([packOf(repository, [], ['--all'])])
    const graph = new RepositoryGraph(packs)
    for (const revision of ['c20^{tree}', 't8^{}', 't7', 't8', 't6']) {
      const want = repository.text(['rev-parse', '--verify', '-q', revision])
      const plan = await planFetch(graph, { wants: [want], haves: [] }, new PackedObjects(packs))
      expect(planned(packs, plan)).toEqual(reachable(repository, [want]))
    }
  })

  it('sends nothing to a client that has all', async () => {
    using history = randomHistory(seededRandom(22), 20)
    const packs = await ingestAll([packOf(history.repository, [], ['--all'])])
    const [tip] = history.commits.slice(-1)
    const plan = await planFetch(new RepositoryGraph(packs), { wants: [tip!], haves: [tip!] }, new PackedObjects(packs))
    expect(plan.objects).toBe(0)
  })

  it('takes every object from the oldest pack that has it', async () => {
    using history = randomHistory(seededRandom(23), 20)
    const pack = packOf(history.repository, history.commits)
    const packs = await ingestAll([pack, pack])
    const plan = await planFetch(
      new RepositoryGraph(packs),
      { wants: history.commits, haves: [] },
      new PackedObjects(packs),
    )
    expect(plan.selection.map((ordinals) => ordinals.count())).toEqual([plan.objects, 0])
    expect(
      writePack(packs, plan.selection, { ofsDelta: true, client: null, objects: new PackedObjects(packs) }).verbatim,
    ).toBe(true)
  })

  it('serves packs that were taken in before what they need', async () => {
    using history = randomHistory(seededRandom(24), 30)
    const { repository, commits } = history
    const [early, late] = [packOf(repository, [commits[14]!]), packOf(repository, [...commits, `^${commits[14]}`])]
    const packs = [...(await ingestAll([late])), ...(await ingestAll([early]))]
    const graph = new RepositoryGraph(packs)
    const plan = await planFetch(graph, { wants: commits, haves: [] }, new PackedObjects(packs))
    expect(planned(packs, plan)).toEqual(reachable(repository, commits))
    receive(history, await written(packs, plan), commits, [])
  })

  it('names what is missing', async () => {
    using history = randomHistory(seededRandom(25), 30)
    const { repository, commits } = history
    const tip = commits.at(-1)!
    const parents = repository.text(['rev-list', '--parents', '-1', tip]).split(' ').slice(1)
    const packs = await ingestAll([packOf(repository, [tip, ...parents.map((oid) => `^${oid}`)])])
    const objects = new PackedObjects(packs)
    const graph = new RepositoryGraph(packs)
    const absent = 'f'.repeat(40)
    await expect(planFetch(graph, { wants: [absent], haves: [] }, objects)).rejects.toThrow(
      new MissingObjectError(absent),
    )
    await expect(planFetch(graph, { wants: [tip], haves: [] }, objects)).rejects.toThrow(
      new MissingObjectError(parents[0]!),
    )
  })
})
