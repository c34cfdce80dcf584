import { expect, test } from 'vitest'
import { costs, monthAwake } from '../../bench/cost/prices.ts'
import { NO_USAGE } from '../../bench/cost/usage.ts'

const NOTHING = { ...NO_USAGE, cpuMilliseconds: 0, logLines: 0 }
const MILLION = 1e6

const total = (measured: Partial<typeof NOTHING>) =>
  costs({ ...NOTHING, ...measured }).reduce((sum, { price }) => sum + price, 0)

test.for([
  ['requests', 0.3],
  ['cpuMilliseconds', 0.02],
  ['objectRequests', 0.15],
  ['objectRowsRead', 0.001],
  ['objectRowsWritten', 1],
  ['classA', 4.5],
  ['classB', 0.36],
  ['databaseRowsRead', 0.001],
  ['databaseRowsWritten', 1],
  // Written, read and deleted, at 0.40 each.
  ['messages', 1.2],
  ['logLines', 0.6],
] as const)('a million of %s cost %d dollars', ([key, price]) => {
  expect(total({ [key]: MILLION })).toBeCloseTo(price, 9)
})

test('what costs nothing is nothing', () => {
  expect(total({})).toBe(0)
})

test('an object that is awake for 30 days is what its duration costs', () => {
  const { gigabyteSeconds, price } = monthAwake()
  expect(gigabyteSeconds).toBe(331_776)
  expect(price).toBeCloseTo(4.147, 3)
  expect(total({ objectMilliseconds: 30 * 86_400_000 })).toBeCloseTo(price, 9)
})
