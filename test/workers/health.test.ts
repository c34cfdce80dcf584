import { expect, test } from 'vitest'
import type { FirehoseStatus } from '../../durable-objects/firehose/answers.ts'
import { upstreamState } from '../../workers/health.ts'

const NOW = 1_796_000_000_000
const MINUTE = 60_000

const STATUS: FirehoseStatus = {
  upstream: 'wss://pds.test',
  isConnected: true,
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
  ['is read minutes late', { lag: 6 * MINUTE }, 'behind'],
  ['was read late before it fell silent', { lag: 6 * MINUTE, lastFrameAt: NOW - 2 * MINUTE }, 'ok'],
  ['has a batch that is not applied', { pendingBatches: 1, oldestPendingAt: NOW - 6 * MINUTE }, 'behind'],
  ['has a batch on its way', { pendingBatches: 1, oldestPendingAt: NOW - MINUTE }, 'ok'],
])('an upstream that %s', (_, change, state) => {
  expect(upstreamState(change && { ...STATUS, ...change }, NOW)).toBe(state)
})
