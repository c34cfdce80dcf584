import { expect, test, vi } from 'vitest'
import type { EdgeLog } from '../../dev/edge.ts'
import { startWorld } from './harness.ts'
import { randomBytes } from './history.ts'
import { pktLine } from './wire.ts'
import type { WorkingCopy } from './working-copy.ts'

const world = await startWorld()
const { alice, edge } = world

/** What the edge logs of an event, oldest first. */
function logged(event: string, from = 0): Record<string, unknown>[] {
  const named = ({ message }: EdgeLog) => message.startsWith(`{"event":"${event}"`)
  return edge.logs
    .slice(from)
    .filter(named)
    .map(({ message }) => JSON.parse(message) as Record<string, unknown>)
}

/** The event's first log from then on, as soon as it comes. */
function nextLogged(event: string, from: number): Promise<Record<string, unknown>> {
  return vi.waitFor(
    () => {
      const [first] = logged(event, from)
      if (first === undefined) throw new Error(`the edge has not logged ${event}`)
      return first
    },
    { timeout: 30_000, interval: 20 },
  )
}

/** Asks for a clone that is made for this client alone, and gives the answer as it comes. */
async function startFetch(repository: string, want: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const lines = ['ofs-delta\n', 'no-progress\n', `want ${want}\n`, 'done\n'].map(pktLine)
  const response = await fetch(`${world.at(alice, repository)}/git-upload-pack`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-git-upload-pack-request',
      'Git-Protocol': 'version=2',
      'Cache-Control': 'no-store',
    },
    body: Buffer.concat([pktLine('command=fetch\n'), Buffer.from('0001'), ...lines, Buffer.from('0000')]),
    ...(signal === undefined ? {} : { signal }),
  })
  expect(response.status).toBe(200)
  return response.body!
}

/** A pack out of the pkt-lines of an answer. */
function packIn(answer: Buffer): Buffer {
  const data: Buffer[] = []
  for (let at = 0; at < answer.length; ) {
    const length = Math.max(Number.parseInt(answer.toString('latin1', at, at + 4), 16), 4)
    if (answer[at + 4] === 1 && length > 4) data.push(answer.subarray(at + 5, at + length))
    at += length
  }
  return Buffer.concat(data)
}

async function pushSome(work: WorkingCopy, repository: string, from: number, pushes: number): Promise<void> {
  for (let n = from; n < from + pushes; n++) {
    await work.commit(`push ${n}`, { [`file-${n % 7}.txt`]: `${n}\n${'the same line\n'.repeat(n)}` })
    if (n % 9 === 0) await work.git('tag', '--annotate', '--message', `tag ${n}`, `v${n}`)
    await work.git('push', '--quiet', '--follow-tags', world.as(alice, repository), 'main')
  }
}

test('after sixty pushes there are few packs, and a clone and fetches bring the same objects', async () => {
  const work = await world.init()
  await pushSome(work, 'sixty', 0, 20)
  const early = await world.clone(world.at(alice, 'sixty'))
  await pushSome(work, 'sixty', 20, 40)
  const from = edge.logs.length
  await vi.waitFor(() => expect(logged('packs-merged').at(-1)?.packs).toBeLessThanOrEqual(8), { timeout: 30_000 })
  const clone = await world.clone(world.at(alice, 'sixty'))
  await early.git('fetch', '--quiet', '--tags')
  for (const copy of [clone, early]) {
    await copy.git('fsck', '--strict')
    expect(await copy.objectIds()).toEqual(await work.objectIds())
  }
  const [fetched] = logged('fetched', from)
  expect(fetched?.packs).toBeLessThanOrEqual(8)

  // The account is what it was: whoever reads it afresh gets the same.
  await edge.wipe()
  const cold = await world.clone(world.at(alice, 'sixty'))
  await cold.git('fsck', '--strict')
  expect(await cold.objectIds()).toEqual(await work.objectIds())
})

test('a reading of the account wants nothing again that was merged', async () => {
  const work = await world.init()
  const from = edge.logs.length
  await pushSome(work, 'again', 0, 4)
  await nextLogged('packs-merged', from)
  // A push that lost a race has the account read.
  const other = await world.clone(world.at(alice, 'again'))
  await pushSome(work, 'again', 4, 1)
  await other.commit('too late', { 'other.txt': 'x\n' })
  const requests = await world.pdsRequestsDuring(async () => {
    expect((await other.try('push', world.as(alice, 'again'), 'main')).status).not.toBe(0)
    await other.git('pull', '--quiet', '--no-rebase')
    await other.git('push', '--quiet', world.as(alice, 'again'), 'main')
  })
  expect(requests.some(({ path }) => path.endsWith('getBlob'))).toBe(false)
  expect(logged('ingest-failed', from)).toEqual([])
  const clone = await world.clone(world.at(alice, 'again'))
  expect(await clone.objectIds()).toEqual(await other.objectIds())
})

test('who is in the middle of a clone gets all of it while packs are merged', async () => {
  const work = await world.init()
  await work.commit('large', { 'large.bin': randomBytes(24_000_000, 5) })
  await work.git('push', '--quiet', world.as(alice, 'middle'), 'main')
  await pushSome(work, 'middle', 0, 1)
  const head = await work.resolve('main')
  const reader = (await startFetch('middle', head)).getReader()
  const chunks = [(await reader.read()).value!]
  const from = edge.logs.length
  await pushSome(work, 'middle', 1, 4)
  await nextLogged('packs-merged', from)
  for (let step = await reader.read(); !step.done; step = await reader.read()) chunks.push(step.value)
  const client = await world.init()
  const indexed = await client.tryWith({ input: packIn(Buffer.concat(chunks)) }, 'index-pack', '--stdin', '--strict')
  expect(indexed.stderr).toBe('')
  await client.git('update-ref', 'refs/heads/main', head)
  await client.git('fsck', '--strict')
})

test('nothing more is read for a client that has gone', async () => {
  const work = await world.init()
  await work.commit('large', { 'large.bin': randomBytes(48_000_000, 6) })
  const before = edge.logs.length
  await work.git('push', '--quiet', world.as(alice, 'gone'), 'main')
  const pushed = await nextLogged('pushed', before)
  expect(pushed.peakBytes).toBeGreaterThan(8 * 1024 * 1024)
  expect(pushed.peakBytes).toBeLessThan(64 * 1024 * 1024)
  const head = await work.resolve('main')
  const first = edge.logs.length
  const whole = await startFetch('gone', head)
  for await (const _ of whole);
  const { sent, r2Reads, peakBytes } = await nextLogged('fetched', first)
  expect(sent).toBeGreaterThan(48_000_000)
  expect(r2Reads).toBe(1)
  expect(peakBytes).toBeGreaterThan(1024 * 1024)
  expect(peakBytes).toBeLessThan(16 * 1024 * 1024)

  const second = edge.logs.length
  const controller = new AbortController()
  const body = (await startFetch('gone', head, controller.signal)).getReader()
  await body.read()
  controller.abort()
  const fetched = await nextLogged('fetched', second)
  expect(fetched.isWhole).toBe(false)
  expect(fetched.sent).toBeLessThan(25_000_000)
})
