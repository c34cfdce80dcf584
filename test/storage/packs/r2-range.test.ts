import { describe, expect, it } from 'vitest'
import { CountedReader, type PackReader } from '../../../storage/packs/pack-reader.ts'
import { ObjectGoneError, R2Range } from '../../../storage/packs/r2-range.ts'

const KEY = 'packs/did/rkey/id.pack'
const BLOCK = 128 * 1024
const CONTENT = Uint8Array.from({ length: 5 * BLOCK + 100 }, (_, i) => (i * 31 + (i >> 8)) & 0xff)

/** A bucket with one object. */
const bucket: PackReader = {
  async get(key, options) {
    if (key !== KEY) return null
    const { offset = 0, length = CONTENT.length } = (options?.range ?? {}) as { offset?: number; length?: number }
    const bytes = CONTENT.slice(offset, offset + length)
    return { arrayBuffer: async () => bytes.buffer } as R2ObjectBody
  },
}

function open(key = KEY) {
  const reader = new CountedReader(bucket)
  return { reader, range: new R2Range(reader, key, CONTENT.length) }
}

const expected = (offset: number, length: number) => CONTENT.slice(offset, offset + length)

describe('reading a range of an R2 object', () => {
  it.each([
    ['within a block', 10, 100],
    ['across two blocks', BLOCK - 10, 20],
    ['to the end', 5 * BLOCK - 10, 110],
    ['more than two blocks', 1000, 3 * BLOCK],
  ])('%s takes one request', async (_, offset, length) => {
    const { reader, range } = open()
    expect(await range.read(offset, length)).toEqual(expected(offset, length))
    expect(reader.reads).toBe(1)
  })

  it('serves what is near from what it has', async () => {
    const { reader, range } = open()
    for (let at = 0; at < 20; at++) expect(await range.read(at * 1000, 1000)).toEqual(expected(at * 1000, 1000))
    expect(reader.reads).toBe(1)
    await Promise.all([range.read(BLOCK - 5, 10), range.read(BLOCK + 5, 10), range.read(2 * BLOCK - 5, 10)])
    expect(await range.read(2 * BLOCK - 5, 10)).toEqual(expected(2 * BLOCK - 5, 10))
    expect(reader.reads).toBe(3)
  })

  it('holds no more than it says, and lets that go', async () => {
    const { reader, range } = open()
    const reading = range.read(0, 3 * BLOCK)
    expect(range.heldBytes).toBe(3 * BLOCK)
    await reading
    expect(range.heldBytes).toBe(0)
    await range.read(0, 10)
    expect(range.heldBytes).toBeGreaterThanOrEqual(BLOCK)
    range.letGo()
    expect(range.heldBytes).toBe(0)
    expect(await range.read(0, 10)).toEqual(expected(0, 10))
    expect(reader.reads).toBe(3)
  })

  it('says that the object is gone', async () => {
    const { range } = open('packs/did/rkey/other.pack')
    await expect(range.read(BLOCK - 10, 20)).rejects.toThrow(ObjectGoneError)
  })
})
