import { env } from 'cloudflare:test'
import { drizzle } from 'drizzle-orm/d1'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Environment } from '../../../durable-objects/environment.ts'
import { AccountWants } from '../../../storage/index/account-wants.ts'
import { IndexStore } from '../../../storage/index/index-store.ts'
import { emptyIndex, findWant } from './index-dump.ts'
import { didOf } from './random-stream.ts'

const { DB } = env as unknown as Environment
const wants = new AccountWants(drizzle(DB))
const store = new IndexStore(drizzle(DB))
const NOW = 1_795_000_000_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const [ALICE, BOB] = [didOf(1), didOf(2)]

beforeEach(() => emptyIndex(DB))

/** Accounts that the index knows to be at a host. */
async function hosted(host: string, from: number, count: number): Promise<string[]> {
  const dids = Array.from({ length: count }, (_, n) => didOf(from + n))
  await DB.batch(dids.map((did) => DB.prepare('insert into accounts (did, pds) values (?, ?)').bind(did, host)))
  return dids
}

const begun = async (dids: readonly string[], now = NOW) => {
  const all: string[] = []
  for (const did of dids) if ((await wants.begin(did, now, now + HOUR)) !== null) all.push(did)
  return all
}

describe('an account that is to be listed', () => {
  it('is wanted until it was listed after it was wanted', async () => {
    const both = [ALICE, BOB].map((did) => ({ did, dueAt: NOW }))
    expect(await wants.want([ALICE, BOB, ALICE], 'test', NOW)).toEqual(both)
    const first = await findWant(DB, ALICE)
    expect(await wants.want([ALICE], 'test', NOW)).toEqual([])
    expect(await wants.done(ALICE, first!.wantedAt)).toBe(false)
    expect(await wants.begin(ALICE, NOW - 1, NOW + 50)).toBe(null)
    expect(await wants.begin(ALICE, NOW, NOW + 50)).toMatchObject({ did: ALICE, tries: 1, host: null })
    expect(await wants.begin(ALICE, NOW, NOW + 50)).toBe(null)
    await wants.putOff(ALICE, NOW + 100, 'the host does not answer')
    expect(await wants.countDue(NOW)).toBe(1)
    expect(await wants.due(NOW, 10)).toEqual([{ did: BOB, dueAt: NOW }])
    expect(await wants.due(NOW + 100, 1)).toMatchObject([{ did: BOB }])
    const again = await findWant(DB, ALICE)
    expect(again).toMatchObject({ tries: 1, reason: 'the host does not answer', dueAt: NOW + 100 })
    expect(await wants.done(ALICE, again!.wantedAt)).toBe(true)
    expect(await wants.count()).toBe(1)
  })

  it('is put off longer each time that a listing of it begins: one that is killed tells nobody', async () => {
    await wants.want([ALICE], 'test', NOW)
    const leases: number[] = []
    for (let now = NOW; leases.length < 70; ) {
      await wants.begin(ALICE, now, now + 50)
      const { dueAt } = (await findWant(DB, ALICE))!
      leases.push(dueAt - now)
      now = dueAt
    }
    expect(leases.slice(0, 5)).toEqual([50, 100, 200, 400, 800])
    expect(leases.at(-1)).toBe(50 * 512)
  })

  /** Wants it again each time that it has been listed. @returns the pauses between, in seconds */
  async function pauses(times: number, extra = 0): Promise<number[]> {
    const all: number[] = []
    let now = NOW
    for (let n = 0; n < times; n++) {
      const [want] = await wants.want([ALICE], 'an event', now)
      all.push((want!.dueAt - now) / 1000)
      now = want!.dueAt + extra
      expect(await wants.begin(ALICE, want!.dueAt - 1, now + HOUR)).toBe(null)
      const begun = await wants.begin(ALICE, now, now + HOUR)
      await wants.done(ALICE, begun!.wantedAt)
    }
    return all
  }

  it('waits the longer the more often it was listed lately', async () => {
    const all = await pauses(40)
    expect(all.slice(0, 7)).toEqual([0, 2, 4, 8, 16, 32, 64])
    // Some twelve times an hour, however often it is wanted.
    const steady = all.slice(-20).reduce((sum, pause) => sum + pause, 0) / 20
    expect(steady).toBeGreaterThan(240)
    expect(steady).toBeLessThan(400)
  })

  it('waits no longer where that is a while ago, or where the operator wants it now', async () => {
    await pauses(6)
    expect(await wants.want([ALICE], 'operator', NOW + MINUTE, true)).toEqual([{ did: ALICE, dueAt: NOW + MINUTE }])
    await wants.done(ALICE, (await findWant(DB, ALICE))!.wantedAt)
    const later = NOW + 2 * HOUR
    expect(await wants.want([ALICE], 'an event', later)).toEqual([{ did: ALICE, dueAt: later }])
    await emptyIndex(DB)
    expect(await pauses(5, 6 * MINUTE)).toEqual([0, 2, 2, 2, 2])
  })

  it('does not wait, once the operator wants it, for what was said of it before, unless it is being listed', async () => {
    await pauses(6)
    const [paused] = await wants.want([ALICE], 'an event', NOW + MINUTE)
    expect(paused!.dueAt).toBeGreaterThan(NOW + MINUTE)
    const now = { did: ALICE, dueAt: NOW + MINUTE }
    expect(await wants.want([ALICE], 'operator', NOW + MINUTE, true)).toEqual([now])
    expect(await wants.want([ALICE], 'operator', NOW + MINUTE, true)).toEqual([])
    expect(await wants.begin(ALICE, NOW + MINUTE, NOW + HOUR)).toMatchObject({ did: ALICE })
    expect(await wants.want([ALICE], 'operator', NOW + 2 * MINUTE, true)).toEqual([])
    expect(await wants.begin(ALICE, NOW + 2 * MINUTE, NOW + HOUR)).toBe(null)
    await wants.putOff(ALICE, NOW + 20 * HOUR, 'the host does not answer')
    expect(await wants.want([ALICE], 'an event', NOW + HOUR)).toEqual([])
    const later = { did: ALICE, dueAt: NOW + HOUR }
    expect(await wants.want([ALICE], 'operator', NOW + HOUR, true)).toEqual([later])
  })

  it('is not taken for one whose listings fail because it is wanted again while it is listed', async () => {
    await wants.want([ALICE], 'test', NOW)
    for (let n = 0; n < 3; n++) {
      const want = await wants.begin(ALICE, NOW, NOW + HOUR)
      expect(want).toMatchObject({ tries: 1 })
      await wants.want([ALICE], 'an event', NOW)
      expect(await wants.done(ALICE, want!.wantedAt)).toBe(false)
      await wants.renew(ALICE, NOW)
    }
    expect(await findWant(DB, ALICE)).toMatchObject({ tries: 0, dueAt: NOW })
  })

  it('waits also where an event wants it, and is told then', async () => {
    await hosted('https://pds.test', 1, 1)
    await wants.want([ALICE], 'test', NOW)
    await wants.done(ALICE, (await wants.begin(ALICE, NOW, NOW + HOUR))!.wantedAt)
    const event = { kind: 'identity', did: ALICE, cursor: 1, time: NOW } as const
    expect((await store.apply([event], NOW + 500)).wanted).toEqual([{ did: ALICE, dueAt: NOW + 2000 }])
    await wants.prune(NOW + 25 * HOUR)
    expect(await DB.prepare('select count(*) as n from listing_pauses').first('n')).toBe(0)
  })
})

