import { env } from 'cloudflare:test'
import { drizzle } from 'drizzle-orm/d1'
import { beforeEach, describe, expect, it } from 'vitest'
import type { StreamEvent } from '../../../atproto/firehose/stream-event.ts'
import { tidFromTime } from '../../../atproto/records/tid.ts'
import type { Environment } from '../../../durable-objects/environment.ts'
import { IndexStore } from '../../../storage/index/index-store.ts'
import { dumpIndex, emptyIndex, findWant, showSearchWords } from './index-dump.ts'
import { batches, RandomAccount, randomNumbers, START, shuffled } from './random-stream.ts'

// However a stream comes, what it leaves is what the accounts hold.
const { DB } = env as unknown as Environment
const store = new IndexStore(drizzle(DB))
const NOW = START + 24 * 3_600_000
const SEEDS = [1, 2, 3, 4, 5, 6]

beforeEach(() => showSearchWords(DB))

async function indexOf(fill: () => Promise<void>): Promise<Record<string, unknown[]>> {
  await emptyIndex(DB)
  await fill()
  return dumpIndex(DB)
}

async function follow(events: readonly StreamEvent[], random: (bound: number) => number): Promise<void> {
  for (const batch of batches(events, random)) await store.apply(batch, NOW)
}

describe.each(SEEDS)('a stream of several accounts (seed %i)', (seed) => {
  const random = randomNumbers(seed)
  const accounts = Array.from({ length: 4 }, (_, n) => new RandomAccount(n, random))
  for (let i = 0; i < 300; i++) accounts[random(accounts.length)]!.commit()
  const events = shuffled(
    accounts.flatMap((account) => account.events),
    () => 1,
  ).sort((a, b) => (a.rev < b.rev ? -1 : 1))
  const listAll = async () => {
    for (const account of accounts) await store.replaceAccount(account.snapshot(NOW), NOW)
  }

  it('leaves the same, in order, shuffled, doubled, with a third missing and then listed, or only listed', async () => {
    const expected = await indexOf(() => follow(events, random))
    expect(expected.repositories!.length).toBeGreaterThan(5)
    expect(expected.pushes!.length).toBeGreaterThan(20)
    expect(expected.search!.length).toBeGreaterThan(30)
    expect(await indexOf(() => follow(shuffled(events, random), random))).toEqual(expected)
    expect(
      await indexOf(async () => {
        await follow(events, random)
        await follow(events, random)
      }),
    ).toEqual(expected)
    expect(await indexOf(listAll)).toEqual(expected)
    const some = events.filter(() => random(3) > 0)
    expect(
      await indexOf(async () => {
        await follow(shuffled(some, random), random)
        await listAll()
      }),
    ).toEqual(expected)
    // What comes after the listing, and is older, changes nothing.
    expect(
      await indexOf(async () => {
        await listAll()
        await follow(shuffled(some, random), random)
      }),
    ).toEqual(expected)
  })

  it('leaves the same whatever strangers say of the accounts, once those that are wanted are listed', async () => {
    const expected = await indexOf(listAll)
    const lies = events.flatMap((event): StreamEvent[] => {
      const { did, cursor, time } = event
      // Newer than all that is true, so that it would win.
      const rev = tidFromTime((NOW - random(1000)) * 1000, random(1024))
      switch (random(6)) {
        case 0:
          return [{ kind: 'account', did, cursor, time: NOW, isActive: false, status: 'deleted' }]
        case 1:
          return [{ ...event, rev, value: null, isProven: false }]
        case 2:
          return [{ ...event, rev, value: events[random(events.length)]!.value, isProven: false }]
        case 3:
          return [{ kind: 'account', did, cursor, time, isActive: random(2) === 0, status: null }]
        default:
          return []
      }
    })
    const listWanted = async () => {
      for (const account of accounts)
        if (await findWant(DB, account.did)) await store.replaceAccount(account.snapshot(NOW), NOW)
    }
    expect(
      await indexOf(async () => {
        await listAll()
        await follow(shuffled(lies, random), random)
      }),
    ).toEqual(expected)
    // With nothing else to go by.
    expect(
      await indexOf(async () => {
        const unproven = events.map((event) => ({ ...event, isProven: false }))
        await follow(shuffled([...lies, ...unproven], random), random)
        expect((await dumpIndex(DB)).repositories).toEqual([])
        await listWanted()
      }),
    ).toEqual(expected)
    expect(
      await indexOf(async () => {
        await follow(shuffled([...lies, ...events], random), random)
        await listWanted()
      }),
    ).toEqual(expected)
  })

  it('leaves the same where accounts go on writing while they are listed', async () => {
    const early = accounts.map((account) => account.snapshot(NOW))
    const before = accounts.map((account) => account.events.length)
    for (let i = 0; i < 100; i++) accounts[random(accounts.length)]!.commit()
    const later = accounts.flatMap((account, i) => account.events.slice(before[i]!))
    const expected = await indexOf(async () => {
      for (const account of accounts) await store.replaceAccount(account.snapshot(NOW + 1), NOW)
    })
    expect(
      await indexOf(async () => {
        await follow(shuffled(later, random), random)
        for (const snapshot of early) await store.replaceAccount(snapshot, NOW)
      }),
    ).toEqual(expected)
    // And where a newer listing is overtaken by an older one.
    expect(
      await indexOf(async () => {
        for (const account of accounts) await store.replaceAccount(account.snapshot(NOW + 1), NOW)
        for (const snapshot of early) await store.replaceAccount(snapshot, NOW)
      }),
    ).toEqual(expected)
  })
})
