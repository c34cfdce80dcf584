import { rm } from 'node:fs/promises'
import type { Git } from '../dev/git.ts'
import { type DrainOptions, drain } from './drain.ts'
import { costFacts } from './fetch-cost.ts'
import { measureInTurn } from './measure.ts'
import { PLAIN_COPY, preparePlainCopy, type Upload } from './plain-copy.ts'
import type { Report } from './report.ts'
import { circumstances, copySource, LONG_TIMEOUT, openStage, PACKED_WELL, pushToBoth, type Stage } from './stage.ts'
import { cloneRequest, MADE_ANEW, NO_STORE } from './upload-pack-request.ts'

/** A body takes a tenth of a clone's time: more rounds, for a median that stands. */
const ROUNDS_FACTOR = 3

interface Times {
  readonly ours: number
  readonly other: number
}

/** A bare clone from a warm edge against one from git's http-backend, whose repository is packed as well as git can. */
export async function benchClone({ repository, rounds }: { repository: string; rounds: number }): Promise<Report> {
  await using stage = await openStage({ beside: PLAIN_COPY })
  const { git, atmosphere, edge } = stage
  const source = await copySource(stage, repository)
  const target = stage.path('clone')
  const clone = async (address: string, options: readonly string[] = []) => {
    await git.run([...options, 'clone', '--quiet', '--bare', address, target], { timeoutMilliseconds: LONG_TIMEOUT })
  }
  const prepare = () => rm(target, { recursive: true, force: true })

  await pushToBoth(stage, source, 'clone')

  const before = atmosphere.requests.length
  const measureClone = (options: readonly string[]) =>
    measureInTurn(
      { prepare, run: () => clone(stage.atEdge('clone'), options) },
      { prepare, run: () => clone(stage.atBackend('clone'), options) },
      rounds,
    )
  const anew = await measureClone(MADE_ANEW)
  const kept = await measureClone([])
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
      { name: 'clone --bare, as others have asked before', ...kept, unit: 'ms', reach: '<= 1.0' },
      { name: 'clone --bare, answer made anew', ...anew, unit: 'ms', reach: '<= 1.0' },
      { name: 'response body, asked before; plain copy of an R2 object', ...body.kept, unit: 'ms', reach: '<= 1.3' },
      { name: 'response body, made anew; plain copy of one in parts', ...body.anew, unit: 'ms', reach: '<= 1.3' },
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
): Promise<{ kept: Times; anew: Times; bytes: number; cost: Record<string, number> }> {
  const listed = await git.run(['ls-remote', '--quiet', atEdge(repository)])
  const refs = listed.stdout.split('\n').filter((line) => line !== '' && !line.endsWith('^{}'))
  const request = cloneRequest(refs.map((line) => line.slice(0, 40)))
  const ask = (options: DrainOptions) => drain(`${readUrl(repository)}/git-upload-pack`, options)
  const { bytes } = await ask(request)
  const measure = async (options: DrainOptions, upload: Upload) => {
    const copy = await preparePlainCopy(await edge.besideUrl(), bytes, upload)
    return measureInTurn({ run: async () => void (await ask(options)) }, { run: copy }, rounds * ROUNDS_FACTOR)
  }
  const anew = await measure({ ...request, headers: { ...request.headers, ...NO_STORE } }, 'in-parts')
  const cost = costFacts(edge)
  return { anew, kept: await measure(request, 'at-once'), bytes, cost }
}

/** All reachable ids, sorted, as one text: equal where two clones hold the same. */
async function reachable(git: Git, directory: string): Promise<string> {
  const { stdout } = await git.run(['rev-list', '--objects', '--all', '--no-object-names'], { cwd: directory })
  return stdout.split('\n').sort().join('\n')
}
