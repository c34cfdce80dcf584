import { expect, test } from 'vitest'
import type { PdsRequest } from '../../dev/atmosphere.ts'
import { startWorld } from './harness.ts'
import { randomBytes, writeHistory } from './history.ts'

const world = await startWorld()
const { alice } = world

const paths = (requests: readonly PdsRequest[]) => requests.map(({ path }) => path.replace('/xrpc/com.atproto.', ''))

test('warm, a small push makes one PDS request, and a clone or a fetch none', async () => {
  const work = await world.init()
  await writeHistory(work, { commits: 50, seed: 4 })
  await work.git('push', '--quiet', world.as(alice, 'cheap'), 'main')
  const clone = await world.clone(world.at(alice, 'cheap'))
  for (let n = 0; n < 3; n++) {
    await work.commit(`small ${n}`, { 'small.txt': `${n}\n` })
    const push = await world.pdsRequestsDuring(() => work.git('push', '--quiet', world.as(alice, 'cheap'), 'main'))
    expect(paths(push)).toEqual(['repo.applyWrites'])
    const fetch = await world.pdsRequestsDuring(() => clone.git('fetch', '--quiet'))
    expect(paths(fetch)).toEqual([])
    expect(await clone.resolve('origin/main')).toBe(await work.resolve('main'))
  }
  const cloned = await world.pdsRequestsDuring(() => world.clone(world.at(alice, 'cheap')))
  expect(paths(cloned)).toEqual([])
})

test('several refs in one push are one applyWrites', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, 'several'), 'main')
  await work.commit('second', { 'b.txt': 'b\n' })
  for (let n = 0; n < 30; n++) await work.git('branch', `topic-${n}`)
  const requests = await world.pdsRequestsDuring(() => work.git('push', '--quiet', world.as(alice, 'several'), '--all'))
  expect(paths(requests)).toEqual(['repo.applyWrites'])
})

test('a thousand tags in one push are at most ten writes, and come back', async () => {
  const work = await world.init()
  const head = await work.commit('first', { 'a.txt': 'a\n' })
  const names = Array.from({ length: 1000 }, (_, n) => `refs/tags/t${String(n).padStart(4, '0')}`)
  const update = await work.tryWith(
    { input: names.map((name) => `create ${name} ${head}\n`).join('') },
    'update-ref',
    '--stdin',
  )
  expect(update.stderr).toBe('')
  await work.git('push', '--quiet', world.as(alice, 'thousand'), 'main')
  const requests = await world.pdsRequestsDuring(() =>
    work.git('push', '--quiet', world.as(alice, 'thousand'), '--tags'),
  )
  expect(requests.filter(({ method }) => method === 'POST').length).toBeLessThanOrEqual(10)
  const [repository] = (await world.records(alice, 'dev.skein.repo')).filter(({ value }) => value.name === 'thousand')
  const prefix = `${repository?.uri.split('/').at(-1)}:`
  const shards = (await world.records(alice, 'dev.skein.refs')).filter(({ uri }) =>
    uri.split('/').at(-1)?.startsWith(prefix),
  )
  expect(shards.length).toBeLessThanOrEqual(10)

  await world.edge.wipe()
  const listing = await work.git('ls-remote', '--tags', world.at(alice, 'thousand'))
  expect(listing.split('\n')).toEqual(names.map((name) => `${head}\t${name}`))
  const clone = await world.clone('--mirror', world.at(alice, 'thousand'))
  expect(await clone.refs()).toEqual(await work.refs())

  // One of them moves and one goes: the others stay where they are.
  await work.commit('second', { 'a.txt': 'b\n' })
  await work.git('tag', '--force', 't0500')
  const moved = await world.pdsRequestsDuring(() =>
    work.git('push', '--quiet', '--force', world.as(alice, 'thousand'), 't0500', ':refs/tags/t0501'),
  )
  // The edge forgot its session too: it signs in again, and writes once.
  expect(moved.flatMap(({ method, path }) => (method === 'POST' ? [path.split('.').at(-1)] : []))).toEqual([
    'createSession',
    'applyWrites',
  ])
  await work.git('tag', '--delete', 't0501')
  await world.edge.wipe()
  const after = await world.clone('--mirror', world.at(alice, 'thousand'))
  const expected = await work.refs()
  expect({ ...(await after.refs()), 'refs/heads/main': null }).toEqual({ ...expected, 'refs/heads/main': null })
})

test('a large push uploads few blobs and writes once', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, 'large'), 'main')
  await work.commit('large', { 'large.bin': randomBytes(3_000_000, 6) })
  const requests = await world.pdsRequestsDuring(() => work.git('push', '--quiet', world.as(alice, 'large'), 'main'))
  const writes = paths(requests).filter((path) => path !== 'server.describeServer')
  expect(writes).toEqual(['repo.uploadBlob', 'repo.applyWrites'])
})
