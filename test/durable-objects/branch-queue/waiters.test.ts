import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Waiters } from '../../../durable-objects/branch-queue/waiters.ts'

beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

/** Waits by name, and notes who has been woken. */
function watched() {
  const waiters = new Waiters()
  const woken: string[] = []
  const wait = (ticket: string, milliseconds: number, name = ticket) =>
    void waiters.wait(ticket, milliseconds).then(() => woken.push(name))
  return { waiters, woken, wait }
}

it('wakes all who wait for what is known now, and nobody else', async () => {
  const { waiters, woken, wait } = watched()
  wait('a', 1_000, 'first')
  wait('a', 2_000, 'second')
  wait('b', 1_000)
  waiters.tell(['a', 'unknown'])
  await vi.advanceTimersByTimeAsync(0)
  expect(woken).toEqual(['first', 'second'])
})

it('lets each wait no longer than it wants to', async () => {
  const { woken, wait } = watched()
  wait('a', 1_000)
  wait('b', 2_000)
  wait('c', 0)
  await vi.advanceTimersByTimeAsync(0)
  expect(woken).toEqual(['c'])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(woken).toEqual(['c', 'a'])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(woken).toEqual(['c', 'a', 'b'])
  expect(vi.getTimerCount()).toBe(0)
})

it('releases who would be gone before anything happens', async () => {
  const { waiters, woken, wait } = watched()
  wait('a', 1_000)
  wait('b', 5_000)
  waiters.release(3_000)
  await vi.advanceTimersByTimeAsync(0)
  expect(woken).toEqual(['a'])
})
