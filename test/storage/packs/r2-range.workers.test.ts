import { env } from 'cloudflare:test'
import { expect, it } from 'vitest'
import type { Environment } from '../../../durable-objects/environment.ts'
import { CountedReader, type PackReader } from '../../../storage/packs/pack-reader.ts'
import { R2Range } from '../../../storage/packs/r2-range.ts'

const { PACKS } = env as unknown as Environment
const KEY = 'packs/did/rkey/pieces.pack'
const PIECE = 64 * 1024
const CONTENT = Uint8Array.from({ length: 20 * PIECE + 100 }, (_, i) => (i * 31 + (i >> 8)) & 0xff)

async function open(wrap: (bucket: PackReader) => PackReader = (bucket) => bucket) {
  await PACKS.put(KEY, CONTENT)
  const reader = new CountedReader(wrap(PACKS))
  return { reader, range: new R2Range(reader, KEY, CONTENT.length) }
}

async function collect(pieces: AsyncIterable<Uint8Array>) {
  const lengths: number[] = []
  const all: number[] = []
  for await (const piece of pieces) {
    lengths.push(piece.length)
    for (const byte of piece) all.push(byte)
  }
  return { lengths, bytes: Uint8Array.from(all) }
}

/** Breaks every body off after so many bytes. */
function breaking(after: number) {
  return (bucket: PackReader): PackReader => ({
    async get(key, options) {
      const object = (await bucket.get(key, options))!
      const source = object.body.getReader({ mode: 'byob' })
      let given = 0
      const body = new ReadableStream({
        type: 'bytes',
        async pull(controller) {
          if (given >= after) return controller.error(new Error('the connection was lost'))
          const { value } = await source.readAtLeast(1, new Uint8Array(Math.min(PIECE, after - given)))
          given += value!.length
          controller.enqueue(value!)
        },
      })
      return { body } as R2ObjectBody
    },
  })
}

it('reads a long span by one request, in pieces of the size asked for', async () => {
  const { reader, range } = await open()
  const { lengths, bytes } = await collect(range.pieces(10, 20 * PIECE, PIECE))
  expect(bytes).toEqual(CONTENT.slice(10, 10 + 20 * PIECE))
  expect(new Set(lengths)).toEqual(new Set([PIECE]))
  expect(reader.reads).toBe(1)
})

it('reads into the buffer of a piece when the second after it is asked for', async () => {
  const { range } = await open()
  const pieces: Uint8Array[] = []
  let at = 0
  for await (const piece of range.pieces(0, CONTENT.length, PIECE)) {
    pieces.push(piece)
    const [before, latest] = pieces.slice(-2)
    if (latest !== undefined) expect(before).toEqual(CONTENT.subarray(at - PIECE, at))
    at += piece.length
    expect(pieces.slice(0, -2).every(({ length }) => length === 0)).toBe(true)
  }
  expect(at).toBe(CONTENT.length)
})

it('gives what is left as the last piece', async () => {
  const { range } = await open()
  const { lengths, bytes } = await collect(range.pieces(0, CONTENT.length, 3 * PIECE))
  expect(bytes).toEqual(CONTENT)
  expect(lengths.at(-1)).toBe(2 * PIECE + 100)
})

it('goes on where a request broke off', async () => {
  const { reader, range } = await open(breaking(5 * PIECE))
  const { bytes } = await collect(range.pieces(0, CONTENT.length, PIECE))
  expect(bytes).toEqual(CONTENT)
  expect(reader.reads).toBe(5)
})

it('gives up on a request that brings nothing', async () => {
  const { reader, range } = await open(breaking(0))
  await expect(collect(range.pieces(0, CONTENT.length, PIECE))).rejects.toThrow('the connection was lost')
  expect(reader.reads).toBe(1)
})

it('reads no more once nobody asks', async () => {
  let given = 0
  const cancelled = Promise.withResolvers<void>()
  const { range } = await open(() => ({
    async get() {
      const body = new ReadableStream({
        type: 'bytes',
        pull(controller) {
          given += PIECE
          controller.enqueue(new Uint8Array(PIECE))
        },
        cancel: () => cancelled.resolve(),
      })
      return { body } as R2ObjectBody
    },
  }))
  for await (const piece of range.pieces(0, CONTENT.length, PIECE)) {
    expect(piece.length).toBe(PIECE)
    break
  }
  await cancelled.promise
  expect(given).toBeLessThan(4 * PIECE)
})
