import { expect, test, vi } from 'vitest'
import type { BlobRef } from '../../../atproto/records/record-types.ts'
import { BlobPart, BlobParts } from '../../../durable-objects/landing/blob-parts.ts'

// In workerd: its streams of bytes.
const HOST = 'pds.test'

/** Takes blobs as a PDS does, and can refuse the `n`th. */
function blobs(refuse: { readonly part?: number; readonly afterBytes?: number } = {}) {
  const received: number[][] = []
  const upload = async (body: ReadableStream<Uint8Array>): Promise<BlobRef> => {
    const bytes: number[] = []
    received.push(bytes)
    const isRefused = received.length - 1 === refuse.part
    if (isRefused && refuse.afterBytes === undefined) throw new Error('refused')
    for await (const chunk of body) {
      bytes.push(...chunk)
      if (isRefused && bytes.length >= refuse.afterBytes!) throw new Error('refused')
    }
    return { $type: 'blob', ref: { $link: `blob-${bytes.join('')}` }, mimeType: 'x/y', size: bytes.length }
  }
  return { received, upload }
}

const bytes = (...values: number[]) => Uint8Array.from(values)
const links = (parts: (BlobRef | null)[]) => parts.map((part) => part?.ref.$link ?? null)

test('chunks of any size become parts of one size, in order', async () => {
  const { upload: send } = blobs()
  const parts = new BlobParts({ host: HOST, send }, 3)
  for (const chunk of [bytes(1), bytes(2, 3, 4, 5, 6, 7), bytes(), bytes(8, 9), bytes(0)]) await parts.write(chunk)
  expect(links(await parts.finish())).toEqual(['blob-123', 'blob-456', 'blob-789', 'blob-0'])
})

test('a pack that fills its last part has no empty one behind it', async () => {
  const { upload: send, received } = blobs()
  const parts = new BlobParts({ host: HOST, send }, 2)
  await parts.write(bytes(1, 2, 3, 4))
  expect(links(await parts.finish())).toEqual(['blob-12', 'blob-34'])
  expect(received).toHaveLength(2)
})

test.each([
  ['at once', {}],
  ['in the middle', { afterBytes: 1 }],
])('a part that is refused %s is null, and the others go on', async (_, how) => {
  const { upload: send } = blobs({ part: 1, ...how })
  const parts = new BlobParts({ host: HOST, send }, 2)
  for (let value = 1; value <= 6; value++) await parts.write(bytes(value))
  expect(links(await parts.finish())).toEqual(['blob-12', null, 'blob-56'])
})

test('what is aborted ends the upload under way', async () => {
  const { upload: send } = blobs()
  const ended: string[] = []
  const watched = async (body: ReadableStream<Uint8Array>) => {
    try {
      return await send(body)
    } finally {
      ended.push('upload')
    }
  }
  const parts = new BlobParts({ host: HOST, send: watched }, 10)
  await parts.write(bytes(1))
  await parts.abort(new Error('the pack is broken'))
  await vi.waitFor(() => expect(ended).toEqual(['upload']))
})

const never = () => new Promise<never>(() => undefined)

test('a host that takes nothing holds a pack up no longer than it may', async () => {
  const parts = new BlobParts({ host: HOST, send: never, patience: 5 }, 2)
  await parts.write(bytes(1, 2, 3))
  expect(await parts.finish()).toEqual([null, null])
})

test('a host that takes all and never answers is given up', async () => {
  const { upload } = blobs()
  const part = new BlobPart({ host: HOST, send: (body) => upload(body).then(never), patience: 5 })
  await part.write(bytes(1))
  await expect(part.finish()).rejects.toThrow('pds.test does not answer to a blob')
})
