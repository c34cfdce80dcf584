import { median, percentile } from '../measure.ts'
import type { Row } from '../report.ts'
import type { Stage } from '../stage.ts'
import { lookAround, pushBase } from './base-repository.ts'
import type { GatewayAgent, Landed } from './gateway-agent.ts'
import { writesOf } from './pds-writes.ts'
import { findDisorder, type LoggedCommit, readLog } from './read-log.ts'

/** Commits of each agent, one after the other. */
const COMMITS_EACH = 50
/** A run takes some seconds, and whatever else the machine does in one of them shows: the figures are medians of so many. */
const RUNS = 3
/** At both ends of a run, in milliseconds: long enough for several landings. */
const END = 1_000
/** The end of a run may take so many percent of its beginning. */
const STEADY = '<= 120'

/** A commit of a run. Times in milliseconds since its start. */
interface Done {
  readonly subject: string
  readonly landed: Landed
  readonly from: number
  readonly to: number
}

interface Run {
  /** In the order in which they were told. */
  readonly done: readonly Done[]
  readonly applyWrites: number
  readonly writePoints: number
  readonly log: readonly LoggedCommit[]
}

/** Each agent commits many times to one branch, one commit after the other: whether that goes on as it began. */
export async function sustained(stage: Stage, agents: readonly GatewayAgent[]): Promise<Row[]> {
  const runs: Run[] = []
  while (runs.length < RUNS) runs.push(await runOnce(stage, agents, `sustained-${runs.length}`))
  const name = `${agents.length} × ${COMMITS_EACH}`
  const row = (what: string, unit: string, reach: string | null, of: (run: Run) => number): Row => {
    return { name: `${name}: ${what}`, ours: median(runs.map(of)), other: null, unit, reach }
  }
  const most = (what: string, of: (run: Run) => number): Row => {
    return { name: `${name}: ${what}`, ours: Math.max(...runs.map(of)), other: null, unit: 'commits', reach: '<= 0' }
  }
  return [
    row('commits a second', '/s', null, ({ done }) => (1_000 * done.length) / endOf(done)),
    row('p50', 'ms', null, ({ done }) => percentile(timesOf(done), 50)),
    row('p95', 'ms', null, ({ done }) => percentile(timesOf(done), 95)),
    row('applyWrites', 'writes', null, ({ applyWrites }) => applyWrites),
    row('write points', 'points', null, ({ writePoints }) => writePoints),
    row('time a commit, last second against first', '%', STEADY, ({ done }) => 100 * lastSecondAgainstFirst(done)),
    row('p50, last fifth against first', '%', STEADY, ({ done }) => 100 * lastFifthAgainstFirst(done)),
    most('not in a clone exactly once', ({ done, log }) => countWrong(done, log)),
    most('out of order', ({ log }) => findDisorder(log).length),
  ]
}

async function runOnce(stage: Stage, agents: readonly GatewayAgent[], repository: string): Promise<Run> {
  const { repo } = await pushBase(stage, repository, ['refs/heads/main'])
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
  return { done, ...writes, log: await cloneLog(stage, repository) }
}

/** Of `main`, as a fresh clone has it, which is checked. */
async function cloneLog({ git, readUrl, path }: Stage, name: string): Promise<LoggedCommit[]> {
  const directory = path(`${name}.git`)
  await git.run(['clone', '--quiet', '--bare', readUrl(name), directory])
  await git.run(['fsck', '--strict', '--no-dangling'], { cwd: directory })
  return readLog(git, directory, 'main')
}

function timesOf(done: readonly Done[]): number[] {
  return done.map(({ from, to }) => to - from)
}

function endOf(done: readonly Done[]): number {
  return done.at(-1)?.to ?? 0
}

function lastFifthAgainstFirst(done: readonly Done[]): number {
  const fifth = Math.floor(done.length / 5)
  return median(timesOf(done.slice(-fifth))) / median(timesOf(done.slice(0, fifth)))
}

/**
 * The time a commit at both ends of a run: from its start to the first landing after a second, and back from its end to
 * the last landing that leaves a second. By whole landings, since what lands together is told together.
 */
function lastSecondAgainstFirst(done: readonly Done[]): number {
  const landings = [...Map.groupBy(done, ({ landed }) => landed.landing.id).values()]
    .map((commits) => ({ commits: commits.length, at: endOf(commits) }))
    .sort((a, b) => a.at - b.at)
  const end = endOf(done)
  const firstUpTo = landings.find(({ at }) => at >= END)?.at ?? end
  const lastFrom = landings.findLast(({ at }) => at <= end - END)?.at ?? 0
  const timeEach = (from: number, to: number) => {
    const within = landings.filter(({ at }) => at > from && at <= to)
    return (to - from) / within.reduce((sum, { commits }) => sum + commits, 0)
  }
  return timeEach(lastFrom, end) / timeEach(0, firstUpTo)
}

/** Of those that were answered, how many are not there, or not as they were answered; and what is there beside them. */
function countWrong(done: readonly Done[], log: readonly LoggedCommit[]): number {
  const present = new Map(log.map(({ oid, subject }) => [oid, subject]))
  const absent = done.filter(({ subject, landed }) => present.get(landed.commit) !== subject).length
  // The first is the base.
  return absent + Math.abs(log.length - 1 - done.length)
}
