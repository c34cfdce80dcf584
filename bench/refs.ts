import { ZERO_OID } from '../git/bytes/oid.ts'
import { chunkSizes } from './count-writes.ts'
import { type DrainOptions, drain } from './drain.ts'
import { refsSentFor } from './fetch-cost.ts'
import { median } from './measure.ts'
import { pushRaw } from './push-raw.ts'
import type { Report, Row } from './report.ts'
import { cpuOf, cpuOfChildren } from './server-cpu.ts'
import { circumstances, LONG_TIMEOUT, openStage, type Stage } from './stage.ts'
import { uploadPackRequest } from './upload-pack-request.ts'

/** With so few refs it makes no difference how many there are. */
const FEW = 20
/** CPU time is counted in ticks of 10 ms: what is measured has to be many of them. */
const REQUESTS_A_ROUND = 10
/** At the end of the names, so that whoever searches from the start meets all others first. */
const WANTED = 'refs/heads/zz-wanted'

/** `ls-remote` of many refs, and of one among them: the edge against git's own server. */
export async function benchRefs({ count, rounds }: { count: number; rounds: number }): Promise<Report> {
  await using stage = await openStage()
  const many = await pushRefs(stage, 'many', count)
  const few = await pushRefs(stage, 'few', FEW)
  const all = uploadPackRequest('ls-refs', ['peel', 'symrefs', 'unborn'])
  const one = uploadPackRequest('ls-refs', ['peel', 'symrefs', 'unborn', `ref-prefix ${WANTED}`])
  const edge = await edgeSide(stage, many)
  const backend = { url: stage.atBackend(many.name), cpu: () => cpuOfChildren(stage.backendPid) }
  const listed = await compare(edge, backend, all, rounds)
  const relisted = await compare({ ...edge, prepare: () => many.push() }, backend, all, rounds)
  const single = await compare(edge, backend, one, rounds)
  // A push makes what an isolate has kept of the refs old.
  const pushed = await compare(
    { ...edge, prepare: () => many.push() },
    { ...(await edgeSide(stage, few)), prepare: () => few.push() },
    one,
    rounds,
  )
  await many.push()
  const list = (request: DrainOptions) => refsSentFor(stage.edge, () => drain(`${edge.url}/git-upload-pack`, request))
  const sentAfterPush = await list(all)
  const cold = await compareCold(stage, many, few, one, rounds)
  await stage.edge.restart()
  const sentCold = await list(one)
  const sizes = await chunkSizes(`${edge.url}/git-upload-pack`, all)
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  return {
    bench: 'refs',
    other: 'http-backend',
    rows: [
      { name: `all ${count} refs: CPU of the server`, ...listed.cpu, unit: 'ms', reach: '<= 1.0' },
      { name: `all ${count} refs: time`, ...listed.time, unit: 'ms', reach: null },
      { name: `all ${count} refs after a push: CPU of the server`, ...relisted.cpu, unit: 'ms', reach: '<= 1.0' },
      { name: `all ${count} refs after a push: time`, ...relisted.time, unit: 'ms', reach: null },
      { name: 'one by ref-prefix: CPU of the server', ...single.cpu, unit: 'ms', reach: null },
      { name: 'one by ref-prefix: time', ...single.time, unit: 'ms', reach: null },
      row(`one of ${count} after a push, against one of ${FEW}: time`, pushed.time, '<= 1.1'),
      row(`one of ${count} after a push, against one of ${FEW}: CPU of the server`, pushed.cpu, null),
      row(`one of ${count} in a new isolate, against one of ${FEW}: time`, cold, '<= 1.1'),
      sent('refs sent by the object: one by ref-prefix, to a new isolate', sentCold),
      sent('refs sent by the object: all, to one that had them before a push', sentAfterPush),
      { name: 'mean write to the socket', ours: bytes / sizes.length, other: null, unit: 'bytes', reach: '>= 32768' },
    ],
    facts: {
      refs: count,
      rounds: rounds * REQUESTS_A_ROUND,
      bytes,
      writes: sizes.length,
      ...(await circumstances(stage)),
    },
  }
}

function row(name: string, times: { ours: number; other: number }, reach: string | null): Row {
  return { name, ...times, unit: 'ms', reach }
}

