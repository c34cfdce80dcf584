import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { costs, type Measured, monthAwake, PRICES_READ, STORAGE } from './cost/prices.ts'
import { USAGE_PATH, type Usage } from './cost/usage.ts'
import type { Fact, Report, Row } from './report.ts'
import { cpuOf } from './server-cpu.ts'
import { SmallPushes } from './small-pushes.ts'
import { circumstances, copySource, LONG_TIMEOUT, openStage, type Stage } from './stage.ts'
import { pushBase } from './swarm/base-repository.ts'
import { startAgents } from './swarm/gateway-agent.ts'
import { MADE_ANEW } from './upload-pack-request.ts'

/** Milliseconds to the PDS: a Durable Object is billed for the time that it waits. */
const ROUND_TRIP = 50
const CLONES = 10
const WRITES = 50
const AGENTS = 16
const ROUNDS_OF_AGENTS = 4
/** Objects do their chores a second after they were needed: nothing has changed for so long when they are through. */
const QUIET_MILLISECONDS = 2_500
const MAIN = 'refs/heads/main'
const METERED = { entry: 'bench/cost/metered-worker.ts', roundTripMilliseconds: ROUND_TRIP }
const MINUTE = 60_000
const MINUTES_A_MONTH = 30 * 24 * 60

interface Scenario {
  readonly name: string
  /** How many of what is measured `run` does. */
  readonly times: number
  readonly run: () => Promise<unknown>
}

/**
 * What the edge does for a clone, a push and a commit that Cloudflare bills, counted in the local runtime, and what that
 * costs at the published prices, without what the plan includes. CPU time is that of the whole runtime, in which there
 * are also a local R2 and D1: it is too much, not too little.
 */
export async function benchCost({ repository }: { repository: string }): Promise<Report> {
  const following = await measureFollowing()
  await using stage = await openStage(METERED)
  const { git, edge, alice } = stage
  const source = await copySource(stage, repository)
  const target = stage.path('clone')
  const push = ['push', '--quiet', stage.atEdge('cost'), ...source.refspecs]
  await git.run(push, { cwd: source.directory, timeoutMilliseconds: LONG_TIMEOUT })
  const clone = (options: readonly string[]) => async () => {
    for (let n = 0; n < CLONES; n++) await cloneOnce(options)
  }
  const cloneOnce = async (options: readonly string[]) => {
    await rm(target, { recursive: true, force: true })
    const args = [...options, 'clone', '--quiet', '--bare', stage.atEdge('cost'), target]
    await git.run(args, { timeoutMilliseconds: LONG_TIMEOUT })
  }
  const small = new SmallPushes(edge.url, alice, 'small')
  await small.push()
  await small.push()
  const agents = await startAgents(edge.url, alice, AGENTS)
  const { repo } = await pushBase(stage, 'commits', [MAIN])
  const commit = async (agent: number, n: number) => {
    await agents[agent]?.land(repo, 'main', `agent-${agent}.txt`, `${n}\n`, `commit ${n}`)
  }
  // Meters are put on when something is first used; caches are filled.
  await cloneOnce([])
  await commit(0, 0)

  const scenarios: Scenario[] = [
    { name: 'clone, as others have asked before', times: CLONES, run: clone([]) },
    { name: 'clone, answer made anew', times: CLONES, run: clone(MADE_ANEW) },
    {
      name: 'push of one commit, and its chores',
      times: WRITES,
      run: async () => {
        for (let n = 0; n < WRITES; n++) await small.push()
      },
    },
    {
      name: 'fetch of one commit',
      times: WRITES,
      run: async () => {
        for (let n = 0; n < WRITES; n++) await small.fetch()
      },
    },
    {
      name: 'commit by the gateway, one after the other',
      times: WRITES,
      run: async () => {
        for (let n = 1; n <= WRITES; n++) await commit(n % AGENTS, n)
      },
    },
    {
      name: `commit by the gateway, ${AGENTS} at once`,
      times: AGENTS * ROUNDS_OF_AGENTS,
      run: async () => {
        for (let n = 1; n <= ROUNDS_OF_AGENTS; n++) {
          await Promise.all(agents.map((_, agent) => commit(agent, WRITES + n)))
        }
      },
    },
  ]
  const rows: Row[] = []
  for (const { name, times, run } of scenarios) rows.push(...toRows(name, await measure(stage, times, run)))

  await edge.wipe()
  const first = await measure(stage, 1, () => cloneOnce([]))
  rows.push(...toRows('first clone: the repository is read from its account', first))
  const bytes = await bytesBelow(join(stage.path('edge'), 'v3', 'r2'))
  const month = monthAwake()
  return {
    bench: 'cost',
    other: 'nothing',
    rows: [
      ...rows,
      ...toRows('push of one commit, and the same heard of and indexed', following.push),
      ...toRows('a minute of following, in which nothing happens', following.minute),
      row('a month of following, the object awake not counted', '$', priceOf(following.minute) * MINUTES_A_MONTH),
      row('1,000 mirrors like this one, a month', '$', (1_000 * bytes * STORAGE.r2) / 1e9),
      row('an object that is awake all month', '$', month.price),
    ],
    facts: {
      ...source.facts,
      r2_bytes_of_the_mirror: bytes,
      awake_all_month_GB_s: Math.round(month.gigabyteSeconds),
      m$: 'thousandths of a US dollar, for 1,000 of them',
      prices_read: PRICES_READ,
      round_trip_to_the_PDS_ms: ROUND_TRIP,
      ...(await circumstances(stage)),
    } satisfies Record<string, Fact>,
  }
}

