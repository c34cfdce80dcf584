import { type FetchCost, lastFetch } from './fetch-cost.ts'
import { median } from './measure.ts'
import type { Report, Row } from './report.ts'
import { SmallPushes } from './small-pushes.ts'
import { circumstances, openStage, type Stage } from './stage.ts'

/** After so many pushes to one repository it is measured what one more costs. */
const STEPS = [1, 100, 2000]
/** Small requests take milliseconds: more rounds than for whole clones. */
const ROUNDS_FACTOR = 10
/** A mirror merges its packs a second after a push; it is done once so long nothing more is heard of it. Milliseconds. */
const QUIET = 3000

interface Times {
  readonly push: number[]
  readonly fetch: number[]
}

/**
 * What one small commit costs, pushed and fetched, in a repository that has had many pushes, against the same in one
 * that has had one. By bare requests, so that the times are the edge's (and, for pushes, the PDS's).
 */
export async function benchGrowth({ rounds }: { rounds: number }): Promise<Report> {
  await using stage = await openStage()
  const { edge, atmosphere, alice } = stage
  const bob = await atmosphere.createAccount({ handle: 'bob.test', password: 'bob-local' })
  const grown = new SmallPushes(edge.url, alice, 'grown')
  const rows: Row[] = []
  const costs: FetchCost[] = []
  /** Beside the one that each push makes. */
  const pdsRequests: number[] = []
  for (const step of STEPS) {
    while (grown.pushes < step) await grown.push()
    await untilQuiet(stage)
    const ours = { push: [], fetch: [] }
    const other = { push: [], fetch: [] }
    for (let round = 0; round <= rounds * ROUNDS_FACTOR; round++) {
      const fresh = new SmallPushes(edge.url, bob, `new-${step}-${round}`)
      await fresh.push()
      const requests = atmosphere.requests.length
      const turns = [
        { repository: fresh, times: other },
        { repository: grown, times: ours },
      ]
      for (const { repository, times } of round % 2 === 0 ? turns : turns.reverse()) {
        // The first round warms both up.
        await measure(repository, round === 0 ? { push: [], fetch: [] } : times)
        if (round > 0) costs.push(lastFetch(edge))
      }
      pdsRequests.push(atmosphere.requests.length - requests - turns.length)
    }
    const reach = step === STEPS.at(-1) ? '<= 1.1' : null
    const after = `after ${step} push${step === 1 ? '' : 'es'}`
    rows.push({ name: `push ${after}`, ours: median(ours.push), other: median(other.push), unit: 'ms', reach })
    rows.push({ name: `fetch ${after}`, ours: median(ours.fetch), other: median(other.fetch), unit: 'ms', reach })
  }
  await untilQuiet(stage)
  await grown.fetch()
  rows.push({ name: 'packs in R2', ours: lastFetch(edge).packs, other: null, unit: 'packs', reach: '<= 12' })
  rows.push({
    name: 'R2 reads of a fetch, at most',
    ours: Math.max(...costs.map(({ r2Reads }) => r2Reads)),
    other: null,
    unit: 'reads',
    reach: '<= 3',
  })
  rows.push({
    name: 'PDS requests of a fetch',
    ours: median(pdsRequests),
    other: null,
    unit: 'requests',
    reach: '<= 0',
  })
  const merges = edge.logs.filter(({ message }) => message.includes('"packs-merged"')).length
  return {
    bench: 'growth',
    other: 'after 1 push',
    rows,
    facts: { pushes: grown.pushes, rounds: rounds * ROUNDS_FACTOR, merges, ...(await circumstances(stage)) },
  }
}

async function measure(repository: SmallPushes, { push, fetch }: Times): Promise<void> {
  push.push(await time(() => repository.push()))
  fetch.push(await time(() => repository.fetch()))
}

async function time(action: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await action()
  return performance.now() - start
}

async function untilQuiet({ edge }: Stage): Promise<void> {
  for (let seen = -1; seen < edge.logs.length; ) {
    seen = edge.logs.length
    await new Promise((resolve) => setTimeout(resolve, QUIET))
  }
}
