import { rm } from 'node:fs/promises'
import type { Git } from '../dev/git.ts'
import { measureInTurn } from './measure.ts'
import type { Report } from './report.ts'
import { circumstances, copySource, LONG_TIMEOUT, openStage } from './stage.ts'

/** A bare clone from a warm edge against one from git's http-backend, whose repository is packed as well as git can. */
export async function benchClone({ repository, rounds }: { repository: string; rounds: number }): Promise<Report> {
  await using stage = await openStage()
  const { git, atmosphere, edge } = stage
  const source = await copySource(stage, repository)
  const target = stage.path('clone')
  const clone = async (address: string) => {
    await git.run(['clone', '--quiet', '--bare', address, target], { timeoutMilliseconds: LONG_TIMEOUT })
  }
  const prepare = () => rm(target, { recursive: true, force: true })

  const backendDirectory = await stage.createAtBackend('clone')
  for (const address of [stage.atEdge('clone'), stage.atBackend('clone')]) {
    await git.run(['push', '--quiet', address, ...source.refspecs], {
      cwd: source.directory,
      timeoutMilliseconds: LONG_TIMEOUT,
    })
  }
  await git.run(['symbolic-ref', 'HEAD', `refs/heads/${source.branch}`], { cwd: backendDirectory })
  await packWell(git, backendDirectory)

  const before = atmosphere.requests.length
  const warm = await measureInTurn(
    { prepare, run: () => clone(stage.atEdge('clone')) },
    { prepare, run: () => clone(stage.atBackend('clone')) },
    rounds,
  )
  const warmRequests = atmosphere.requests.length - before
  const ids = [await reachable(git, target)]

  await edge.wipe()
  await prepare()
  const cold = { from: atmosphere.requests.length, start: performance.now() }
  await clone(stage.atEdge('clone'))
  const coldTime = performance.now() - cold.start
  ids.push(await reachable(git, target))

  return {
    bench: 'clone',
    other: 'http-backend',
    rows: [
      { name: 'clone --bare, warm', ...warm, unit: 'ms', reach: '<= 1.5' },
      { name: 'clone --bare, the edge knows nothing', ours: coldTime, other: null, unit: 'ms', reach: null },
    ],
    facts: {
      ...source.facts,
      rounds,
      pds_requests: warmRequests,
      pds_requests_cold: atmosphere.requests.length - cold.from,
      same_objects: ids[0] === ids[1],
      http_backend: 'git repack -a -d --write-bitmap-index, git commit-graph write --reachable --changed-paths',
      ...(await circumstances(stage)),
    },
  }
}

async function packWell(git: Git, directory: string): Promise<void> {
  const options = { cwd: directory, timeoutMilliseconds: LONG_TIMEOUT }
  await git.run(['repack', '-a', '-d', '--quiet', '--write-bitmap-index'], options)
  await git.run(['commit-graph', 'write', '--reachable', '--changed-paths', '--no-progress'], options)
}

/** All reachable ids, sorted, as one text: equal where two clones hold the same. */
async function reachable(git: Git, directory: string): Promise<string> {
  const { stdout } = await git.run(['rev-list', '--objects', '--all', '--no-object-names'], { cwd: directory })
  return stdout.split('\n').sort().join('\n')
}
