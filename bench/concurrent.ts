import { rm } from 'node:fs/promises'
import { measureInTurn } from './measure.ts'
import type { Report } from './report.ts'
import { circumstances, commitOnTop, copySource, LONG_TIMEOUT, openStage } from './stage.ts'

/** Pushes at once, each to a branch of its own. */
const PUSHES = 10

/** Many clones at once, and many pushes at once, each to a branch of its own: the edge against git's http-backend. */
export async function benchConcurrent(options: {
  repository: string
  rounds: number
  clients: number
}): Promise<Report> {
  const { repository, rounds, clients } = options
  await using stage = await openStage()
  const { git } = stage
  const source = await copySource(stage, repository)
  const directories = Array.from({ length: clients }, (_, client) => stage.path(`clone-${client}`))
  const prepare = async () => {
    await Promise.all(directories.map((directory) => rm(directory, { recursive: true, force: true })))
  }
  const cloneAll = async (address: string) => {
    const clone = (directory: string) =>
      git.run(['clone', '--quiet', '--bare', address, directory], { timeoutMilliseconds: LONG_TIMEOUT })
    await Promise.all(directories.map(clone))
  }
  const push = (address: string, ...refspecs: string[]) =>
    git.run(['push', '--quiet', address, ...refspecs], {
      cwd: source.directory,
      timeoutMilliseconds: LONG_TIMEOUT,
    })
  const addresses = { edge: stage.atEdge('concurrent'), backend: stage.atBackend('concurrent') }
  const backendDirectory = await stage.createAtBackend('concurrent')
  for (const address of Object.values(addresses)) await push(address, ...source.refspecs)
  await git.run(['symbolic-ref', 'HEAD', `refs/heads/${source.branch}`], { cwd: backendDirectory })
  await git.run(['repack', '-adq', '--write-bitmap-index'], { cwd: backendDirectory })

  const clones = await measureInTurn(
    { prepare, run: () => cloneAll(addresses.edge) },
    { prepare, run: () => cloneAll(addresses.backend) },
    rounds,
  )
  let landed = 0
  const pushAll = async (address: string, round: number) => {
    const branches = Array.from({ length: PUSHES }, (_, n) => `refs/heads/bench-${round}-${n}`)
    await Promise.all(branches.map((branch) => push(address, `${source.branch}:${branch}`)))
    const { stdout } = await git.run(['ls-remote', address, `refs/heads/bench-${round}-*`])
    landed = stdout.trim().split('\n').length
  }
  const pushes = await measureInTurn(
    {
      prepare: (round) => commitOnTop(stage, source, `concurrent-${round}`),
      run: (round) => pushAll(addresses.edge, round),
    },
    { run: (round) => pushAll(addresses.backend, round) },
    rounds,
  )
  return {
    bench: 'concurrent',
    other: 'http-backend',
    rows: [
      { name: `${clients} clones at once`, ...clones, unit: 'ms', reach: '<= 1.0' },
      { name: `${PUSHES} pushes to as many branches at once`, ...pushes, unit: 'ms', reach: null },
      { name: 'pushes that landed', ours: landed, other: null, unit: 'of 10', reach: '>= 10' },
    ],
    facts: { ...source.facts, rounds, clients, ...(await circumstances(stage)) },
  }
}
