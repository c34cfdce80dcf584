import { rm } from 'node:fs/promises'
import { measureInTurn } from './measure.ts'
import type { Report } from './report.ts'
import { circumstances, commitOnTop, copySource, LONG_TIMEOUT, openStage, PACKED_WELL, pushToBoth } from './stage.ts'

const REPOSITORY = 'concurrent'
const PUSHERS = 10

/** Many clones at once, and pushes to as many branches of one repository at once: the edge against http-backend. */
export async function benchConcurrent(options: {
  repository: string
  rounds: number
  clients: number
}): Promise<Report> {
  const { repository, rounds, clients } = options
  await using stage = await openStage()
  const { git } = stage
  const source = await copySource(stage, repository)
  await pushToBoth(stage, source, REPOSITORY)

  const clonePaths = Array.from({ length: clients }, (_, n) => stage.path(`clone-${n}`))
  const removeClones = () => removeAll(clonePaths)
  const cloneAll = async (address: string) => {
    const commands = clonePaths.map((path) => ['clone', '--quiet', '--bare', address, path])
    await git.runAtOnce(commands, { timeoutMilliseconds: LONG_TIMEOUT })
  }
  const clones = await measureInTurn(
    { prepare: removeClones, run: () => cloneAll(stage.atEdge(REPOSITORY)) },
    { prepare: removeClones, run: () => cloneAll(stage.atBackend(REPOSITORY)) },
    rounds,
  )
  await removeClones()

  /** Each pusher has a commit of its own on top of the branch, for a branch of its own. */
  const pushAll = async (address: string, round: number) => {
    const refspecs = Array.from({ length: PUSHERS }, (_, n) => `pusher-${n}:refs/heads/round-${round}-${n}`)
    const commands = refspecs.map((refspec) => ['push', '--quiet', address, refspec])
    await git.runAtOnce(commands, { cwd: source.directory })
  }
  const commitAll = async (round: number) => {
    for (let n = 0; n < PUSHERS; n++) {
      await git.run(['branch', '--force', `pusher-${n}`, source.branch], { cwd: source.directory })
      await commitOnTop(stage, { ...source, branch: `pusher-${n}` }, `round-${round}-${n}`)
    }
  }
  const pushes = await measureInTurn(
    { prepare: commitAll, run: (round) => pushAll(stage.atEdge(REPOSITORY), round) },
    { run: (round) => pushAll(stage.atBackend(REPOSITORY), round) },
    rounds,
  )
  const landed = await Promise.all(
    [stage.atEdge(REPOSITORY), stage.atBackend(REPOSITORY)].map(async (address) => {
      const { stdout } = await git.run(['ls-remote', '--quiet', address, 'refs/heads/round-*'])
      return stdout
    }),
  )

  return {
    bench: 'concurrent',
    other: 'http-backend',
    rows: [
      { name: `${clients} clones at once`, ...clones, unit: 'ms', reach: '<= 1.0' },
      { name: `${PUSHERS} pushes to ${PUSHERS} branches at once`, ...pushes, unit: 'ms', reach: '<= 1.0' },
      {
        name: 'pushes that did not land',
        ours: (rounds + 1) * PUSHERS - landed[0]!.split('\n').filter(Boolean).length,
        other: null,
        unit: 'pushes',
        reach: '<= 0',
      },
    ],
    facts: {
      ...source.facts,
      rounds,
      same_branches: landed[0] === landed[1],
      http_backend: PACKED_WELL,
      ...(await circumstances(stage)),
    },
  }
}

async function removeAll(paths: readonly string[]): Promise<void> {
  await Promise.all(paths.map((path) => rm(path, { recursive: true, force: true })))
}
