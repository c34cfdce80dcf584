import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAtmosphere } from '../dev/atmosphere.ts'
import { type Edge, startEdge } from '../dev/edge.ts'
import { collectGarbage, type Heap } from './heaps.ts'
import { startStreamServer } from './index/stream-server.ts'
import { EVENTS_PER_PUSH, SyntheticPushes } from './index/synthetic-pushes.ts'
import { COMMON_WORDS, seedRepositories, syntheticRepositories, word } from './index/synthetic-repositories.ts'
import { median, percentile } from './measure.ts'
import type { Fact, Report, Row } from './report.ts'
import { cpuOf } from './server-cpu.ts'

/** Repositories that the index has, and of those the ones that are pushed to. */
const REPOSITORIES = 100_000
const PUSHED_TO = 2_000
/**
 * Before anything is counted, each repository is pushed to so often, all at once: what comes after is alike, and the buffers of
 * whoever follows have been as full as they get.
 */
const WARM_UP = 10 * PUSHED_TO * EVENTS_PER_PUSH
const TENTHS = 10
const POLL_MILLISECONDS = 20
const RESIDENT_SAMPLES = 5
/** Milliseconds. */
const RESIDENT_INTERVAL = 400
/** The isolate of the Worker and its Durable Objects. */
const WORKER = 'core:user:skein'
const SEARCHES = 200

interface Sample {
  readonly applied: number
  /** Milliseconds. */
  readonly wall: number
  readonly cpu: number
}

/** What the runtime holds when it has nothing to do, and has collected its garbage. */
interface Memory {
  /** Of its process, with the simulators of R2, D1 and the Queue in it, in MiB. */
  readonly resident: number
  readonly heaps: readonly Heap[]
}

/**
 * A stream of pushes, through the object of its upstream, the Queue and its consumer, into an index of 100,000 repositories;
 * then searches of that index, by the API.
 */
export async function benchIndex({ count: asked }: { count: number }): Promise<Report> {
  const count = asked - (asked % EVENTS_PER_PUSH)
  const root = await mkdtemp(join(tmpdir(), 'skein-bench-'))
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(() => rm(root, { recursive: true, force: true }))
  const atmosphere = await startAtmosphere({ stateDirectory: join(root, 'atmosphere') })
  cleanup.defer(() => atmosphere.close())
  const pushes = new SyntheticPushes(PUSHED_TO)
  const server = await startStreamServer((seq) => pushes.message(seq))
  cleanup.defer(() => server.close())
  const edge = await startEdge({
    port: 0,
    stateDirectory: join(root, 'edge'),
    pdsUrl: atmosphere.pdsUrl,
    plcUrl: server.plcUrl,
    vars: { UPSTREAMS: server.url },
    inspect: true,
  })
  cleanup.defer(() => edge.close())
  await seedRepositories(await edge.database(), REPOSITORIES)

  // A commit is told whole.
  const release = (events: number) => server.release(Math.ceil(events / EVENTS_PER_PUSH))
  release(WARM_UP)
  await reached(edge, WARM_UP)
  const upTo = (tenth: number) => WARM_UP + Math.floor((count * tenth) / TENTHS)
  const start = await sampleOf(edge)
  release(upTo(1))
  const first = spent(start, await reached(edge, upTo(1)))
  const early = await memoryOf(edge)
  // All the rest is there at once: it is caught up with.
  const resumed = await sampleOf(edge)
  release(upTo(TENTHS))
  const before = await reached(edge, upTo(TENTHS - 1))
  const end = await reached(edge, upTo(TENTHS))
  const last = spent(before, end)
  const late = await memoryOf(edge)
  const rows: Row[] = [
    {
      name: `catch-up with ${count} events`,
      ours: Math.round(count / ((first.wall + spent(resumed, end).wall) / 1000)),
      other: null,
      unit: 'events/s',
      reach: '>= 2000',
    },
    {
      name: 'CPU of an event: last tenth against first',
      ours: last.cpu / last.events,
      other: first.cpu / first.events,
      unit: 'ms',
      reach: '<= 1.1',
    },
    {
      name: 'time of an event: last tenth against first',
      ours: last.wall / last.events,
      other: first.wall / first.events,
      unit: 'ms',
      reach: null,
    },
    {
      name: 'heap of the Worker and its objects: last tenth against first',
      ours: heapOf(late, isWorker),
      other: heapOf(early, isWorker),
      unit: 'MiB',
      reach: '<= 1.1',
    },
    {
      name: 'heaps of simulators: last tenth against first',
      ours: heapOf(late, (heap) => !isWorker(heap)),
      other: heapOf(early, (heap) => !isWorker(heap)),
      unit: 'MiB',
      reach: null,
    },
    {
      name: 'resident memory of all: last tenth against first',
      ours: late.resident,
      other: early.resident,
      unit: 'MiB',
      reach: '<= 1.1',
    },
    ...(await searchRows(edge)),
  ]
  return {
    bench: 'index',
    other: 'first tenth',
    rows,
    facts: {
      repositories: REPOSITORIES,
      pushed_to: PUSHED_TO,
      events: count,
      ...(await checked(edge, count, pushes.start)),
      cores: availableParallelism(),
    },
  }
}

