import { median, percentile } from './measure.ts'
import type { Report, Row } from './report.ts'
import { circumstances, openStage, type Stage } from './stage.ts'
import { lookAround, pushBase } from './swarm/base-repository.ts'
import { type GatewayAgent, startAgents } from './swarm/gateway-agent.ts'
import { writesOf } from './swarm/pds-writes.ts'
import { sustained } from './swarm/sustained.ts'
import { landBySwap, Race } from './swarm/swap-agent.ts'

const MAIN = 'refs/heads/main'
/** What is to be reached is said for so many. More take too long to measure it often: their pushes grow with the square. */
const FLEET = 16

interface SwarmOptions {
  readonly agents: number
  /** Round-trip time to the PDS, in milliseconds. */
  readonly rtt: number
  readonly rounds: number
}

/** What one commit each of all agents at once has taken. */
interface Sample {
  /** Until the last has landed. Milliseconds. */
  readonly total: number
  /** Of each agent. Milliseconds. */
  readonly times: readonly number[]
  readonly landings: number
  readonly applyWrites: number
  readonly writePoints: number
}

/**
 * A fleet commits at once: to one branch through the gateway, to one by compare-and-swap (each pushes, and fetches and
 * tries again when somebody else was first), and to a branch of its own each through the gateway. Then each commits many
 * times to one branch. The PDS is a round trip away; the agents are not.
 */
export async function benchSwarm({ agents: count, rtt, rounds }: SwarmOptions): Promise<Report> {
  await using stage = await openStage({ roundTripMilliseconds: rtt })
  const agents = await startAgents(stage.edge.url, stage.alice, count)
  const samples = { gateway: [] as Sample[], swap: [] as Sample[], own: [] as Sample[] }
  const swapRounds = count > FLEET ? 1 : rounds + 1
  for (let round = 0; round <= rounds; round++) {
    const gateway = await throughGateway(stage, agents, round)
    const swap = round <= rounds - swapRounds ? null : await bySwap(stage, agents, round)
    const own = await toOwnBranches(stage, agents, round)
    // The first warms all of them up.
    if (round === 0) continue
    samples.gateway.push(gateway)
    if (swap !== null) samples.swap.push(swap)
    samples.own.push(own)
  }
  return {
    bench: 'swarm',
    other: 'compare-and-swap',
    rows: [
      ...compare('one branch', samples.gateway, samples.swap, count >= FLEET ? '<= 0.1' : null),
      most('one branch: landings', samples.gateway, 'landings', 'landings', count <= FLEET ? '<= 3' : '<= 4'),
      ...compare('own branches', samples.own, samples.swap, null),
      most('own branches: writes', samples.own, 'applyWrites', 'writes', '<= 8'),
      ...(await sustained(stage, agents)),
    ],
    facts: {
      agents: count,
      round_trip_to_the_PDS_ms: rtt,
      rounds,
      pushes_by_compare_and_swap_at_most: Math.max(...samples.swap.map(({ landings }) => landings)),
      rounds_of_compare_and_swap: samples.swap.length,
      compare_and_swap: "git's own requests (push; after a lost race ls-refs, fetch, push) without a process of git",
      tokens: 'one an agent; no limit is raised',
      ...(await circumstances(stage)),
    },
  }
}

async function throughGateway(stage: Stage, agents: readonly GatewayAgent[], round: number): Promise<Sample> {
  const { repo } = await pushBase(stage, `gateway-${round}`, [MAIN])
  await lookAround(agents, repo, ['main'])
  return measure(stage, agents, async (agent, n) => {
    const { landing } = await agent.land(repo, 'main', `agent-${n}.txt`, `round ${round}\n`, `agent ${n}`)
    return landing.id
  })
}

async function toOwnBranches(stage: Stage, agents: readonly GatewayAgent[], round: number): Promise<Sample> {
  const branches = agents.map((_, n) => `agents/${n}`)
  const { repo } = await pushBase(stage, `own-${round}`, [MAIN, ...branches.map((branch) => `refs/heads/${branch}`)])
  await lookAround(agents, repo, branches)
  return measure(stage, agents, async (agent, n) => {
    const branch = branches[n] as string
    const { landing } = await agent.land(repo, branch, `agent-${n}.txt`, `round ${round}\n`, `agent ${n}`)
    return landing.id
  })
}

/** Its landings are the pushes that were made. */
async function bySwap(stage: Stage, agents: readonly GatewayAgent[], round: number): Promise<Sample> {
  const { repo, base } = await pushBase(stage, `swap-${round}`, [MAIN])
  const race = new Race(`/${repo}`, MAIN, base)
  await lookAround(agents, repo, ['main'])
  let pushes = 0
  const sample = await measure(stage, agents, async (agent, n) => {
    const change = { name: `agent-${n}.txt`, content: `round ${round}\n`, message: `agent ${n}` }
    const made = await landBySwap(agent, race, change)
    pushes += made
    return ''
  })
  return { ...sample, landings: pushes }
}

/** @param land lands an agent's commit. @returns by the id of the landing */
async function measure(
  { atmosphere }: Stage,
  agents: readonly GatewayAgent[],
  land: (agent: GatewayAgent, n: number) => Promise<string>,
): Promise<Sample> {
  const before = atmosphere.requests.length
  const start = performance.now()
  const landed = await Promise.all(
    agents.map(async (agent, n) => {
      const landing = await land(agent, n)
      return { landing, time: performance.now() - start }
    }),
  )
  const times = landed.map(({ time }) => time)
  return {
    total: Math.max(...times),
    times,
    landings: new Set(landed.map(({ landing }) => landing)).size,
    ...writesOf(atmosphere.requests.slice(before)),
  }
}

function compare(name: string, ours: readonly Sample[], swap: readonly Sample[], reach: string | null): Row[] {
  const row = (what: string, unit: string, of: (samples: readonly Sample[]) => number, reach: string | null): Row => {
    return { name: `${name}: ${what}`, ours: of(ours), other: of(swap), unit, reach }
  }
  const times = (samples: readonly Sample[]) => samples.flatMap((sample) => sample.times)
  const middle = (key: 'total' | 'applyWrites' | 'writePoints') => (samples: readonly Sample[]) =>
    median(samples.map((sample) => sample[key]))
  return [
    row('total', 'ms', middle('total'), reach),
    row('p50', 'ms', (samples) => percentile(times(samples), 50), null),
    row('p95', 'ms', (samples) => percentile(times(samples), 95), null),
    row('applyWrites', 'writes', middle('applyWrites'), null),
    row('write points', 'points', middle('writePoints'), null),
  ]
}

function most(
  name: string,
  samples: readonly Sample[],
  key: 'landings' | 'applyWrites',
  unit: string,
  reach: string,
): Row {
  return { name: `${name} at most`, ours: Math.max(...samples.map((sample) => sample[key])), other: null, unit, reach }
}
