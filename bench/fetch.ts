import { rm } from 'node:fs/promises'
import { lastFetch } from './fetch-cost.ts'
import { measureInTurn, median } from './measure.ts'
import type { Report, Row } from './report.ts'
import {
  circumstances,
  commitOnTop,
  copySource,
  LONG_TIMEOUT,
  openStage,
  PACKED_WELL,
  packWell,
  pushToBoth,
  type Source,
  type Stage,
} from './stage.ts'
import { MADE_ANEW } from './upload-pack-request.ts'

/** Commits in the larger of the two updates. */
const MANY = 100
const REPOSITORY = 'fetch'
const REACH = '<= 1.0'
/** A small fetch takes a tenth of a clone's time: more rounds, for a median that stands. */
const ROUNDS_FACTOR = 3

interface Target {
  readonly stage: Stage
  readonly source: Source
  /** The repository of http-backend. */
  readonly backend: string
  readonly rounds: number
}

/** What a client asks for that has some of a history, or wants only some of it: the edge against http-backend. */
export async function benchFetch({ repository, rounds }: { repository: string; rounds: number }): Promise<Report> {
  await using stage = await openStage()
  const { git, atmosphere } = stage
  const source = await copySource(stage, repository)
  const backend = await pushToBoth(stage, source, REPOSITORY)
  for (const setting of ['allowFilter', 'allowAnySHA1InWant']) {
    await git.run(['config', `uploadpack.${setting}`, 'true'], { cwd: backend })
  }
  const target = { stage, source, backend, rounds }

  const older = await cloneOlder(target)
  const rows: Row[] = [await measureFetch(target, older.directory, `the last ${older.behind} commits of the history`)]
  for (const option of ['--depth=1', '--filter=blob:none']) {
    rows.push(await measureClone(target, option, 'as others have asked before', []))
    rows.push(await measureClone(target, option, 'answer made anew', MADE_ANEW))
  }

  const before = await cloneNow(target, 'before-one')
  await commitOnTop(stage, source, 'one')
  await push(target)
  const pdsRequests: number[] = []
  const r2Reads: number[] = []
  let requests = 0
  rows.push(
    await measureFetch(target, before, 'one new commit', {
      before: () => {
        requests = atmosphere.requests.length
      },
      after: () => {
        pdsRequests.push(atmosphere.requests.length - requests)
        r2Reads.push(lastFetch(stage.edge).r2Reads)
      },
    }),
    { name: 'PDS requests for it', ours: median(pdsRequests), other: null, unit: 'requests', reach: '<= 0' },
    { name: 'R2 reads for it, at most', ours: Math.max(...r2Reads), other: null, unit: 'reads', reach: '<= 3' },
  )

  const beforeMany = await cloneNow(target, 'before-many')
  for (let n = 0; n < MANY; n++) await commitOnTop(stage, source, `many-${n}`)
  await push(target)
  rows.push(await measureFetch(target, beforeMany, `${MANY} new commits`))

  return {
    bench: 'fetch',
    other: 'http-backend',
    rows,
    facts: {
      ...source.facts,
      rounds: rounds * ROUNDS_FACTOR,
      http_backend: PACKED_WELL,
      ...(await circumstances(stage)),
    },
  }
}

interface Hooks {
  /** Around each fetch from the edge. */
  readonly before?: () => void
  readonly after?: () => void
}

/** A fetch of the branch into copies of the bare repository at `from`. */
async function measureFetch(
  { stage, source, rounds }: Target,
  from: string,
  name: string,
  hooks: Hooks = {},
): Promise<Row> {
  const { git } = stage
  const client = stage.path('client')
  const prepare = async () => {
    await rm(client, { recursive: true, force: true })
    await git.run(['clone', '--quiet', '--bare', '--local', from, client])
  }
  const fetch = async (address: string) => {
    const refspec = `refs/heads/${source.branch}:refs/heads/${source.branch}`
    await git.run(['fetch', '--quiet', address, refspec], { cwd: client })
  }
  const times = await measureInTurn(
    {
      prepare,
      run: async () => {
        hooks.before?.()
        await fetch(stage.atEdge(REPOSITORY))
        hooks.after?.()
      },
    },
    { prepare, run: () => fetch(stage.atBackend(REPOSITORY)) },
    rounds * ROUNDS_FACTOR,
  )
  return { name: `fetch of ${name}`, ...times, unit: 'ms', reach: REACH }
}

async function measureClone(
  { stage, rounds }: Target,
  option: string,
  circumstance: string,
  options: readonly string[],
): Promise<Row> {
  const client = stage.path('client')
  const prepare = () => rm(client, { recursive: true, force: true })
  const clone = async (address: string) => {
    await stage.git.run([...options, 'clone', '--quiet', '--bare', option, address, client], {
      timeoutMilliseconds: LONG_TIMEOUT,
    })
  }
  const times = await measureInTurn(
    { prepare, run: () => clone(stage.atEdge(REPOSITORY)) },
    { prepare, run: () => clone(stage.atBackend(REPOSITORY)) },
    rounds * ROUNDS_FACTOR,
  )
  return { name: `clone --bare ${option}, ${circumstance}`, ...times, unit: 'ms', reach: REACH }
}

/** Sends the branch to both, and packs http-backend's repository anew. */
async function push({ stage, source, backend }: Target): Promise<void> {
  const [branch] = source.refspecs as [string]
  for (const address of [stage.atEdge(REPOSITORY), stage.atBackend(REPOSITORY)]) {
    await stage.git.run(['push', '--quiet', address, branch], { cwd: source.directory })
  }
  await packWell(stage.git, backend)
}

/** What a client has that is up to date now. @returns its directory */
async function cloneNow({ stage, source }: Target, name: string): Promise<string> {
  const directory = stage.path(name)
  await stage.git.run(['clone', '--quiet', '--bare', source.directory, directory])
  return directory
}

/** What a client has that last fetched at least {@link MANY} commits ago, on the main line. */
async function cloneOlder({ stage, source }: Target): Promise<{ directory: string; behind: number }> {
  const run = async (...args: string[]) => (await stage.git.run(args, { cwd: source.directory })).stdout.trim()
  const directory = stage.path('older')
  const line = (await run('rev-list', '--first-parent', `--max-count=${MANY + 1}`, source.branch)).split('\n')
  for (const commit of line) {
    const behind = Number(await run('rev-list', '--count', `${commit}..${source.branch}`))
    if (behind < MANY && commit !== line.at(-1)) continue
    await run('branch', 'older', commit)
    await run('clone', '--quiet', '--bare', '--no-local', '--single-branch', '--branch=older', '.', directory)
    await run('-C', directory, 'branch', '--move', 'older', source.branch)
    await run('branch', '--delete', '--force', '--quiet', 'older')
    return { directory, behind }
  }
  throw new Error('the history has no commits')
}
