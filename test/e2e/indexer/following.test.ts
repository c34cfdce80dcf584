import process from 'node:process'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { StreamEvent } from '../../../atproto/firehose/stream-event.ts'
import { REFS_COLLECTION } from '../../../atproto/records/collections.ts'
import { refsKey } from '../../../atproto/records/record-keys.ts'
import { tidFromTime } from '../../../atproto/records/tid.ts'
import type { EventsMessage } from '../../../storage/index/messages.ts'
import { Random } from '../../git/random.ts'
import { dumpIndex, showSearchWords } from '../../storage/index/index-dump.ts'
import { startWorld } from '../harness.ts'
import { DirectWriter } from './direct-push.ts'
import { allEvents, indexedRows, listedRows } from './index-records.ts'
import { health, settled } from './settled.ts'

const world = await startWorld({ isFollowing: true })
const { atmosphere, edge, alice, bob } = world
const carol = await atmosphere.createAccount({ handle: 'carol.test', password: 'carol-password' })
const accounts = [alice, bob, carol]
const writers = accounts.map((account) => new DirectWriter(world, account))
const work = await world.init()
const repositories = writers.map(() => [] as string[])

/** Some of everything that can happen to repositories, in all accounts. */
async function write(round: string): Promise<void> {
  for (const [i, writer] of writers.entries()) {
    const own = repositories[i]!
    await work.commit(`${round} ${i}`, { [`${i}.txt`]: `${round}\n` })
    const repo = await writer.createRepository(`${round}-${i}`, { description: `of ${round}`, topics: [round] })
    await writer.push(repo, work)
    await writer.push(repo, work, 'refs/heads/side')
    for (const older of own) {
      await writer.push(older, work)
      await writer.updateRepository(older, `later-${own.indexOf(older)}-${i}`, { description: `until ${round}` })
    }
    await writer.deleteRef(repo, 'refs/heads/side')
    const entries = [{ name: 'refs/tags/v1', target: '1'.repeat(40), seq: 1 }]
    const value = { $type: REFS_COLLECTION, entries }
    await writer.write([{ action: 'create', collection: REFS_COLLECTION, rkey: refsKey(repo, 64, 1), value }])
    const gone = await writer.createRepository(`gone-${round}`)
    await writer.deleteRepository(gone)
    own.push(repo)
  }
}

async function dump() {
  const db = await edge.database()
  await showSearchWords(db)
  return dumpIndex(db)
}

async function countPushes(): Promise<number> {
  return (await (await edge.database()).prepare('select count(*) as n from pushes').first<number>('n'))!
}

async function expectEqual(): Promise<void> {
  const listed = await listedRows(world, accounts)
  await vi.waitFor(async () => expect(await indexedRows(await edge.database())).toEqual(listed), {
    timeout: 60_000,
    interval: 200,
  })
  await settled(edge)
  expect(await indexedRows(await edge.database())).toEqual(listed)
}

test('what accounts write is in the index: while the edge is up, down, and restarted in the middle', async () => {
  await write('up')
  await expectEqual()
  await edge.stop()
  await write('down')
  await edge.restart()
  await expectEqual()
  const writing = write('restarted')
  await edge.restart()
  await writing
  await expectEqual()
  expect(await health(edge)).toMatchObject({ status: 'ok', deadLetters: 0, droppedRecords: 0 })
})

test('a runtime that is killed, and loses what is in its Queues, loses nothing in the end', async () => {
  let isWritten = false
  const writing = write('killed').finally(() => {
    isWritten = true
  })
  for (let n = 0; n < 2; n++) {
    // In the middle: something of it has come, and most has not.
    const before = await countPushes()
    await vi.waitFor(async () => expect(isWritten || (await countPushes()) > before).toBe(true), {
      timeout: 30_000,
      interval: 20,
    })
    process.kill(await edge.pid(), 'SIGKILL')
    // It is started again by itself.
    await vi.waitFor(async () => expect((await fetch(`${edge.url}/`)).status).toBe(200), {
      timeout: 30_000,
      interval: 100,
    })
  }
  await writing
  // As cron does, of hints that are a minute old.
  await (await edge.database()).prepare('update account_wants set due_at = 0').run()
  await edge.runCron()
  await expectEqual()
})

describe('the whole stream', () => {
  let events: StreamEvent[]
  let before: Awaited<ReturnType<typeof dump>>
  let batch = 0

  beforeAll(async () => {
    await settled(edge)
    events = await allEvents(world)
    before = await dump()
  })

  async function send(some: readonly StreamEvent[]): Promise<void> {
    const queue = await edge.queue<EventsMessage>('EVENTS')
    for (let at = 0; at < some.length; at += 20) {
      await queue.send({ kind: 'events', upstream: 'test', batch: ++batch, events: some.slice(at, at + 20) })
    }
  }

  /** A message of which it can be seen that it was applied, and with it those before. */
  async function applied(): Promise<void> {
    const marker = `did:plc:${String(batch)
      .padStart(24, 'z')
      .replace(/[0189]/g, 'a')}`
    const record = { name: 'marker', defaultBranch: 'main', objectFormat: 'sha1', createdAt: '2026-11-30T12:00:00Z' }
    const value = { $type: 'dev.skein.repo', ...record }
    const place = { did: marker, cursor: 1, time: 1, collection: 'dev.skein.repo', rkey: '3lzkoq5qq2s2a' }
    const queue = await edge.queue<EventsMessage>('EVENTS')
    const rev = tidFromTime(Date.now() * 1000, 0)
    const events = [{ kind: 'record' as const, ...place, rev, value, isProven: true }]
    await queue.send({ kind: 'events', upstream: 'test', batch: ++batch, events })
    const db = await edge.database()
    await vi.waitFor(async () => {
      expect(await db.prepare('select 1 as n from repositories where did = ?').bind(marker).first('n')).toBe(1)
    }, 30_000)
    // It is nobody's: listing it finds that out.
    await vi.waitFor(async () => {
      expect(await db.prepare('select 1 as n from repositories where did = ?').bind(marker).first('n')).toBe(null)
    }, 30_000)
  }

  test('twice, with duplicates, and in another order changes nothing', async () => {
    expect(events.length).toBeGreaterThan(200)
    await send(events)
    await send(events)
    const random = new Random(7)
    const shuffled = [...events, ...events].map((event) => ({ event, at: random.next() })).sort((a, b) => a.at - b.at)
    await send(shuffled.map(({ event }) => event))
    await applied()
    expect(await dump()).toEqual(before)
  })

  test('with a third of it dropped, and all accounts listed then, gives the same', async () => {
    await edge.wipe('d1')
    // Else accounts that come up are listed at once.
    await atmosphere.pause()
    const random = new Random(11)
    await send(events.filter(() => random.next() > 1 / 3))
    await applied()
    expect(await dump()).not.toEqual(before)
    await atmosphere.resume()
    const db = await edge.database()
    // Listings that have failed are put off, once they have.
    const atWork = db.prepare('select count(*) as n from account_wants where at_work_until > 0')
    await vi.waitFor(async () => expect(await atWork.first('n')).toBe(0), 30_000)
    await db.prepare('update account_wants set due_at = 0').run()
    await edge.runCron('11 5 * * SUN')
    await vi.waitFor(async () => expect(await dump()).toEqual(before), { timeout: 30_000, interval: 200 })
    await settled(edge)
    expect(await dump()).toEqual(before)
  })
})