/** Once so many events are applied. Poll by poll: the object of the upstream says how far it is. */
async function reached(edge: Edge, count: number): Promise<Sample> {
  for (;;) {
    const sample = await sampleOf(edge)
    if (sample.applied >= count) return sample
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS))
  }
}

async function sampleOf(edge: Edge): Promise<Sample> {
  const response = await fetch(`${edge.url}/health`)
  const { upstreams } = (await response.json()) as { upstreams: { cursor: number | null }[] }
  const applied = (upstreams[0]?.cursor ?? 0) * EVENTS_PER_PUSH
  return { applied, wall: performance.now(), cpu: await cpuOf(await edge.pid()) }
}

const isWorker = ({ isolate }: Heap): boolean => isolate === WORKER

function heapOf({ heaps }: Memory, condition: (heap: Heap) => boolean): number {
  return heaps.filter(condition).reduce((sum, { mib }) => sum + mib, 0)
}

/** After its garbage is collected: the runtime gives memory back to the machine bit by bit. */
async function memoryOf(edge: Edge): Promise<Memory> {
  const heaps = await collectGarbage(await edge.inspectorUrl())
  const path = `/proc/${await edge.pid()}/status`
  const residents: number[] = []
  for (let n = 0; n < RESIDENT_SAMPLES; n++) {
    await new Promise((resolve) => setTimeout(resolve, RESIDENT_INTERVAL))
    const status = await readFile(path, 'utf8')
    residents.push(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024)
  }
  return { resident: median(residents), heaps }
}

function spent(from: Sample, to: Sample): { events: number; wall: number; cpu: number } {
  return { events: to.applied - from.applied, wall: to.wall - from.wall, cpu: to.cpu - from.cpu }
}

/** What was to be done was done: a stream that is fast because it loses something would be none. */
async function checked(edge: Edge, count: number, start: number): Promise<Record<string, Fact>> {
  const db = await edge.database()
  const dropped = await db.prepare('select count(*) as kinds from dropped_records').first<{ kinds: number }>()
  const row = await db
    .prepare('select count(*) as pushes, max(seq) as seq from pushes where pushed_at >= ?')
    .bind(start)
    .first<{ pushes: number; seq: number }>()
  return {
    kinds_dropped: dropped?.kinds ?? 0,
    pushes_shown: row?.pushes ?? 0,
    newest_seq: row?.seq ?? 0,
    newest_seq_expected: Math.ceil((WARM_UP + count) / EVENTS_PER_PUSH / PUSHED_TO) + 1,
  }
}

async function searchRows(edge: Edge): Promise<Row[]> {
  const some = [...syntheticRepositories(SEARCHES)]
  const nth = (i: number) => word(50 + i * 13)
  const kinds: Record<string, (i: number) => string> = {
    'a rare word': (i) => word(3000 + i),
    'a common word': (i) => COMMON_WORDS[i % COMMON_WORDS.length]!,
    'a prefix of two letters': (i) => nth(i).slice(0, 2),
    'a prefix of four letters': (i) => nth(i).slice(0, 4),
    'two common words': (i) => `${COMMON_WORDS[i % 10]} ${COMMON_WORDS[(i + 3) % 10]}`,
    'a name': (i) => some[i]!.name,
    'a handle': (i) => some[i]!.handle,
  }
  const rows: Row[] = []
  const all: number[] = []
  for (const [kind, text] of Object.entries(kinds)) {
    const times: number[] = []
    for (let i = 0; i < SEARCHES; i++) {
      const started = performance.now()
      const response = await fetch(`${edge.url}/xrpc/dev.skein.repo.search?${new URLSearchParams({ q: text(i) })}`)
      if (!response.ok) throw new Error(`search answers ${response.status}: ${await response.text()}`)
      await response.arrayBuffer()
      times.push(performance.now() - started)
    }
    all.push(...times)
    rows.push({ name: `search for ${kind}, p95`, ours: percentile(times, 95), other: null, unit: 'ms', reach: null })
  }
  const p95 = { name: 'searches of all kinds, p95', ours: percentile(all, 95), other: null, unit: 'ms', reach: '<= 15' }
  const p50 = { name: 'searches of all kinds, p50', ours: percentile(all, 50), other: null, unit: 'ms', reach: null }
  return [...rows, p50, p95]
}
