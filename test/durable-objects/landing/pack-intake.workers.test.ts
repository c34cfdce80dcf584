import { env } from 'cloudflare:test'
import { expect, test } from 'vitest'
import type { PdsClient } from '../../../atproto/pds/pds-client.ts'
import { INLINE_PACK_LIMIT } from '../../../atproto/records/collections.ts'
import type { BlobRef } from '../../../atproto/records/record-types.ts'
import type { Environment } from '../../../durable-objects/environment.ts'
import { PackIntake, type PackIntakeOptions } from '../../../durable-objects/landing/pack-intake.ts'
import { MemoryAccount } from '../../../git/bytes/memory-account.ts'

const { PACKS } = env as unknown as Environment
const CHUNK = 50_000
const PART = 100_000

let intakes = 0

function intake(change: Partial<PackIntakeOptions> & { readonly refuse?: (upload: number) => boolean } = {}) {
  const uploads: Uint8Array[] = []
  const client = {
    service: 'https://pds.test',
    async uploadBlob(body: ReadableStream<Uint8Array>, token: string): Promise<BlobRef> {
      expect(token).toBe('token')
      const n = uploads.length
      uploads.push(new Uint8Array())
      if (change.refuse?.(n)) throw new Error('refused')
      uploads[n] = new Uint8Array(await new Response(body).arrayBuffer())
      return { $type: 'blob', ref: { $link: `blob ${n}` }, mimeType: 'x/y', size: uploads[n].length }
    },
  } as unknown as PdsClient
  const key = `packs/test/${intakes++}.pack`
  const memory = new MemoryAccount()
  const options = {
    bucket: PACKS,
    key,
    client,
    memory,
    limit: 1e9,
    room: null,
    token: async () => 'token',
    blobLimit: async () => PART,
  }
  return { taking: new PackIntake({ ...options, ...change }), uploads, key }
}

const pack = (length: number) => Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8)) & 0xff)

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK) {
    const chunk = bytes.slice(at, at + CHUNK)
    yield chunk
    // A reader's buffer is used again.
    chunk.fill(0xee)
  }
}

async function takeAll(taking: PackIntake, bytes: Uint8Array): Promise<number> {
  let taken = 0
  for await (const chunk of taking.take(chunksOf(bytes))) taken += chunk.length
  return taken
}

const inBucket = async (key: string) => new Uint8Array(await (await PACKS.get(key))!.arrayBuffer())

test('a small pack is kept in its record, and nothing is uploaded', async () => {
  const { taking, uploads, key } = intake()
  const bytes = pack(INLINE_PACK_LIMIT)
  expect(await takeAll(taking, bytes)).toBe(bytes.length)
  expect(await (await taking.complete()).read(0, bytes.length)).toEqual(bytes)
  expect(await taking.stored()).toEqual({ bytes })
  await taking.inBucket()
  expect([uploads.length, await inBucket(key)]).toEqual([0, bytes])
})

test('a larger one goes to the account in parts as it comes, and to the bucket', async () => {
  const { taking, uploads, key } = intake()
  const bytes = pack(INLINE_PACK_LIMIT + PART)
  await takeAll(taking, bytes)
  await taking.inBucket()
  const stored = await taking.stored()
  expect(stored).toMatchObject({ parts: [{ ref: { $link: 'blob 0' } }, {}, {}] })
  expect(new Uint8Array(Buffer.concat(uploads))).toEqual(bytes)
  expect(await inBucket(key)).toEqual(bytes)
})

test('its bytes can be read, and go into its record, while they are on their way to the bucket', async () => {
  const arrived = Promise.withResolvers<void>()
  const bucket = {
    put: async (key: string, value: Uint8Array) => {
      await arrived.promise
      return PACKS.put(key, value)
    },
    delete: (key: string) => PACKS.delete(key),
  } as unknown as R2Bucket
  const [kept, dropped] = [intake({ bucket }), intake({ bucket })]
  const bytes = pack(INLINE_PACK_LIMIT)
  for (const { taking } of [kept, dropped]) {
    await takeAll(taking, bytes)
    expect(await (await taking.complete()).read(0, bytes.length)).toEqual(bytes)
    expect(await taking.stored()).toEqual({ bytes })
  }
  const aborted = dropped.taking.abort(new Error('a base is missing'))
  arrived.resolve()
  await Promise.all([aborted, kept.taking.inBucket()])
  expect(await inBucket(kept.key)).toEqual(bytes)
  expect(await PACKS.head(dropped.key)).toBe(null)
})

test('a bucket that takes nothing is heard of by who waits for it', async () => {
  const bucket = { put: () => Promise.reject(new Error('no room')) } as unknown as R2Bucket
  const { taking } = intake({ bucket })
  await takeAll(taking, pack(INLINE_PACK_LIMIT))
  await taking.complete()
  await expect(taking.inBucket()).rejects.toThrow('no room')
})

test('a part that was refused is sent again, and its place is kept', async () => {
  const { taking, uploads } = intake({ refuse: (upload) => upload === 1 })
  const bytes = pack(INLINE_PACK_LIMIT + PART)
  await takeAll(taking, bytes)
  const stored = (await taking.stored()) as { parts: BlobRef[] }
  expect(stored.parts.map(({ ref }) => ref.$link)).toEqual(['blob 0', 'blob 3', 'blob 2'])
  expect(uploads[3]).toEqual(bytes.subarray(PART, 2 * PART))
})

test('a part that is refused again fails the push', async () => {
  const { taking } = intake({ refuse: (upload) => upload > 0 })
  await takeAll(taking, pack(INLINE_PACK_LIMIT + PART))
  await expect(taking.stored()).rejects.toThrow('refused')
})

test('what is larger than the limit is read to its end, refused in words, and leaves nothing', async () => {
  const { taking, key } = intake({ limit: 120_000 })
  let given = 0
  const chunks = async function* () {
    for await (const chunk of chunksOf(pack(400_000))) {
      given += chunk.length
      yield chunk
    }
  }
  const all = async () => {
    for await (const _ of taking.take(chunks()));
  }
  await expect(all()).rejects.toThrow(/larger than 120000 bytes.*Push in steps/)
  expect(given).toBe(400_000)
  await taking.abort(new Error('too large'))
  expect(await PACKS.head(key)).toBe(null)
})

test('what is aborted is not in the bucket, complete or not', async () => {
  for (const isComplete of [false, true]) {
    const { taking, key } = intake()
    await takeAll(taking, pack(300_000))
    if (isComplete) await taking.complete()
    await taking.abort(new Error('a base is missing'))
    expect(await PACKS.head(key)).toBe(null)
  }
})
