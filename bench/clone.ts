import { rm } from 'node:fs/promises'
import type { Git } from '../dev/git.ts'
import { drain } from './drain.ts'
import { costFacts } from './fetch-cost.ts'
import { measureInTurn } from './measure.ts'
import { PLAIN_COPY, preparePlainCopy } from './plain-copy.ts'
import type { Report } from './report.ts'
import { circumstances, copySource, LONG_TIMEOUT, openStage, PACKED_WELL, pushToBoth, type Stage } from './stage.ts'
import { cloneRequest } from './upload-pack-request.ts'

/** A bare clone from a warm edge against one from git's http-backend, whose repository is packed as well as git can. */
export async function benchClone({ repository, rounds }: { repository: string; rounds: number }): Promise<Report> {
  await using stage = await openStage({ beside: PLAIN_COPY })
  const { git, atmosphere, edge } = stage
  const source = await copySource(stage, repository)
  const target = stage.path('clone')
  const clone = async (address: string) => {
    await git.run(['clone', '--quiet', '--bare', address, target], { timeoutMilliseconds: LONG_TIMEOUT })
  }
  const prepare = () => rm(target, { recursive: true, force: true })

  await pushToBoth(stage, source, 'clone')

  const before = atmosphere.requests.length
  const warm = await measureInTurn(
    { prepare, run: () => clone(stage.atEdge('clone')) },
    { prepare, run: () => clone(stage.atBackend('clone')) },
    rounds,
  )
  const warmRequests = atmosphere.requests.length - before
  const ids = [await reachable(git, target)]

  const body = await measureBody(stage, 'clone', rounds)

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
      { name: 'clone --bare, warm', ...warm, unit: 'ms', reach: '<= 1.0' },
      { name: 'response body alone, against a plain copy from R2', ...body.times, unit: 'ms', reach: '<= 1.3' },
      { name: 'clone --bare, the edge knows nothing', ours: coldTime, other: null, unit: 'ms', reach: null },
    ],
    facts: {
      ...source.facts,
      rounds,
      pds_requests: warmRequests,
      pds_requests_cold: atmosphere.requests.length - cold.from,
      body_bytes: body.bytes,
      ...body.cost,
      same_objects: ids[0] === ids[1],
      http_backend: PACKED_WELL,
      ...(await circumstances(stage)),
    },
  }
}

/** The answer to the one request that carries the pack, against as many bytes from the same R2 by the same runtime. */
async function measureBody(
  { git, edge, readUrl, atEdge }: Stage,
  repository: string,
  rounds: number,
): Promise<{ times: { ours: number; other: number }; bytes: number; cost: Record<string, number> }> {
  const listed = await git.run(['ls-remote', '--quiet', atEdge(repository)])
  const refs = listed.stdout.split('\n').filter((line) => line !== '' && !line.endsWith('^{}'))
  const request = cloneRequest(refs.map((line) => line.slice(0, 40)))
  const ask = () => drain(`${readUrl(repository)}/git-upload-pack`, request)
  const { bytes } = await ask()
  const copy = await preparePlainCopy(await edge.besideUrl(), bytes)
  const times = await measureInTurn({ run: async () => void (await ask()) }, { run: copy }, rounds)
  return { times, bytes, cost: costFacts(edge) }
}

/** All reachable ids, sorted, as one text: equal where two clones hold the same. */
async function reachable(git: Git, directory: string): Promise<string> {
  const { stdout } = await git.run(['rev-list', '--objects', '--all', '--no-object-names'], { cwd: directory })
  return stdout.split('\n').sort().join('\n')
}
