import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Account, type Atmosphere, startAtmosphere } from '../dev/atmosphere.ts'
import { type Edge, startEdge, type WorkerBeside } from '../dev/edge.ts'
import { Git } from '../dev/git.ts'
import { startHttpBackend } from './http-backend.ts'
import type { Fact } from './report.ts'

/** Both sides of a comparison, on this machine: the edge with its Atmosphere, and git's own http-backend. */
export interface Stage {
  readonly git: Git
  readonly atmosphere: Atmosphere
  readonly edge: Edge
  readonly alice: Account
  /** For pushes and clones: an address at the edge, with alice's credentials. */
  atEdge(repository: string): string
  /** The same without the credentials: for bare requests. */
  readUrl(repository: string): string
  /** An address at http-backend. */
  atBackend(repository: string): string
  /** A new bare repository that http-backend serves; it takes pushes. @returns its directory */
  createAtBackend(repository: string): Promise<string>
  /** The process that starts a `git http-backend` for each request. */
  readonly backendPid: number
  /** A path below the stage's own temporary directory. */
  path(name: string): string
  [Symbol.asyncDispose](): Promise<void>
}

export interface StageOptions {
  readonly beside?: WorkerBeside
  /** Another module in place of workers/index.ts, from the repository's folder. */
  readonly entry?: string
  /** Whether the edge follows the PDS. Default false. */
  readonly isFollowing?: boolean
  /** How far away the PDS is, in milliseconds; default 0. */
  readonly roundTripMilliseconds?: number
}

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const { beside, entry, isFollowing = false, roundTripMilliseconds = 0 } = options
  await using opening = new AsyncDisposableStack()
  const root = await mkdtemp(join(tmpdir(), 'skein-bench-'))
  opening.defer(() => rm(root, { recursive: true, force: true }))
  const home = join(root, 'home')
  const backendRoot = join(root, 'backend')
  await mkdir(home)
  await mkdir(backendRoot)
  const git = new Git(home)
  const atmosphere = await startAtmosphere({ stateDirectory: join(root, 'atmosphere'), roundTripMilliseconds })
  opening.defer(() => atmosphere.close())
  const { pdsUrl, plcUrl } = atmosphere
  const edge = await startEdge({
    port: 0,
    stateDirectory: join(root, 'edge'),
    pdsUrl,
    plcUrl,
    ...(beside === undefined ? {} : { beside }),
    ...(entry === undefined ? {} : { entry }),
    ...(isFollowing ? { vars: { UPSTREAMS: atmosphere.streamUrl(0) } } : {}),
  })
  opening.defer(() => edge.close())
  const backend = await startHttpBackend(backendRoot, git.environment)
  opening.defer(() => backend.close())
  const alice = await atmosphere.createAccount({ handle: 'alice.test', password: 'alice-local' })
  const opened = opening.move()

  return {
    git,
    atmosphere,
    edge,
    alice,
    atEdge: (repository) =>
      `${edge.url.replace('//', `//${alice.handle}:${alice.password}@`)}/${alice.handle}/${repository}`,
    readUrl: (repository) => `${edge.url}/${alice.handle}/${repository}`,
    atBackend: (repository) => `${backend.url}/${repository}`,
    async createAtBackend(repository) {
      const directory = join(backendRoot, repository)
      await git.run(['init', '--quiet', '--bare', directory])
      await git.run(['config', 'http.receivepack', 'true'], { cwd: directory })
      return directory
    },
    backendPid: backend.pid,
    path: (name) => join(root, name),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** What both sides get: one branch and all tags of somebody's repository, in a bare repository of our own. */
export interface Source {
  readonly directory: string
  readonly branch: string
  /** The refspecs that push all of it. */
  readonly refspecs: readonly string[]
  readonly facts: Readonly<Record<string, number>>
}

/** A history of a few thousand commits takes seconds; the largest ones minutes. */
export const LONG_TIMEOUT = 600_000

/** Copies the branch that HEAD names and all tags out of the repository at `repository`, which is only read. */
export async function copySource({ git, path }: Stage, repository: string): Promise<Source> {
  const from = resolve(repository)
  const head = await git.run(['-C', from, 'symbolic-ref', '--short', 'HEAD'])
  const branch = head.stdout.trim()
  const directory = path('source.git')
  const run = async (...args: string[]) =>
    (await git.run(args, { cwd: directory, timeoutMilliseconds: LONG_TIMEOUT })).stdout
  await git.run(['init', '--quiet', '--bare', '--initial-branch', branch, directory])
  const refspecs = [`refs/heads/${branch}:refs/heads/${branch}`, 'refs/tags/*:refs/tags/*']
  await run('fetch', '--quiet', from, ...refspecs)
  await run('repack', '-a', '-d', '--quiet')
  const counts = await run('count-objects', '--verbose')
  const count = (key: string) => Number(new RegExp(`^${key}: (\\d+)$`, 'm').exec(counts)?.[1])
  const facts = {
    commits: Number(await run('rev-list', '--count', '--all')),
    objects: count('in-pack'),
    pack_kib: count('size-pack'),
    refs: (await run('for-each-ref')).split('\n').filter(Boolean).length,
  }
  return { directory, branch, refspecs, facts }
}

/** What git's server does best with: one pack with bitmaps, and a commit-graph. */
export const PACKED_WELL = 'git repack -a -d --write-bitmap-index, git commit-graph write --reachable --changed-paths'

/** Packs a repository of http-backend as well as git can. */
export async function packWell(git: Git, directory: string): Promise<void> {
  const options = { cwd: directory, timeoutMilliseconds: LONG_TIMEOUT }
  await git.run(['repack', '-a', '-d', '--quiet', '--write-bitmap-index'], options)
  await git.run(['commit-graph', 'write', '--reachable', '--changed-paths', '--no-progress'], options)
}

/** Pushes a source to the edge and into a new repository of http-backend, and packs that well. @returns its directory */
export async function pushToBoth(stage: Stage, source: Source, repository: string): Promise<string> {
  const { git } = stage
  const directory = await stage.createAtBackend(repository)
  for (const address of [stage.atEdge(repository), stage.atBackend(repository)]) {
    await git.run(['push', '--quiet', address, ...source.refspecs], {
      cwd: source.directory,
      timeoutMilliseconds: LONG_TIMEOUT,
    })
  }
  await git.run(['symbolic-ref', 'HEAD', `refs/heads/${source.branch}`], { cwd: directory })
  await packWell(git, directory)
  return directory
}

/** One commit on top of the branch that adds a file of one line. */
export async function commitOnTop({ git, path }: Stage, { directory, branch }: Source, name: string): Promise<void> {
  const env = { GIT_INDEX_FILE: path('index') }
  const run = async (...args: string[]) =>
    (await git.run(args, { cwd: directory, env, input: `${name}\n` })).stdout.trim()
  const blob = await run('hash-object', '-w', '--stdin')
  await run('read-tree', branch)
  await run('update-index', '--add', '--cacheinfo', `100644,${blob},${name}.txt`)
  const commit = await run('commit-tree', '-p', branch, '-m', name, await run('write-tree'))
  await run('update-ref', `refs/heads/${branch}`, commit)
}

/** What the figures depend on besides the code. */
export async function circumstances({ git, edge }: Stage): Promise<Record<string, Fact>> {
  const status = await readFile(`/proc/${await edge.pid()}/status`, 'utf8')
  return {
    workerd_peak_mib: Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024),
    git: (await git.run(['version'])).stdout.trim(),
    cores: availableParallelism(),
  }
}