describe('a host with very many accounts', () => {
  it('has few of them listed at once, and others theirs meanwhile', async () => {
    const many = await hosted('https://many.test', 100, 300)
    const few = await hosted('https://few.test', 10, 3)
    const unknown = Array.from({ length: 130 }, (_, n) => didOf(1000 + n))
    await wants.want(many, 'test', NOW)
    await wants.want([...few, ...unknown], 'test', NOW + 1)
    const due = (await wants.due(NOW + 1, 500)).map(({ did }) => did)
    const counts = [many, few, unknown].map((own) => due.filter((did) => own.includes(did)).length)
    expect(counts).toEqual([4, 3, 100])
    // In turns, so that none is left out where there is room for less.
    const first = (await wants.due(NOW + 1, 27)).map(({ did }) => did)
    expect([many, few, unknown].map((own) => first.filter((did) => own.includes(did)).length)).toEqual([1, 1, 25])

    expect(await begun([...many.slice(0, 10), ...few], NOW + 1)).toEqual([...many.slice(0, 4), ...few])
    const next = await wants.next('https://many.test', NOW + 1)
    expect(many.slice(4)).toContain(next)
    expect(await begun([next!], NOW + 1)).toEqual([])
    await wants.putOff(many[0]!, NOW + HOUR, 'it does not answer')
    expect(await begun([next!], NOW + 1)).toEqual([next])
    // Who is killed keeps its place no longer than its lease.
    expect(await begun(many.slice(20, 30), NOW + 2 * HOUR)).toHaveLength(4)
    expect(await wants.next('https://few.test', NOW + 1)).toBe(null)
    expect(unknown).toContain(await wants.next(null, NOW + 1))
  })

  it('is found out by who it hosts', async () => {
    const strangers = Array.from({ length: 6 }, (_, n) => didOf(20 + n))
    await wants.want(strangers, 'test', NOW)
    expect(await begun(strangers)).toEqual(strangers)
    const placed: boolean[] = []
    for (const did of strangers) placed.push(await wants.place(did, 'https://many.test', NOW))
    expect(placed).toEqual([true, true, true, true, false, false])
    expect(await findWant(DB, strangers[5]!)).toMatchObject({ tries: 0, dueAt: NOW, host: 'https://many.test' })
    expect(await begun(strangers.slice(4))).toEqual([])
    expect(await wants.place(strangers[4]!, 'https://other.test', NOW)).toBe(false)
    expect(await begun(strangers.slice(4))).toEqual([strangers[4]])
    expect(await wants.place(strangers[4]!, 'https://other.test', NOW)).toBe(true)
  })
})
