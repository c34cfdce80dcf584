import { expect, test } from 'vitest'
import { startWorld } from './harness.ts'
import { randomBytes, writeHistory } from './history.ts'

const world = await startWorld({ atmosphere: { blobUploadLimit: 1_000_000 } })
const { alice } = world

test('the edge forgets everything, and the account gives the same refs and the same objects', async () => {
  const work = await world.init()
  await writeHistory(work, { commits: 100, seed: 3 })
  await work.git('push', '--quiet', '--mirror', world.as(alice, 'rebuilt'))
  for (let n = 0; n < 4; n++) {
    await work.git('checkout', '--quiet', '--force', 'main')
    await work.commit(`push ${n}`, { [`file-${n}.txt`]: `${n}\n` })
    await work.git('push', '--quiet', world.as(alice, 'rebuilt'), 'main')
  }
  await work.git('push', '--quiet', world.as(alice, 'rebuilt'), ':refs/tags/inner', 'main:refs/heads/late')
  const refsBefore = await work.git('ls-remote', world.at(alice, 'rebuilt'))
  const before = await world.clone('--mirror', world.at(alice, 'rebuilt'))

  await world.edge.wipe()
  expect(await work.git('ls-remote', world.at(alice, 'rebuilt'))).toBe(refsBefore)
  const after = await world.clone('--mirror', world.at(alice, 'rebuilt'))
  expect(await after.objectIds()).toEqual(await before.objectIds())
  await after.fsck()
})

test('a push after the edge forgot everything lands on what the account has', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, 'forgotten'), 'main')
  await world.edge.wipe()
  const head = await work.commit('second', { 'b.txt': 'b\n' })
  await work.git('push', '--quiet', world.as(alice, 'forgotten'), 'main')
  await world.edge.wipe()
  const clone = await world.clone(world.at(alice, 'forgotten'))
  expect(await clone.resolve('HEAD')).toBe(head)
  await clone.fsck()
})

test('a restart of the edge loses nothing and asks the PDS for no blob', async () => {
  const work = await world.init()
  await work.commit('large', { 'large.bin': randomBytes(400_000, 1) })
  await work.git('push', '--quiet', world.as(alice, 'restarted'), 'main')
  await world.edge.restart()
  const requests = await world.pdsRequestsDuring(async () => {
    const clone = await world.clone(world.at(alice, 'restarted'))
    expect(await clone.objectIds()).toEqual(await work.objectIds())
  })
  expect(requests.filter(({ path }) => path.endsWith('getBlob'))).toEqual([])
})

test('a pack of several parts is put together again', async () => {
  const work = await world.init()
  // Incompressible, and the PDS takes 1 MB a blob: four parts at least.
  await work.commit('large', { 'a.bin': randomBytes(2_000_000, 2), 'b.bin': randomBytes(1_500_000, 3) })
  const requests = await world.pdsRequestsDuring(() => work.git('push', '--quiet', world.as(alice, 'parts'), 'main'))
  expect(requests.filter(({ path }) => path.endsWith('uploadBlob')).length).toBeGreaterThanOrEqual(4)
  await world.edge.wipe()
  const clone = await world.clone(world.at(alice, 'parts'))
  expect(await clone.objectIds()).toEqual(await work.objectIds())
  await clone.fsck()
})

test('the first clone of an unknown repository tells what it is waiting for', async () => {
  const work = await world.init()
  // More than what is taken in before refs are listed.
  await work.commit('large', { 'a.bin': randomBytes(9_000_000, 4) })
  await work.git('push', '--quiet', world.as(alice, 'progress'), 'main')
  await world.edge.wipe()
  const { stderr } = await work.try('clone', '--progress', world.at(alice, 'progress'), 'copy')
  expect(stderr).toMatch(/^remote: Mirroring: receiving objects/m)
})

