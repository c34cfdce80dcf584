import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { percentile } from './measure.ts'
import { type MeasuredPage, pagesOf } from './pages/page-table.ts'
import type { Report, Row } from './report.ts'
import { cpuOf } from './server-cpu.ts'
import { circumstances, copySource, LONG_TIMEOUT, openStage, type Stage } from './stage.ts'
import { NO_STORE } from './upload-pack-request.ts'

const REPOSITORY = 'pages'
/** Requests of one round that are counted, and those before them, for which the runtime compiles. */
const REQUESTS = 40
const WARM_UP = 15
/** What a page may have, compressed, without its pictures. Bytes. */
const MAX_COMPRESSED = 30 * 1024
/** Milliseconds that one is answered in. */
const CARD = 3
/** By then the facts of a repository are gathered. */
const FACTS_MILLISECONDS = 10_000
/** What Cloudflare compresses with on the way, more or less. */
const GZIP = { level: 6 }
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

type Headers = Readonly<Record<string, string>>
const AS_BROWSER: Headers = { Accept: 'text/html' }
/** Drawn for this reader alone, from what the mirror has. */
const ANEW: Headers = { ...AS_BROWSER, ...NO_STORE }

/**
 * What pages take: asked again, drawn anew by an isolate that has the mirror's files and highlighted texts at hand, and by a
 * process that was just started and has but its code. Readers ask one after the other over one connection.
 */
export async function benchPages({ repository, rounds }: { repository: string; rounds: number }): Promise<Report> {
  await using stage = await openStage({ isFollowing: true })
  const source = await copySource(stage, repository)
  await stage.git.run(['push', '--quiet', stage.atEdge(REPOSITORY), ...source.refspecs], {
    cwd: source.directory,
    timeoutMilliseconds: LONG_TIMEOUT,
  })
  const pages = await pagesOf(stage.git, source, `/${stage.alice.handle}/${REPOSITORY}`)
  const rows: Row[] = []
  const card = await cardOf(stage, pages.find(({ name }) => name === 'repository')!)
  pages.push(card)
  for (const page of pages) {
    const again = await measureWarm(stage, page, AS_BROWSER, rounds)
    const anew = await measureWarm(stage, page, ANEW, rounds)
    const sizes = sizesOf(await ask(stage, page, AS_BROWSER))
    const isSmall = page.isTypical ? `<= ${MAX_COMPRESSED}` : null
    rows.push(
      row(`${page.name}: asked again, p50`, 'ms', percentile(again.times, 50), reachOf(page.reach)),
      row(`${page.name}: asked again, p95`, 'ms', percentile(again.times, 95)),
      row(`${page.name}: asked again, CPU`, 'ms', again.cpu),
      row(`${page.name}: drawn anew, p50`, 'ms', percentile(anew.times, 50)),
      row(`${page.name}: drawn anew, p95`, 'ms', percentile(anew.times, 95)),
      row(`${page.name}: drawn anew, CPU`, 'ms', anew.cpu),
      row(`${page.name}: HTML`, 'bytes', sizes.plain),
      row(`${page.name}: gzip`, 'bytes', sizes.gzip, isSmall),
      row(`${page.name}: brotli`, 'bytes', sizes.brotli),
    )
  }
  for (const page of pages) {
    const kept = await measureCold(stage, page, AS_BROWSER, rounds)
    const cold = await measureCold(stage, page, ANEW, rounds)
    rows.push(
      row(`${page.name}: new process, drawn before, p50`, 'ms', percentile(kept, 50)),
      row(`${page.name}: new process, drawn anew, p50`, 'ms', percentile(cold, 50), reachOf(page.coldReach)),
      row(`${page.name}: new process, drawn anew, p95`, 'ms', percentile(cold, 95)),
    )
  }
  return {
    bench: 'pages',
    other: 'nothing',
    rows,
    facts: { ...source.facts, rounds, requests: rounds * REQUESTS, ...(await circumstances(stage)) },
  }
}

async function measureWarm(
  stage: Stage,
  page: MeasuredPage,
  headers: Headers,
  rounds: number,
): Promise<{ times: number[]; cpu: number }> {
  for (let n = 0; n < WARM_UP; n++) await ask(stage, page, headers)
  const pid = await stage.edge.pid()
  const before = await cpuOf(pid)
  const times: number[] = []
  for (let n = 0; n < rounds * REQUESTS; n++) {
    const start = performance.now()
    await ask(stage, page, headers)
    times.push(performance.now() - start)
  }
  return { times, cpu: ((await cpuOf(pid)) - before) / times.length }
}

/** The first request for the page to processes that have loaded their code, and nothing else. */
async function measureCold(stage: Stage, page: MeasuredPage, headers: Headers, rounds: number): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    await stage.edge.restart()
    await (await fetch(`${stage.edge.url}/-/assets/any/icon.svg`)).arrayBuffer()
    const start = performance.now()
    await ask(stage, page, headers)
    times.push(performance.now() - start)
  }
  return times
}

/** @throws where the page does not come */
async function ask({ edge }: Stage, { path }: MeasuredPage, headers: Headers): Promise<Uint8Array> {
  const response = await fetch(edge.url + path, { headers })
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${new TextDecoder().decode(bytes)}`)
  return bytes
}

/** The picture that a page is shared with. */
async function cardOf(stage: Stage, page: MeasuredPage): Promise<MeasuredPage> {
  // Twice: what it says of the repository is gathered after the first answer.
  await ask(stage, page, AS_BROWSER)
  await new Promise((resolve) => setTimeout(resolve, FACTS_MILLISECONDS))
  const html = new TextDecoder().decode(await ask(stage, page, AS_BROWSER))
  const url = /<meta property="og:image" content="([^"]+)">/.exec(html)?.[1]
  if (url === undefined) throw new Error(`${page.path} has no picture`)
  return { name: 'card', path: new URL(url).pathname, reach: CARD, coldReach: null, isTypical: false }
}

function sizesOf(page: Uint8Array): { plain: number; gzip: number; brotli: number } {
  return { plain: page.length, gzip: gzipSync(page, GZIP).length, brotli: brotliCompressSync(page, BROTLI).length }
}

function reachOf(milliseconds: number | null): string | null {
  return milliseconds === null ? null : `<= ${milliseconds}`
}

function row(name: string, unit: string, ours: number, reach: string | null = null): Row {
  return { name, ours, other: null, unit, reach }
}
