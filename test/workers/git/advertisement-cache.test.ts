import { expect, test } from 'vitest'
import type { ManifestBase } from '../../../storage/manifest.ts'
import { AdvertisementCache } from '../../../workers/git/advertisement-cache.ts'

const CHUNK = 64 * 1024

const manifest = (version: number, rkey = 'a'): ManifestBase => ({
  did: 'did:plc:alice',
  rkey,
  name: rkey,
  description: null,
  defaultBranch: 'main',
  version,
  packs: [],
})

/** Gives the bytes of a list, and counts how often it is asked to. */
function encoder(...sizes: number[]) {
  const encode = () => {
    encode.calls++
    return sizes.map((size, n) => new Uint8Array(CHUNK).fill(n).subarray(0, size))
  }
  encode.calls = 0
  return encode
}

test('a list is encoded once for a version and a form', () => {
  const cache = new AdvertisementCache()
  const encode = encoder(CHUNK, 100)
  const first = [...cache.encode(manifest(1), 'v2', encode)]
  expect(first.map(({ length }) => length)).toEqual([CHUNK, 100])
  expect([...cache.encode(manifest(1), 'v2', encode)]).toEqual(first)
  expect(encode.calls).toBe(1)
  for (const [base, form] of [
    [manifest(2), 'v2'],
    [manifest(2), 'v0'],
    [manifest(2, 'b'), 'v2'],
  ] as const) {
    const others = encode.calls
    expect([...cache.encode(base, form, encode)]).toEqual(first)
    expect([...cache.encode(base, form, encode)]).toEqual(first)
    expect(encode.calls).toBe(others + 1)
  }
})

test('a newer version takes the place of the older one', () => {
  const cache = new AdvertisementCache()
  for (let version = 1; version < 20; version++)
    expect([...cache.encode(manifest(version), 'v2', encoder(CHUNK))]).toHaveLength(1)
  expect(cache.held).toBe(CHUNK)
})

test.each([
  ['is small', 'v2', encoder(100)],
  ['would drive out all others', 'v2', encoder(...Array<number>(200).fill(CHUNK))],
  ['was asked for at great length', 'x'.repeat(2000), encoder(CHUNK)],
])('a list that %s is not kept', (_, form, encode) => {
  const cache = new AdvertisementCache()
  const chunks = [...cache.encode(manifest(1), form, encode)]
  expect([...cache.encode(manifest(1), form, encode)]).toEqual(chunks)
  expect([encode.calls, cache.held]).toEqual([2, 0])
})

test('a list whose reader leaves is not kept', () => {
  const cache = new AdvertisementCache()
  const encode = encoder(CHUNK, CHUNK)
  for (const _ of cache.encode(manifest(1), 'v2', encode)) break
  expect(cache.held).toBe(0)
  expect([...cache.encode(manifest(1), 'v2', encode)]).toHaveLength(2)
})

test('the lists that were not asked for longest go first', () => {
  const cache = new AdvertisementCache({ capacity: 3 * CHUNK })
  const encode = encoder(CHUNK)
  for (const rkey of ['a', 'b', 'c', 'a', 'd'])
    expect([...cache.encode(manifest(1, rkey), 'v2', encode)]).toHaveLength(1)
  expect([encode.calls, cache.held]).toEqual([4, 3 * CHUNK])
  expect([...cache.encode(manifest(1, 'a'), 'v2', encode)]).toHaveLength(1)
  expect(encode.calls).toBe(4)
})
