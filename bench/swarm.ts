import type { PdsRequest } from '../dev/atmosphere.ts'
import { ZERO_OID } from '../git/bytes/oid.ts'
import { commitFlat, type FlatCommit, packOf } from './flat-commit.ts'
import { median, percentile } from './measure.ts'
import { pushRaw } from './push-raw.ts'
import type { Report, Row } from './report.ts'
import { circumstances, openStage, type Stage } from './stage.ts'
import { type GatewayAgent, type Landed, startAgents } from './swarm/gateway-agent.ts'
import { findDisorder, type LoggedCommit, readLog } from './swarm/read-log.ts'
import { landBySwap, Race } from './swarm/swap-agent.ts'

/** Files of the repository before an agent comes. */
const FILES = 20
const MAIN = 'refs/heads/main'
/** What is to be reached is said for so many. More take too long to measure it often: their pushes grow with the square. */
const FLEET = 16
/** Commits of each agent, one after the other, where it is measured how long that goes on. */
const COMMITS_EACH = 50
/** At both ends of a long run, in milliseconds: long enough for several landings. */
const END = 1_000

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
  const run = await sustained(stage, agents)
  return {
    bench: 'swarm',
    other: 'compare-and-swap',
    rows: [
      ...compare('one branch', samples.gateway, samples.swap, count >= FLEET ? '<= 0.1' : null),
      most('one branch: landings', samples.gateway, 'landings', 'landings', count <= FLEET ? '<= 3' : '<= 4'),
      ...compare('own branches', samples.own, samples.swap, null),
      most('own branches: writes', samples.own, 'applyWrites', 'writes', '<= 8'),
      ...run,
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

function writesOf(requests: readonly PdsRequest[]): { applyWrites: number; writePoints: number } {
  const writes = requests.filter(({ path }) => path.endsWith('com.atproto.repo.applyWrites'))
  return { applyWrites: writes.length, writePoints: writes.reduce((sum, { writePoints }) => sum + writePoints, 0) }
}

/** A new repository with these branches, all on one commit. */
async function pushBase(
  stage: Stage,
  name: string,
  refs: readonly string[],
): Promise<{ repo: string; base: FlatCommit }> {
  const { alice } = stage
  const files = Array.from({ length: FILES }, (_, n): [string, string] => [`file-${n}.txt`, `file ${n}\n`])
  const base = commitFlat({ parent: null, write: new Map(files), message: 'base', time: 1_700_000_000 })
  const updates = refs.map((ref) => ({ name: ref, from: ZERO_OID, to: base.oid }))
  await pushRaw(stage.readUrl(name), alice, updates, packOf(base.objects))
  return { repo: `${alice.handle}/${name}`, base }
}

/** Each agent has looked at its branch, as it will have before it changes something, and is connected by that. */
async function lookAround(agents: readonly GatewayAgent[], repo: string, branches: readonly string[]): Promise<void> {
  await Promise.all(
    agents.map(async ({ connection }, n) => {
      const ref = encodeURIComponent(branches[n % branches.length] as string)
      const { status, body } = await connection.send(`/xrpc/dev.skein.git.getCommit?repo=${repo}&ref=${ref}`)
      if (status !== 200) throw new Error(`a look was answered ${status}: ${body}`)
    }),
  )
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

/** A commit of a long run. Times in milliseconds since its start. */
interface Done {
  readonly subject: string
  readonly landed: Landed
  readonly from: number
  readonly to: number
}

/** Each agent commits many times to one branch, one commit after the other. */
async function sustained(stage: Stage, agents: readonly GatewayAgent[]): Promise<Row[]> {
  const { repo } = await pushBase(stage, 'sustained', [MAIN])
  await lookAround(agents, repo, ['main'])
  const before = stage.atmosphere.requests.length
  const done: Done[] = []
  const start = performance.now()
  await Promise.all(
    agents.map(async (agent, n) => {
      for (let k = 0; k < COMMITS_EACH; k++) {
        const from = performance.now() - start
        const subject = `agent ${n} commit ${k}`
        const landed = await agent.land(repo, 'main', `agent-${n}.txt`, `${subject}\n`, subject)
        done.push({ subject, landed, from, to: performance.now() - start })
      }
    }),
  )
  const writes = writesOf(stage.atmosphere.requests.slice(before))
  const log = await cloneLog(stage, 'sustained')
  const seconds = Math.max(...done.map(({ to }) => to)) / 1_000
  const fifth = Math.floor(done.length / 5)
  const latency = (some: readonly Done[]) => median(some.map(({ from, to }) => to - from))
  const ends = timesAtEnds(done)
  const name = `${agents.length} × ${COMMITS_EACH}`
  const single = (what: string, ours: number, unit: string, reach: string | null): Row => {
    return { name: `${name}: ${what}`, ours, other: null, unit, reach }
  }
  return [
    single('commits a second', done.length / seconds, '/s', null),
    single(
      'p50',
      percentile(
        done.map(({ from, to }) => to - from),
        50,
      ),
      'ms',
      null,
    ),
    single(
      'p95',
      percentile(
        done.map(({ from, to }) => to - from),
        95,
      ),
      'ms',
      null,
    ),
    single('applyWrites', writes.applyWrites, 'writes', null),
    single('write points', writes.writePoints, 'points', null),
    single('time a commit, last second against first', (100 * ends.last) / ends.first, '%', '<= 120'),
    single(
      'p50, last fifth against first',
      (100 * latency(done.slice(-fifth))) / latency(done.slice(0, fifth)),
      '%',
      '<= 120',
    ),
    single('commits that are not in a clone exactly once', countWrong(done, log), 'commits', '<= 0'),
    single('commits out of order', findDisorder(log).length, 'commits', '<= 0'),
  ]
}

/**
 * The time a commit at both ends of a run: from its start to the first landing after a second, and back from its end to
 * the last landing that leaves a second. By whole landings, since what lands together is told together.
 */
function timesAtEnds(done: readonly Done[]): { readonly first: number; readonly last: number } {
  const landings = [...Map.groupBy(done, ({ landed }) => landed.landing.id).values()]
    .map((commits) => ({ commits: commits.length, at: Math.max(...commits.map(({ to }) => to)) }))
    .sort((a, b) => a.at - b.at)
  const end = landings.at(-1)?.at ?? 0
  const firstUpTo = landings.find(({ at }) => at >= Math.min(END, end))?.at ?? end
  const lastFrom = landings.findLast(({ at }) => at <= Math.max(end - END, 0))?.at ?? 0
  const rate = (from: number, to: number) => {
    const commits = landings
      .filter(({ at }) => at > from && at <= to)
      .reduce((sum, landing) => sum + landing.commits, 0)
    return (to - from) / commits
  }
  return { first: rate(0, firstUpTo), last: rate(lastFrom, end) }
}

/** Of `main`, as a fresh clone has it, which is checked. */
async function cloneLog({ git, readUrl, path }: Stage, name: string): Promise<LoggedCommit[]> {
  const directory = path(`${name}.git`)
  await git.run(['clone', '--quiet', '--bare', readUrl(name), directory])
  await git.run(['fsck', '--strict', '--no-dangling'], { cwd: directory })
  return readLog(git, directory, 'main')
}

/** Of those that were answered, how many are not there, or not as they were answered; and what is there beside them. */
function countWrong(done: readonly Done[], log: readonly LoggedCommit[]): number {
  const present = new Map(log.map(({ oid, subject }) => [oid, subject]))
  const absent = done.filter(({ subject, landed }) => present.get(landed.commit) !== subject).length
  // The first is the base.
  return absent + Math.abs(log.length - 1 - done.length)
}
