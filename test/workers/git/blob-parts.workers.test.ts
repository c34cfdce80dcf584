import { expect, test } from 'vitest'
import type { BlobRef } from '../../../atproto/records/record-types.ts'
import { BlobPart, BlobParts } from '../../../workers/git/blob-parts.ts'

const HOST = 'pds.test'

function blobOf(bytes: Uint8Array): BlobRef {
  return { $type: 'blob', ref: { $link: [...bytes].join() }, mimeType: 'a/b', size: bytes.length }
}

async function take(body: ReadableStream<Uint8Array>): Promise<BlobRef> {
  return blobOf(new Uint8Array(await new Response(body).arrayBuffer()))
}

const never = () => new Promise<never>(() => undefined)

test('a pack goes out in parts of one size, whatever its chunks', async () => {
  const parts = new BlobParts({ host: HOST, send: take }, 4)
  for (const chunk of [[1], [2, 3, 4, 5, 6, 7, 8, 9], [10, 11]]) await parts.write(Uint8Array.from(chunk))
  expect((await parts.finish()).map((blob) => blob?.ref.$link)).toEqual(['1,2,3,4', '5,6,7,8', '9,10,11'])
})

test('a part that fails is null, and the others go on', async () => {
  let sent = 0
  const send = (body: ReadableStream<Uint8Array>) => (sent++ === 1 ? Promise.reject(new Error('no more')) : take(body))
  const parts = new BlobParts({ host: HOST, send }, 2)
  for (let byte = 0; byte < 6; byte++) await parts.write(Uint8Array.of(byte))
  expect((await parts.finish()).map((blob) => blob?.ref.$link)).toEqual(['0,1', undefined, '4,5'])
})

test('a host that takes nothing holds a pack up no longer than it may', async () => {
  const parts = new BlobParts({ host: HOST, send: never, patience: 5 }, 2)
  for (let byte = 0; byte < 3; byte++) await parts.write(Uint8Array.of(byte))
  expect(await parts.finish()).toEqual([null, null])
})

test('a host that takes all and never answers is given up', async () => {
  const send = async (body: ReadableStream<Uint8Array>) => {
    await take(body)
    return never()
  }
  const part = new BlobPart({ host: HOST, send, patience: 5 })
  await part.write(Uint8Array.of(1))
  await expect(part.finish()).rejects.toThrow('pds.test does not answer to a blob')
})
