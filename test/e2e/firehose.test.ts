import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createGuardedFetch } from '../../atproto/network/guarded-fetch.ts'
import { PdsClient } from '../../atproto/pds/pds-client.ts'
import { startAtmosphere } from '../../dev/atmosphere.ts'
import { startEdge } from '../../dev/edge.ts'
import type { FirehoseStatus } from '../../durable-objects/firehose/answers.ts'
import type { Firehose } from '../../durable-objects/firehose/firehose.ts'

await using starting = new AsyncDisposableStack()
const root = await mkdtemp(join(tmpdir(), 'skein-firehose-'))
starting.defer(() => rm(root, { recursive: true, force: true }))
const atmosphere = await startAtmosphere({ stateDirectory: join(root, 'atmosphere') })
starting.defer(() => atmosphere.close())

/** A Jetstream that has forgotten what it is asked for. */
const refusing = createServer().on('upgrade', (_, socket) => {
  // The edge may hang up first: an upgraded socket has no listener but this one.
  socket.on('error', () => undefined)
  const body = JSON.stringify({ error: 'CursorTooOld', message: 'the floor is 9000' })
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
})
await once(refusing.listen(0, '127.0.0.1'), 'listening')
starting.defer(() => void refusing.close())

const ws = (url: string) => url.replace('http', 'ws')
const PDS = `${ws(atmosphere.pdsUrl)}/xrpc/com.atproto.sync.subscribeRepos?cursor=0`
const REFUSING = `ws://127.0.0.1:${(refusing.address() as AddressInfo).port}/xrpc/network.bsky.jetstream.subscribeEvents`

const edge = await startEdge({
  port: 0,
  stateDirectory: join(root, 'edge'),
  pdsUrl: atmosphere.pdsUrl,
  plcUrl: atmosphere.plcUrl,
  vars: { UPSTREAMS: `${PDS} ${REFUSING}` },
})
starting.defer(() => edge.close())
const account = await atmosphere.createAccount({ handle: 'alice.test', password: 'alice-password' })
const running = starting.move()
afterAll(() => running.disposeAsync())

const client = new PdsClient({ service: atmosphere.pdsUrl, fetch: createGuardedFetch({ allowPrivateHosts: true }) })

async function create(rkey: string, size = 10): Promise<void> {
  const bytes = { $bytes: Buffer.alloc(size, 7).toString('base64') }
  const record = {
    collection: 'dev.skein.pack',
    rkey: `3lzkoq5qq2s2a:${rkey}`,
    value: { $type: 'dev.skein.pack', bytes },
  }
  await client.applyWrites(account.did, [{ action: 'create', ...record }], account.accessJwt)
}

async function status(name = PDS): Promise<FirehoseStatus> {
  const firehose = await edge.object<Firehose>('FIREHOSE', name)
  // What comes from there is gone with the runtime that it came from: this is a copy.
  return JSON.parse(JSON.stringify(await firehose.ensureFollowing(name))) as FirehoseStatus
}

test('a real PDS is followed, through its pauses and those of the edge', async () => {
  await create('3lzkoq5qq2s2b', 150_000)
  await expect.poll(async () => (await status()).counts.batches, { timeout: 30_000 }).toBeGreaterThan(0)
  const before = await status()
  expect(before).toMatchObject({ isConnected: true, lastError: null, reconcileWanted: null })
  expect(before.counts).toMatchObject({ unreadable: 0, dropped: 0, tooLarge: 0 })

  await atmosphere.pause()
  await expect.poll(async () => (await status()).isConnected, { timeout: 30_000 }).toBe(false)
  await atmosphere.resume()
  await create('3lzkoq5qq2s2c')
  await expect
    .poll(async () => (await status()).counts.events, { timeout: 60_000 })
    .toBeGreaterThan(before.counts.events)

  await edge.restart()
  await create('3lzkoq5qq2s2d')
  await expect.poll(async () => (await status()).counts.events, { timeout: 60_000 }).toBeGreaterThan(0)
  const isAllApplied = async () => {
    const { pendingBatches, cursor } = await status()
    return pendingBatches === 0 && cursor! > before.cursor!
  }
  await expect.poll(isAllApplied, { timeout: 30_000 }).toBe(true)
})

test('an upstream that refuses says why, and the other one is followed all the same', async () => {
  const message = async () => (await status(REFUSING)).lastError?.message
  await expect.poll(message, { timeout: 30_000 }).toContain('CursorTooOld the floor is 9000')
  expect((await status()).isConnected).toBe(true)
})