/** An edge that follows its PDS. What pushes cost more than without are the events and the index. */
async function measureFollowing(): Promise<{ push: Measured; minute: Measured }> {
  await using stage = await openStage({ ...METERED, isFollowing: true })
  const small = new SmallPushes(stage.edge.url, stage.alice, 'followed')
  await small.push()
  await small.push()
  await whenQuiet(stage)
  const push = await measure(stage, WRITES, async () => {
    for (let n = 0; n < WRITES; n++) await small.push()
  })
  // The cron of a minute, and the heartbeats of the object.
  const minute = await measure(stage, 1, () => setTimeout(MINUTE))
  return { push, minute }
}

/** @returns what one of so many has taken, on average */
async function measure(stage: Stage, times: number, run: () => Promise<unknown>): Promise<Measured> {
  const before = await readMeasured(stage)
  await run()
  const after = await whenQuiet(stage)
  const keys = Object.keys(after) as (keyof Measured)[]
  return Object.fromEntries(keys.map((key) => [key, (after[key] - before[key]) / times])) as unknown as Measured
}

async function whenQuiet(stage: Stage): Promise<Measured> {
  for (let usage = await readUsage(stage); ; ) {
    await setTimeout(QUIET_MILLISECONDS)
    const next = await readUsage(stage)
    if (JSON.stringify(next) === JSON.stringify(usage)) return readMeasured(stage)
    usage = next
  }
}

async function readMeasured(stage: Stage): Promise<Measured> {
  const { edge } = stage
  return {
    ...(await readUsage(stage)),
    cpuMilliseconds: await cpuOf(await edge.pid()),
    logLines: edge.logs.length,
  }
}

async function readUsage({ edge }: Stage): Promise<Usage> {
  return (await (await fetch(`${edge.url}${USAGE_PATH}`)).json()) as Usage
}

const UNITS: Readonly<Record<keyof Measured, readonly [string, string]>> = {
  requests: ['Workers', 'requests'],
  cpuMilliseconds: ['Workers: CPU, at most', 'ms'],
  objectRequests: ['objects: requests and alarms', 'requests'],
  objectMilliseconds: ['objects: duration', 'ms'],
  objectRowsRead: ['objects: read', 'rows'],
  objectRowsWritten: ['objects: written', 'rows'],
  classA: ['R2: class A', 'operations'],
  classB: ['R2: class B', 'operations'],
  databaseRowsRead: ['D1: read', 'rows'],
  databaseRowsWritten: ['D1: written', 'rows'],
  messages: ['Queues', 'messages'],
  logLines: ['logs', 'lines'],
}

function toRows(name: string, measured: Measured): Row[] {
  const counts = (Object.keys(UNITS) as (keyof Measured)[]).filter((key) => measured[key] > 0)
  const parts = costs(measured).filter(({ price }) => price > 0)
  return [
    ...counts.map((key) => row(`${name}: ${UNITS[key][0]}`, UNITS[key][1], measured[key])),
    // A millionth of a dollar for one is a thousandth for 1,000.
    ...parts.map((part) => row(`${name}: price of ${part.name}`, 'm$', part.price * 1e6)),
    row(`${name}: price`, 'm$', priceOf(measured) * 1e6),
  ]
}

/** US dollars, of one. */
function priceOf(measured: Measured): number {
  return costs(measured).reduce((sum, { price }) => sum + price, 0)
}

function row(name: string, unit: string, ours: number): Row {
  return { name, ours, other: null, unit, reach: null }
}

async function bytesBelow(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const blobs = entries.filter((entry) => entry.isFile() && entry.parentPath.includes('blobs'))
  const sizes = await Promise.all(blobs.map(async (file) => (await stat(join(file.parentPath, file.name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}
