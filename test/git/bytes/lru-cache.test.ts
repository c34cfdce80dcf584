import { describe, expect, it } from 'vitest'
import { ByteCache } from '../../../git/bytes/byte-cache.ts'
import { LruCache } from '../../../git/bytes/lru-cache.ts'

describe('LruCache', () => {
  const caching = (budget: number) => new LruCache<string, number>(budget, (cost) => cost)
  const kept = (cache: LruCache<string, number>, ...keys: string[]) =>
    keys.filter((key) => cache.get(key) !== undefined)

  it('drops what was not used longest, and counts what is left', () => {
    const cache = caching(10)
    cache.set('a', 4)
    cache.set('b', 4)
    cache.get('a')
    cache.set('c', 4)
    expect([kept(cache, 'a', 'b', 'c'), cache.held]).toEqual([['a', 'c'], 8])
  })

  it('counts a value that replaces another once, and one that is deleted no more', () => {
    const cache = caching(10)
    cache.set('a', 4)
    cache.set('a', 6)
    expect(cache.held).toBe(6)
    cache.delete('a')
    cache.delete('never there')
    expect(cache.held).toBe(0)
  })

  it('keeps the newest, whatever it costs, and drops it for the next', () => {
    const cache = caching(10)
    cache.set('a', 1)
    cache.set('large', 100)
    expect([kept(cache, 'a', 'large'), cache.held]).toEqual([['large'], 100])
    cache.set('b', 1)
    expect([kept(cache, 'large', 'b'), cache.held]).toEqual([['b'], 1])
  })
})

describe('ByteCache', () => {
  it('does not keep an array that alone exceeds its budget, nor what it would replace', () => {
    const cache = new ByteCache(1000)
    cache.set(1, new Uint8Array(100))
    cache.set(2, new Uint8Array(1001))
    expect([cache.get(1)?.length, cache.get(2)]).toEqual([100, undefined])
    cache.set(1, new Uint8Array(1001))
    expect([cache.get(1), cache.held]).toEqual([undefined, 0])
  })

  it('counts what an array takes beside its bytes: many small ones do not fill the memory', () => {
    const cache = new ByteCache(10_000)
    for (let key = 0; key < 1000; key++) cache.set(key, new Uint8Array(1))
    const kept = Array.from({ length: 1000 }, (_, key) => key).filter((key) => cache.get(key) !== undefined)
    expect(kept.length).toBeLessThan(60)
    expect(kept.at(-1)).toBe(999)
  })
})
