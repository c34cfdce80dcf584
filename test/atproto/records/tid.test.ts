import { expect, test } from 'vitest'
import { isTid, TidClock, tidFromTime, tidTime } from '../../../atproto/records/tid.ts'

test('a TID holds its time, and sorts by it', () => {
  // Microseconds of 2026-11-30T12:00:00Z: more than 2^50.
  const time = Date.parse('2026-11-30T12:00:00Z') * 1000
  const tid = tidFromTime(time, 1023)
  expect(isTid(tid)).toBe(true)
  expect(tidTime(tid)).toBe(time)
  expect(tidFromTime(time + 1, 0) > tid).toBe(true)
  expect(tidFromTime(0, 0)).toBe('2222222222222')
})

test.each(['', '3jzfcijpj2z2', '3jzfcijpj2z2aa', '3JZFCIJPJ2Z2A', 'zzzzzzzzzzzzz', '0000000000000'])(
  '%j is no TID',
  (text) => {
    expect(isTid(text)).toBe(false)
  },
)

test('a clock that stands still, or goes back, still gives larger ones', () => {
  let now = 1_000_000
  const clock = new TidClock(() => now, 5)
  const tids = [clock.next(), clock.next(), clock.next()]
  now -= 1000
  tids.push(clock.next())
  tids.push(clock.next(tidFromTime(9_000_000_000_000, 0)))
  expect(tids).toEqual(tids.toSorted())
  expect(new Set(tids).size).toBe(5)
  expect(tidTime(tids[4]!)).toBe(9_000_000_000_001)
})
