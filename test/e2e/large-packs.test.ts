import { expect, test, vi } from 'vitest'
import { packKey, refKey } from '../../atproto/records/record-keys.ts'
import { manyObjects } from '../git/many-objects.ts'
import { startWorld } from './harness.ts'

const MEBIBYTE = 1024 * 1024
const BLOB_BYTES = 4 * MEBIBYTE
const WAIT = { timeout: 60_000, interval: 20 }

// Made before the world: while it is made, nothing else runs, and a connection that was kept may be closed.
const { pack, objects, tip } = manyObjects({ commits: 400, files: 24, largeFile: 60_000 })

/** A pack of so many entries is taken in at once: a large one is made of thousands, not of hundreds of thousands. */
const world = await startWorld({ vars: { INGEST_ENTRIES: '3000' } })
const { alice, atmosphere, edge } = world

const REPO = '3lzkoq5qq2s2a'
const PACK = packKey(REPO, '3lzkoq5qq2s2b')

interface LogLine extends Record<string, unknown> {
  readonly event: string
}

function logged(event: string): LogLine[] {
  const lines = edge.logs.filter(({ message }) => message.startsWith(`{"event":"${event}"`))
  return lines.map(({ message }) => JSON.parse(message) as LogLine)
}

const blobsRead = () => atmosphere.requests.filter(({ path }) => path.endsWith('getBlob')).length

async function uploadBlob(bytes: Uint8Array): Promise<object> {
  const response = await fetch(`${atmosphere.pdsUrl}/xrpc/com.atproto.repo.uploadBlob`, {
    method: 'POST',
    headers: { authorization: `Bearer ${alice.accessJwt}`, 'content-type': 'application/octet-stream' },
    body: bytes.slice(),
  })
  expect(response.status).toBe(200)
  return ((await response.json()) as { blob: object }).blob
}

test('a large pack that somebody wrote into the account comes in, wherever the runtime is killed', async () => {
  const parts: object[] = []
  for (let at = 0; at < pack.length; at += BLOB_BYTES) parts.push(await uploadBlob(pack.subarray(at, at + BLOB_BYTES)))
  expect(parts.length).toBeGreaterThan(5)
  const createdAt = new Date().toISOString()
  const repo = { name: 'large', defaultBranch: 'main', objectFormat: 'sha1', createdAt }
  const checksum = Buffer.from(pack.subarray(-20)).toString('hex')
  const ref = { name: 'refs/heads/main', target: tip, seq: 1, pack: PACK }
  await world.createRecord(alice, 'dev.skein.repo', REPO, repo)
  await world.createRecord(alice, 'dev.skein.pack', PACK, {
    parts,
    size: pack.length,
    objects,
    checksum,
    thin: false,
    createdAt,
  })
  await world.createRecord(alice, 'dev.skein.ref', refKey(REPO, ref.name, 1), ref)

  const kill = async () => process.kill(await edge.pid(), 'SIGKILL')
  const work = await world.init()
  // Miniflare starts a runtime that was killed again.
  const isUp = () => vi.waitFor(() => work.git('ls-remote', world.at(alice, 'large')), WAIT)
  const steps = [
    () => expect(blobsRead()).toBeGreaterThan(4),
    () => expect(logged('pack-part-ingested').length).toBeGreaterThan(0),
    () => expect(logged('pack-part-ingested').length).toBeGreaterThan(1),
    () => expect(logged('pack-link-step').length).toBeGreaterThan(1),
  ]
  for (const [i, step] of steps.entries()) {
    await isUp()
    // Whoever asks has it gone on, and goes away with the runtime.
    const cutOff = work.try('clone', world.at(alice, 'large'), `cut-off-${i}`)
    await vi.waitFor(step, WAIT)
    await kill()
    expect((await cutOff).status).not.toBe(0)
  }
  await isUp()
  // In the end it goes on by itself.
  await vi.waitFor(() => expect(logged('pack-ingested')).toHaveLength(1), WAIT)
  expect(logged('pack-ingested')).toEqual([expect.objectContaining({ objects, parts: 4 })])
  // 4 steps of links, one of lists, one of what is missing, 4 of graphs; what was linked before a kill is not linked again.
  expect(logged('pack-link-step').length).toBeLessThan(10 + 4)
  // A blob is asked for again where it was cut off, and one more if the part of it that R2 had was not whole.
  expect(blobsRead()).toBeLessThanOrEqual(parts.length + 2)
  const peaks = ['pack-ingested', 'pack-part-ingested', 'pack-link-step']
    .flatMap(logged)
    .map(({ peakBytes }) => Number(peakBytes))
  expect(Math.max(...peaks)).toBeLessThan(64 * MEBIBYTE)

  const clone = await world.clone('--bare', world.at(alice, 'large'))
  expect(await clone.resolve('refs/heads/main')).toBe(tip)
  expect(await clone.objectIds()).toHaveLength(objects)
  await clone.fsck()

  // All of the edge is a cache: and once more, without being disturbed.
  await edge.wipe()
  const again = await world.clone('--bare', world.at(alice, 'large'))
  expect(await again.objectIds()).toEqual(await clone.objectIds())
})

test('what is pushed on top of it is delta and thin, and merges with it', async () => {
  const work = await world.clone('--depth=2', world.at(alice, 'large'))
  await work.commit('on top', { f0001: 'a file of its own: changed\n' })
  await work.git('push', '--quiet', world.as(alice, 'large'), 'HEAD:main')
  const clone = await world.clone('--bare', world.at(alice, 'large'))
  expect(await clone.resolve('refs/heads/main')).toBe(await work.resolve('HEAD'))
  await clone.fsck()
})