function sent(name: string, refs: number): Row {
  return { name, ours: refs, other: null, unit: 'refs', reach: '<= 10' }
}

interface Side {
  readonly url: string
  /** CPU time that the server has used so far, in milliseconds. */
  readonly cpu: () => Promise<number>
  /** Before each request; neither its time nor its CPU time counts. */
  readonly prepare?: () => Promise<void>
}

interface Comparison {
  readonly time: { ours: number; other: number }
  readonly cpu: { ours: number; other: number }
}

/** One request to two sides in turn: the median of its time, and the mean of the CPU time of the server. */
async function compare(ours: Side, other: Side, request: DrainOptions, rounds: number): Promise<Comparison> {
  const results = [ours, other].map((side) => ({ side, times: [] as number[], cpu: 0 }))
  for (let round = 0; round <= rounds; round++) {
    for (const result of results) {
      for (let n = 0; n < REQUESTS_A_ROUND; n++) {
        await result.side.prepare?.()
        const [cpu, start] = [await result.side.cpu(), performance.now()]
        await drain(`${result.side.url}/git-upload-pack`, request)
        // The first round warms up.
        if (round === 0) continue
        result.times.push(performance.now() - start)
        result.cpu += (await result.side.cpu()) - cpu
      }
    }
  }
  const [a, b] = results as [(typeof results)[0], (typeof results)[0]]
  return {
    time: { ours: median(a.times), other: median(b.times) },
    cpu: { ours: a.cpu / a.times.length, other: b.cpu / b.times.length },
  }
}

/** One request to an isolate that has answered others, and knows nothing of the repository. */
async function compareCold(
  stage: Stage,
  ours: Repository,
  other: Repository,
  request: DrainOptions,
  rounds: number,
): Promise<{ ours: number; other: number }> {
  const time = async (repository: Repository, before: Repository) => {
    await stage.edge.restart()
    const list = ({ name }: Repository) => drain(`${stage.readUrl(name)}/git-upload-pack`, request)
    await list(before)
    const start = performance.now()
    await list(repository)
    return performance.now() - start
  }
  const times = { ours: [] as number[], other: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    times.ours.push(await time(ours, other))
    times.other.push(await time(other, ours))
  }
  return { ours: median(times.ours), other: median(times.other) }
}

async function edgeSide({ edge, readUrl }: Stage, { name }: Repository): Promise<Side> {
  const pid = await edge.pid()
  return { url: readUrl(name), cpu: () => cpuOf(pid) }
}

interface Repository {
  readonly name: string
  /** Pushes one commit more to the edge. */
  push(): Promise<void>
}

/** A repository with so many branches, all on one commit, at both servers. */
async function pushRefs(stage: Stage, name: string, count: number): Promise<Repository> {
  const { git } = stage
  const directory = await stage.createAtBackend(name)
  const run = async (args: string[], input: string | Buffer = '') =>
    (await git.run(args, { cwd: directory, input, timeoutMilliseconds: LONG_TIMEOUT })).stdout.trim()
  const pack = async (...revisions: string[]) => {
    const { output } = await git.run(['pack-objects', '--revs', '--stdout', '-q'], {
      cwd: directory,
      input: `${revisions.join('\n')}\n`,
    })
    return output
  }
  const tree = await run(['mktree'])
  let tip = await run(['commit-tree', '-m', 'one', tree])
  const topics = Array.from({ length: count - 2 }, (_, n) => `refs/heads/topic-${String(n).padStart(6, '0')}`)
  const names = ['refs/heads/main', ...topics, WANTED]
  await run(['update-ref', '--stdin'], names.map((ref) => `create ${ref} ${tip}\n`).join(''))
  await run(['pack-refs', '--all'])
  const url = stage.readUrl(name)
  // git itself takes minutes to push so many.
  await pushRaw(
    url,
    stage.alice,
    names.map((ref) => ({ name: ref, from: ZERO_OID, to: tip })),
    await pack(tip),
  )
  let pushes = 0
  return {
    name,
    async push() {
      const next = await run(['commit-tree', '-p', tip, '-m', `push ${++pushes}`, tree])
      await pushRaw(url, stage.alice, [{ name: WANTED, from: tip, to: next }], await pack(next, `^${tip}`))
      tip = next
    },
  }
}
