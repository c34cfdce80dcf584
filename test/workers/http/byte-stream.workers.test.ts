import { expect, it } from 'vitest'
import { largeChunks, pumpChunks } from '../../../workers/http/byte-stream.ts'

const CHUNK = 300_000
const CHUNKS = 5

/** Gives chunks of one buffer, and overwrites what it gave once it is asked for more. */
function source(options: { readonly failsAfter?: number } = {}) {
  const seen = { given: 0, isStopped: false }
  const buffer = new Uint8Array(CHUNK)
  async function* generate(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (let i = 1; i <= CHUNKS; i++) {
        if (seen.given === options.failsAfter) throw new Error('R2 is on fire')
        seen.given++
        yield buffer.fill(i)
        buffer.fill(0xff)
      }
    } finally {
      seen.isStopped = true
    }
  }
  const work: Promise<unknown>[] = []
  const stream = pumpChunks(generate(), (promise) => {
    work.push(promise)
    // As the platform does: what fails is heard at once, whenever the test looks at it.
    promise.catch(() => undefined)
  })
  return { seen, stream, settled: () => Promise.allSettled(work) }
}

it('passes on chunks whose buffer is used again, however they are read', async () => {
  const expected = Uint8Array.from({ length: CHUNKS * CHUNK }, (_, i) => Math.floor(i / CHUNK) + 1)
  const { stream, settled } = source()
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer())
  expect(bytes).toEqual(expected)
  expect(await settled()).toEqual([{ status: 'fulfilled', value: undefined }])
})

it('asks for the next chunk only once all of the last was read', async () => {
  const { seen, stream, settled } = source()
  const reader = stream.getReader({ mode: 'byob' })
  const read = async (length: number) => (await reader.readAtLeast(length, new Uint8Array(length))).value!
  expect((await read(CHUNK - 1)).every((byte) => byte === 1)).toBe(true)
  expect(seen.given).toBe(1)
  expect([...(await read(2))]).toEqual([1, 2])
  expect(seen.given).toBe(2)
  await reader.cancel()
  await settled()
  expect(seen).toEqual({ given: 2, isStopped: true })
})

it('ends the generator when nobody reads any more', async () => {
  const { seen, stream, settled } = source()
  await stream.cancel('gone')
  expect(await settled()).toEqual([{ status: 'fulfilled', value: undefined }])
  expect(seen).toEqual({ given: 1, isStopped: true })
})

it('breaks off where the generator fails, and says why', async () => {
  const { stream, settled } = source({ failsAfter: 2 })
  const reader = stream.getReader()
  let length = 0
  const reading = async () => {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      length += value.length
    }
  }
  await expect(reading()).rejects.toThrow('R2 is on fire')
  expect(length).toBe(2 * CHUNK)
  expect(await settled()).toMatchObject([{ status: 'rejected', reason: { message: 'R2 is on fire' } }])
})

/** Writes so many chunks of `bytes` each into a stream, as a client sends a body. */
function body(chunks: number, bytes: number) {
  const { readable, writable } = new IdentityTransformStream()
  const writer = writable.getWriter()
  const sent = (async () => {
    for (let i = 0; i < chunks; i++) await writer.write(new Uint8Array(bytes).fill(i))
    await writer.close()
  })()
  return { readable, writer, sent }
}

it('gives a body that comes in small chunks in large ones, with nothing lost and nothing overwritten', async () => {
  const { readable, sent } = body(40, 5000)
  const chunks: Uint8Array[] = []
  for await (const chunk of largeChunks(readable)) chunks.push(chunk)
  await sent
  expect(chunks.map(({ length }) => length)).toEqual([65_536, 65_536, 65_536, 3392])
  const bytes = chunks.flatMap((chunk) => [...chunk])
  expect(bytes.every((value, at) => value === Math.floor(at / 5000))).toBe(true)
})

it('gives nothing of an empty body, and fails with one that breaks off', async () => {
  const empty = body(0, 0)
  for await (const chunk of largeChunks(empty.readable)) expect(chunk).toEqual('none')
  const broken = body(1, 10)
  const read = async () => {
    for await (const _ of largeChunks(broken.readable)) await broken.writer.abort(new Error('the client has left'))
  }
  broken.sent.catch(() => undefined)
  const reading = read()
  await broken.writer.abort(new Error('the client has left')).catch(() => undefined)
  await expect(reading).rejects.toThrow('the client has left')
})

it('cancels a body that is left early', async () => {
  const { readable, sent } = body(100, 5000)
  for await (const _ of largeChunks(readable)) break
  await expect(sent).rejects.toThrow()
})
