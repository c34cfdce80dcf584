import { expect, test } from 'vitest'
import { FileCache } from '../../../storage/packs/file-cache.ts'

const KEY = 'packs/did:plc:a/3l/3m.idx'

/** A bucket that answers each `get` as the next of `answers` says. */
function bucket(...answers: (() => Promise<unknown>)[]): { readonly asked: () => number; readonly r2: R2Bucket } {
  let asked = 0
  return { asked: () => asked, r2: { get: () => answers[asked++]!() } as unknown as R2Bucket }
}

function file(bytes: Uint8Array) {
  return async () => ({ arrayBuffer: async () => bytes.buffer })
}

const never = () => new Promise<never>(() => undefined)
const parse = (bytes: Uint8Array) => bytes

test('a file is read once, also by those who ask at once', async () => {
  const { r2, asked } = bucket(file(new Uint8Array(3)))
  const cache = new FileCache(parse)
  const files = await Promise.all([cache.get(r2, KEY), cache.get(r2, KEY), cache.get(r2, KEY)])
  expect(new Set(files).size).toBe(1)
  expect(await cache.get(r2, KEY)).toBe(files[0])
  expect(asked()).toBe(1)
})

test('a reading that is never settled, since its request was cut off, holds up nobody for long', async () => {
  const { r2 } = bucket(never, file(new Uint8Array(3)))
  const cache = new FileCache(parse, { patience: 1 })
  void cache.get(r2, KEY)
  expect((await cache.get(r2, KEY)).length).toBe(3)
})

test('a failed reading is not kept', async () => {
  const { r2 } = bucket(
    () => Promise.reject(new Error('R2 is away')),
    async () => null,
    file(new Uint8Array(3)),
  )
  const cache = new FileCache(parse)
  await expect(cache.get(r2, KEY)).rejects.toThrow('R2 is away')
  await expect(cache.get(r2, KEY)).rejects.toThrow('is not in the bucket')
  expect((await cache.get(r2, KEY)).length).toBe(3)
})

test('the least recently used files go first, and one that is too large alone stays until the next', async () => {
  const sizes = [4, 4, 4, 4, 20, 4]
  const { r2, asked } = bucket(...sizes.map((size) => file(new Uint8Array(size))))
  const cache = new FileCache(parse, { capacity: 12 })
  for (const key of ['a', 'b', 'c']) await cache.get(r2, key)
  await cache.get(r2, 'a')
  await cache.get(r2, 'd')
  expect(asked()).toBe(4)
  await cache.get(r2, 'a')
  expect(asked()).toBe(4)
  await cache.get(r2, 'large')
  await cache.get(r2, 'large')
  expect(asked()).toBe(5)
  await cache.get(r2, 'b')
  expect(asked()).toBe(6)
})
