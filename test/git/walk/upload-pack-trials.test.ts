import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Oid } from '../../../git/bytes/oid.ts'
import { RepositoryGraph } from '../../../git/graph/repository-graph.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import { type AdvertisedRef, resolveHead } from '../../../git/protocol/advertised-refs.ts'
import { DeepenReader } from '../../../git/protocol/deepen.ts'
import { resolveShallowUpdate } from '../../../git/protocol/shallow-info.ts'
import { planFetch } from '../../../git/walk/plan-fetch.ts'
import { GIT_TIME, ScratchRepository } from '../git.ts'
import { ingestAll, packOf, seededRandom } from '../packs.ts'
import { randomHistory } from '../random-history.ts'
import { askUploadPack, type UploadPackAnswer, type UploadPackRequest } from './upload-pack.ts'

type Random = (limit: number) => number

const TRIALS = 10
const FILTERS = ['blob:none', 'blob:limit=2500', 'tree:0', 'tree:1', 'tree:2', 'tree:3', 'object:type=tree']

/** The edge's answer to the same request. */
class Planner {
  readonly #packs: Awaited<ReturnType<typeof ingestAll>>
  readonly #graph: RepositoryGraph
  readonly #refs: readonly AdvertisedRef[]

  constructor(packs: Awaited<ReturnType<typeof ingestAll>>, repository: ScratchRepository) {
    this.#packs = packs
    this.#graph = new RepositoryGraph(packs)
    this.#refs = repository
      .text(['for-each-ref', '--format=%(refname) %(objectname)'])
      .split('\n')
      .map((line) => ({ name: line.slice(0, -41), target: line.slice(-40), peeled: null }))
  }

