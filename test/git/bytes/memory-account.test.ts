import { describe, expect, it } from 'vitest'
import { type BufferHolder, MemoryAccount, MemoryLimitError } from '../../../git/bytes/memory-account.ts'

class Cache implements BufferHolder {
  heldBytes = 0

  letGo(): void {
    this.heldBytes = 0
  }
}

describe('an account of memory', () => {
  it('adds up what its holders hold, and remembers the most', () => {
    const account = new MemoryAccount(100)
    const [one, other] = [account.enter(new Cache()), account.enter(new Cache())]
    account.check()
    expect(account.peak).toBe(0)
    one.heldBytes = 40
    other.heldBytes = 20
    account.check()
    one.heldBytes = 0
    account.check()
    expect([account.held, account.peak]).toEqual([20, 60])
  })

  it('has as many caches let go as it takes, the first entered first', () => {
    const account = new MemoryAccount(100)
    const table = account.enter({ heldBytes: 50 })
    const [first, second] = [account.enter(new Cache()), account.enter(new Cache())]
    first.heldBytes = 40
    second.heldBytes = 40
    account.check()
    expect([table.heldBytes, first.heldBytes, second.heldBytes]).toEqual([50, 0, 40])
    expect(account.peak).toBe(90)
  })

  it('counts what has left no more, and what is taken for a moment once', () => {
    const account = new MemoryAccount(100)
    const [table, cache] = [account.enter({ heldBytes: 50 }), account.enter(new Cache())]
    cache.heldBytes = 40
    account.check(30)
    expect([cache.heldBytes, account.peak]).toEqual([0, 80])
    expect(() => account.check(51)).toThrow(MemoryLimitError)
    account.leave(table)
    account.leave(table)
    expect(account.held).toBe(0)
  })

  it('ends the work that needs more all the same', () => {
    const account = new MemoryAccount(1024 * 1024)
    account.enter({ heldBytes: 1024 * 1024 + 1 })
    expect(() => account.check()).toThrow(MemoryLimitError)
    expect(() => account.check()).toThrow('2 MiB of buffers are needed; the limit is 1 MiB')
  })
})
