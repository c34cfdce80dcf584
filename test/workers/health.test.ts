import { expect, test } from 'vitest'
import type { FirehoseStatus } from '../../durable-objects/firehose/answers.ts'
import { KeptValue, upstreamState } from '../../workers/health.ts'

const NOW = 1_796_000_000_000
const MINUTE = 60_000

const STATUS: FirehoseStatus = {
  upstream: 'wss://pds.test',
  isConnected: true,
  isPaused: false,
  reachedAt: NOW - 60 * MINUTE,
  cursor: 1,
  lastEventAt: NOW - 1000,
  lastFrameAt: NOW - 1000,
  lag: 500,
  pendingBatches: 0,
  oldestPendingAt: null,
  reconcileWanted: null,
  lastError: null,
  counts: { frames: 0, events: 0, batches: 0, connects: 0, rewinds: 0, unreadable: 0, dropped: 0, tooLarge: 0 },
}

test.each<[string, Partial<FirehoseStatus> | null, string]>([
  ['is followed', {}, 'ok'],
  ['does not answer', null, 'unreachable'],
  ['is connected anew just now', { isConnected: false }, 'ok'],
  ['has not been connected for minutes', { isConnected: false, lastFrameAt: NOW - 4 * MINUTE }, 'unreachable'],
  ['was never connected', { isConnected: false, lastFrameAt: null }, 'unreachable'],
  ['is not connected yet', { isConnected: false, lastFrameAt: null, reachedAt: NOW - MINUTE }, 'ok'],
  ['is paused', { isConnected: false, isPaused: true, lastFrameAt: NOW - 4 * MINUTE }, 'ok'],
  [
    'is paused, and has a batch that is not applied',
    { isConnected: false, isPaused: true, lastFrameAt: NOW - 4 * MINUTE, oldestPendingAt: NOW - 6 * MINUTE },
    'behind',
  ],
  ['is read minutes late', { lag: 6 * MINUTE }, 'behind'],
  ['was read late before it fell silent', { lag: 6 * MINUTE, lastFrameAt: NOW - 2 * MINUTE }, 'ok'],
  ['has a batch that is not applied', { pendingBatches: 1, oldestPendingAt: NOW - 6 * MINUTE }, 'behind'],
  ['has a batch on its way', { pendingBatches: 1, oldestPendingAt: NOW - MINUTE }, 'ok'],
])('an upstream that %s', (_, change, state) => {
  expect(upstreamState(change && { ...STATUS, ...change }, NOW)).toBe(state)
})

test('counts are read once in five seconds, whoever asks, and again after a failure', async () => {
  const kept = new KeptValue<number>(5000)
  let readings = 0
  const read = async () => {
    if (++readings === 2) throw new Error('D1 is away')
    return readings
  }
  expect(await Promise.all([kept.read(read, NOW), kept.read(read, NOW + 4999)])).toEqual([1, 1])
  await expect(kept.read(read, NOW + 5000)).rejects.toThrow('D1 is away')
  expect(await kept.read(read, NOW + 5001)).toBe(3)
})
