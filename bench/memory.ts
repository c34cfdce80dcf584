import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { drain } from './drain.ts'
import { PLAIN_STORE } from './plain-store.ts'
import type { Report, Row } from './report.ts'
import { circumstances, copySource, LONG_TIMEOUT, openStage, type Stage } from './stage.ts'

const MEGABYTE = 1_000_000
const MEBIBYTE = 1024 * 1024
const PUSHES = 4
const SIZES = [20, 200]
/** The runtime's own heap, in MB: buffers lie outside of it. */
const HEAP = 128

interface Peaks {
  /** The most that a push, and that a fetch, held in buffers by its own account, in MiB. */
  readonly push: number
  readonly fetch: number
  /** Peak resident memory of the runtime, in MiB. */
  readonly resident: number
}

/**
 * What a history of 20 MB and one of 200 MB take in memory, pushed in four pushes and cloned, with the runtime's heap
 * held to 128 MB; and the repository at `--repo`, if there is one. R2 and the cache are simulated in the same process.
 * So the same is done with a Worker that only moves as many bytes through them: what it takes is theirs.
 */
export async function benchMemory({ repository }: { repository: string }): Promise<Report> {
  process.env.MINIFLARE_WORKERD_V8_FLAGS = `--max-heap-size=${HEAP}`
  const peaks: Peaks[] = []
  for (const size of SIZES) peaks.push(await measure((stage) => pushRandom(stage, (size * MEGABYTE) / PUSHES)))
  const plain: number[] = []
  for (const size of SIZES) plain.push(await measurePlain(size * MEGABYTE))
  const rows: Row[] = peaks.flatMap(({ push, fetch }, i) => [
    row(`buffers of a push, ${SIZES[i]} MB`, push),
    row(`buffers of a clone, ${SIZES[i]} MB`, fetch),
  ])
  if (repository !== '') {
    const { push, fetch, resident } = await measure((stage) => pushSource(stage, repository))
    rows.push(row('buffers of a push, --repo', push), row('buffers of a clone, --repo', fetch))
    rows.push({ name: 'resident, --repo', ours: resident, other: null, unit: 'MiB', reach: null })
  }
  const [small, large] = peaks as [Peaks, Peaks]
  rows.push({
    name: `resident, ${SIZES[1]} MB`,
    ours: large.resident,
    other: small.resident,
    unit: 'MiB',
    reach: '<= 1.3',
  })
  const [plainSmall, plainLarge] = plain as [number, number]
  rows.push({
    name: `resident, ${SIZES[1]} MB that are only moved`,
    ours: plainLarge,
    other: plainSmall,
    unit: 'MiB',
    reach: null,
  })
  return { bench: 'memory', other: `${SIZES[0]} MB`, rows, facts: { heap_mb: HEAP, pushes: PUSHES } }
}

function row(name: string, ours: number): Row {
  return { name, ours, other: null, unit: 'MiB', reach: '<= 64' }
}

async function measure(push: (stage: Stage) => Promise<void>): Promise<Peaks> {
  await using stage = await openStage()
  await push(stage)
  await stage.git.run(['clone', '--quiet', '--bare', stage.atEdge('memory'), stage.path('clone')], {
    timeoutMilliseconds: LONG_TIMEOUT,
  })
  await rm(stage.path('clone'), { recursive: true })
  const { workerd_peak_mib: resident } = await circumstances(stage)
  return { push: peakOf(stage, 'pushed'), fetch: peakOf(stage, 'fetched'), resident: Number(resident) }
}

/** @returns peak resident memory of the runtime in MiB, where nobody asks the edge for anything */
async function measurePlain(bytes: number): Promise<number> {
  await using stage = await openStage({ beside: PLAIN_STORE })
  const url = await stage.edge.besideUrl()
  for (let push = 0; push < PUSHES; push++) {
    const { ok, status } = await fetch(`${url}/${push}`, { method: 'PUT', body: noise(`${push}`, bytes / PUSHES) })
    if (!ok) throw new Error(`the Worker for plain copies answered ${status}`)
  }
  const moved = (await drain(`${url}/all`)).bytes
  if (moved !== bytes) throw new Error(`${bytes} bytes have become ${moved}`)
  const { workerd_peak_mib: resident } = await circumstances(stage)
  return Number(resident)
}

/** The largest account among those that the edge has logged, in MiB. */
function peakOf({ edge }: Stage, event: string): number {
  const lines = edge.logs.filter(({ message }) => message.startsWith(`{"event":"${event}"`))
  if (lines.length === 0) throw new Error(`the edge has logged no ${event}`)
  return Math.max(...lines.map(({ message }) => (JSON.parse(message) as { peakBytes: number }).peakBytes)) / MEBIBYTE
}

/** Pushes commits of files that no compressor makes smaller, a megabyte each. */
async function pushRandom({ git, atEdge, path }: Stage, bytes: number): Promise<void> {
  const directory = path('random.git')
  await git.run(['init', '--quiet', '--bare', '--initial-branch', 'main', directory])
  for (let push = 0; push < PUSHES; push++) {
    const chunks: Uint8Array[] = []
    const write = (text: string) => chunks.push(Buffer.from(text))
    write(`commit refs/heads/main\ncommitter A <a@example.com> ${1_700_000_000 + push} +0000\ndata 0\n`)
    if (push > 0) write('from refs/heads/main^0\n')
    for (let file = 0; file * MEGABYTE < bytes; file++) {
      const content = noise(`${push} ${file}`, Math.min(MEGABYTE, bytes - file * MEGABYTE))
      write(`M 100644 inline ${push}/${file}\ndata ${content.length}\n`)
      chunks.push(content)
      write('\n')
    }
    await git.run(['fast-import', '--quiet'], { cwd: directory, input: Buffer.concat(chunks) })
    await git.run(['push', '--quiet', atEdge('memory'), 'main'], {
      cwd: directory,
      timeoutMilliseconds: LONG_TIMEOUT,
    })
  }
}

async function pushSource(stage: Stage, repository: string): Promise<void> {
  const source = await copySource(stage, repository)
  await stage.git.run(['push', '--quiet', stage.atEdge('memory'), ...source.refspecs], {
    cwd: source.directory,
    timeoutMilliseconds: LONG_TIMEOUT,
  })
}

/** Bytes that look random, the same for the same seed. */
function noise(seed: string, length: number): Uint8Array {
  return createHash('shake128', { outputLength: length }).update(seed).digest()
}
