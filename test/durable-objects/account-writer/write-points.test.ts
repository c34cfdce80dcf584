import { expect, test } from 'vitest'
import { PdsBudgetError } from '../../../atproto/pds/pds-error.ts'
import type { Write } from '../../../atproto/pds/write.ts'
import { type PointLimit, pointsOf, WritePoints } from '../../../durable-objects/account-writer/write-points.ts'
import { startLocalAccount } from '../../atproto/local-account.ts'
import { MemoryStore } from './memory-store.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const LIMITS: readonly PointLimit[] = [
  { points: 10, window: HOUR },
  { points: 25, window: 24 * HOUR },
]

/** At the beginning of an interval. */
const START = Date.UTC(2026, 10, 30, 12)

function create(rkey = 'a'): Write {
  return { action: 'create', collection: 'dev.skein.ref', rkey, value: {} }
}

function open(clock: { now: number }, store = new MemoryStore(), limits = LIMITS): WritePoints {
  return new WritePoints({ host: 'pds.example', store, now: () => clock.now, limits })
}

/** Seconds until there is room, or 0 where it was taken. */
async function take(points: WritePoints, ...writes: Write[]): Promise<number> {
  try {
    await points.take(writes)
    return 0
  } catch (fault) {
    if (fault instanceof PdsBudgetError) return fault.retryAfter!
    throw fault
  }
}

test('writes cost what the reference PDS counts', () => {
  const change = { collection: 'dev.skein.ref', rkey: 'a' }
  expect(pointsOf([create(), { action: 'update', value: {}, ...change }, { action: 'delete', ...change }])).toBe(6)
})

test('what does not fit into the hour is refused until it does', async () => {
  const clock = { now: START }
  const points = open(clock)
  expect(await take(points, create(), create(), create())).toBe(0)
  // One point is left. What was spent counts as if it were spent at the end of its ten minutes.
  expect(await take(points, create())).toBe(70 * 60)
  clock.now += 70 * MINUTE - 1000
  expect(await take(points, create())).toBe(1)
  clock.now += 1000
  expect(await take(points, create())).toBe(0)
})

test('only as much has to pass as makes room', async () => {
  const clock = { now: START }
  const points = open(clock)
  await points.take([create()])
  clock.now += 20 * MINUTE
  await points.take([create(), create()])
  expect(await take(points, create())).toBe(50 * 60)
  expect(await take(points, create(), create(), create())).toBe(70 * 60)
})

test('the day has a limit of its own', async () => {
  const clock = { now: START }
  const points = open(clock)
  await points.take([create(), create(), create()])
  clock.now += 2 * HOUR
  await points.take([create(), create(), create()])
  clock.now += 2 * HOUR
  await points.take([create(), create()])
  // 24 of 25: what was spent first has to go.
  expect(await take(points, create())).toBe((20 * 60 + 10) * 60)
})

test('an object that starts anew knows what was spent', async () => {
  const clock = { now: START }
  const store = new MemoryStore()
  await open(clock, store).take([create(), create(), create()])
  expect(await take(open(clock, store), create())).toBe(70 * 60)
})

test('a batch that is larger than a window goes when nothing else is in it', async () => {
  const clock = { now: START }
  const points = open(clock, new MemoryStore(), [{ points: 5, window: HOUR }])
  expect(await take(points, create(), create())).toBe(0)
  expect(await take(points, create(), create())).toBe(70 * 60)
})

test('a host that does not count is not counted for, and one that begins to is', async () => {
  const clock = { now: START }
  const points = open(clock)
  await points.take([create(), create(), create()])
  await points.learn(false)
  expect(await take(points, create(), create())).toBe(0)
  await points.learn(true)
  expect(await take(points, create())).toBeGreaterThan(0)
})

test('the reference PDS says whether it counts', async () => {
  await using counting = await startLocalAccount({ rateLimits: true })
  await using free = await startLocalAccount()
  expect(await counting.applyWrites([create()])).toEqual({ isCounted: true })
  expect(await free.applyWrites([create()])).toEqual({ isCounted: false })
}, 60_000)