  async answer(request: UploadPackRequest): Promise<UploadPackAnswer> {
    const { wants, haves = [], shallow = [], lines = [], relative = false } = request
    const reader = new DeepenReader()
    for (const line of [...shallow.map((oid) => `shallow ${oid}`), ...lines]) reader.take(line)
    const deepen = reader.finish(relative)
    const refs = { head: resolveHead(this.#refs, 'main'), refs: this.#refs }
    const update = resolveShallowUpdate(deepen, wants, this.#graph, refs)
    const wish = { wants, haves, shallow, update, filter: deepen.filter }
    const plan = await planFetch(this.#graph, wish, new PackedObjects(this.#packs))
    const oids = (commits: readonly number[] = []) => commits.map((commit) => this.#graph.oid(commit)).sort()
    return {
      shallow: oids(update?.shallow),
      unshallow: oids(update?.unshallow),
      objects: plan.selection
        .flatMap((ordinals, pack) => [...ordinals].map((ordinal) => this.#packs[pack]!.index.oid(ordinal)))
        .sort(),
    }
  }
}

function some<T>(random: Random, list: readonly T[], most: number): T[] {
  return Array.from({ length: 1 + random(most) }, () => list[random(list.length)]!)
}

/**
 * How a client asks for less than all, or for more than it has.
 *
 * @param branches whose history may be left out: where a clock was wrong git leaves out too little
 */
function depthOf(random: Random, branches: number): Pick<UploadPackRequest, 'lines' | 'relative'> {
  switch (random(branches > 0 ? 6 : 5)) {
    case 0:
      return { lines: [`deepen ${1 + random(3)}`], relative: true }
    case 1:
      return { lines: [`deepen-since ${1_700_000_000 + random(20_000)}`] }
    case 2:
      return { lines: ['deepen 2147483647'] }
    case 5:
      return { lines: Array.from({ length: 1 + random(2) }, () => `deepen-not c${1 + random(branches)}`) }
    default:
      return { lines: [`deepen ${1 + random(6)}`] }
  }
}

/** Both answers, or null where git refuses (limits that leave nothing): then so must we. */
async function ask(
  planner: Planner,
  repository: ScratchRepository,
  request: UploadPackRequest,
): Promise<{ ours: UploadPackAnswer; gits: UploadPackAnswer } | null> {
  let gits: UploadPackAnswer
  try {
    gits = askUploadPack(repository, request)
  } catch (error) {
    expect(String((error as { stderr?: unknown }).stderr)).toContain('no commits selected for shallow requests')
    await expect(planner.answer(request)).rejects.toThrow('no commits selected for shallow requests')
    return null
  }
  return { ours: await planner.answer(request), gits }
}

const without = (oids: readonly Oid[], others: ReadonlySet<Oid>) => oids.filter((oid) => !others.has(oid))

/** A client with these objects, whose history ends there, lacks nothing. */
function expectSound(
  source: ScratchRepository,
  objects: readonly Oid[],
  shallow: readonly Oid[],
  tips: readonly Oid[],
) {
  using client = new ScratchRepository({ bare: true })
  const pack = source.git(['pack-objects', '--stdout', '-q'], [...new Set(objects), ''].join('\n'))
  client.git(['index-pack', '--stdin'], pack)
  if (shallow.length > 0) writeFileSync(join(client.path, 'shallow'), [...shallow, ''].join('\n'))
  client.git(['update-ref', '--stdin'], tips.map((oid, i) => `create refs/tips/${i} ${oid}\n`).join(''))
  client.git(['fsck', '--connectivity-only'])
}

describe.each([1, 2, 3, 4, 5])("a random history (seed %i), beside git's own upload-pack", GIT_TIME, (seed) => {
  it('is cut where git cuts it, and what is sent is what git sends', async () => {
    const random = seededRandom(seed * 1000)
    const steadyClock = random(2) === 0
    using history = randomHistory(random, 40 + random(40), { steadyClock })
    const { repository, commits, tags } = history
    const branches = steadyClock ? commits.length : 0
    const late = commits.slice(0, commits.length >> 1)
    const packs = await ingestAll([
      packOf(repository, late),
      packOf(repository, [...commits, ...tags, ...late.map((oid) => `^${oid}`)], ['--thin']),
    ])
    const planner = new Planner(packs, repository)
    const tips = [...commits, ...tags.map((tag) => repository.text(['rev-parse', tag]))]
    for (let trial = 0; trial < TRIALS; trial++) {
      const wants = [...new Set(some(random, tips, 3))]
      const first = await ask(planner, repository, { wants, ...depthOf(random, branches) })
      if (first === null) continue
      expect(first.ours.objects).toEqual(first.gits.objects)
      // git also names commits that it does not send.
      const sent = new Set(first.gits.objects)
      expect(first.ours.shallow).toEqual(first.gits.shallow.filter((oid) => sent.has(oid)))

      const again = {
        wants: [...new Set(some(random, commits, 3))],
        haves: wants,
        shallow: first.ours.shallow,
        ...(random(4) === 0 ? {} : depthOf(random, branches)),
      }
      const second = await ask(planner, repository, again)
      if (second === null) continue
      expect(without(second.ours.objects, sent)).toEqual(without(second.gits.objects, sent))
      expect(second.ours.unshallow).toEqual(second.gits.unshallow)
      const ends = new Set(second.ours.shallow)
      expect(without(second.ours.shallow, new Set(second.gits.shallow))).toEqual([])
      expect(without(second.gits.shallow, ends).filter((oid) => second.gits.objects.includes(oid))).toEqual([])
      const shallow = without([...first.ours.shallow, ...ends], new Set(second.ours.unshallow))
      expectSound(repository, [...sent, ...second.ours.objects], shallow, [...wants, ...again.wants])
    }
  })

  it('is filtered as git filters it', async () => {
    const random = seededRandom(seed * 2000)
    using history = randomHistory(random, 30 + random(30))
    const { repository, commits } = history
    const planner = new Planner(await ingestAll([packOf(repository, [], ['--all'])]), repository)
    for (const filter of FILTERS) {
      const deepens = random(2) === 0 ? [] : [`deepen ${1 + random(5)}`]
      const wants = [...new Set(some(random, commits, 3))]
      const answers = await ask(planner, repository, { wants, lines: [...deepens, `filter ${filter}`] })
      // Where a want is reached from another one, git may filter it out although it is wanted by its id.
      const wanted = new Set(wants)
      expect(without(answers!.ours.objects, wanted)).toEqual(without(answers!.gits.objects, wanted))
      expect(answers!.ours.objects.filter((oid) => wanted.has(oid))).toEqual(wants.toSorted())
    }
  })
})