test('one clone of several at once reads the account, the others share it', async () => {
  const work = await world.init()
  await work.commit('large', { 'a.bin': randomBytes(900_000, 5) })
  await work.git('push', '--quiet', world.as(alice, 'shared'), 'main')
  await world.edge.wipe()
  const requests = await world.pdsRequestsDuring(async () => {
    const clones = await Promise.all(Array.from({ length: 4 }, () => world.clone(world.at(alice, 'shared'))))
    for (const clone of clones) expect(await clone.objectIds()).toEqual(await work.objectIds())
  })
  expect(requests.filter(({ path }) => path.endsWith('getBlob'))).toHaveLength(1)
})

test('the PDS is down: a warm mirror still serves, a cold one answers 503 in words', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, 'down'), 'main')

  await world.atmosphere.pause()
  try {
    const warm = await world.clone(world.at(alice, 'down'))
    expect(await warm.objectIds()).toEqual(await work.objectIds())

    await world.edge.wipe()
    const cold = await work.try('clone', world.at(alice, 'down'), 'copy')
    expect(cold.status).toBe(128)
    expect(cold.stderr).toMatch(/503/)
    const response = await fetch(`${world.at(alice, 'down')}/info/refs?service=git-upload-pack`)
    expect(response.status).toBe(503)
    expect(await response.text()).toMatch(/[a-z]+ [a-z]+/i)
  } finally {
    await world.atmosphere.resume()
  }
  const back = await world.clone(world.at(alice, 'down'))
  expect(await back.objectIds()).toEqual(await work.objectIds())
})

test('the PDS is down: a push fails in words and changes nothing', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, 'push-down'), 'main')
  const before = await work.git('ls-remote', world.at(alice, 'push-down'))
  await work.commit('second', { 'b.txt': 'b\n' })
  await world.atmosphere.pause()
  try {
    const refused = await work.try('push', world.as(alice, 'push-down'), 'main')
    expect(refused.status).not.toBe(0)
    expect(refused.stderr).toMatch(/cannot be reached|cannot be asked/)
  } finally {
    await world.atmosphere.resume()
  }
  expect(await work.git('ls-remote', world.at(alice, 'push-down'))).toBe(before)
  await work.git('push', '--quiet', world.as(alice, 'push-down'), 'main')
})

test('a record that does not match its lexicon hides nothing else', async () => {
  const work = await world.init()
  const head = await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, 'hostile'), 'main')
  const [repository] = (await world.records(alice, 'dev.skein.repo')).filter(({ value }) => value.name === 'hostile')
  const rkey = repository?.uri.split('/').at(-1)
  await world.createRecord(alice, 'dev.skein.ref', `${rkey}:aaaaaaaaaaaaaaaaaaaaaaaaaa:1`, { name: 7, seq: 'one' })
  await world.createRecord(alice, 'dev.skein.pack', `${rkey}:3lzyxwvutsr2b`, { size: 'large' })
  await world.edge.wipe()
  const clone = await world.clone(world.at(alice, 'hostile'))
  expect(await clone.resolve('HEAD')).toBe(head)
})

test.each(['r2', 'd1', 'do'] as const)(
  'what is in %s alone can be lost: it is read from the account again',
  async (store) => {
    const work = await world.init()
    await work.commit('large', { 'large.bin': randomBytes(300_000, 9) })
    await work.git('push', '--quiet', world.as(alice, `lost-${store}`), 'main')
    const head = await work.commit('small', { 'b.txt': 'b\n' })
    await work.git('push', '--quiet', world.as(alice, `lost-${store}`), 'main')

    await world.edge.wipe(store)
    const clone = await world.clone(world.at(alice, `lost-${store}`))
    expect(await clone.resolve('HEAD')).toBe(head)
    await clone.fsck()

    await world.edge.wipe(store)
    await work.commit('next', { 'c.txt': 'c\n' })
    await work.git('push', '--quiet', world.as(alice, `lost-${store}`), 'main')
    expect(await (await world.clone(world.at(alice, `lost-${store}`))).objectIds()).toEqual(await work.objectIds())
  },
)
