import { expect, test } from 'vitest'
import { startWorld } from './harness.ts'
import { randomBytes } from './history.ts'

const world = await startWorld({ vars: { MAX_PUSH_BYTES: '1000000', REPOSITORY_OBJECTS: '20' } })
const { alice } = world

test('a push that is larger than the edge takes says so, and goes through in the steps that it names', async () => {
  const work = await world.init()
  const first = await work.commit('first', { 'a.bin': randomBytes(600_000, 1) })
  const second = await work.commit('second', { 'b.bin': randomBytes(600_000, 2) })
  const before = await world.accountCommit(alice)
  const refused = await work.try('push', world.as(alice, 'large'), 'main')
  expect(refused.status).toBe(1)
  expect(refused.stderr).toMatch(/larger than 1000000 bytes/)
  expect(refused.stderr).toMatch(/git push <url> <commit>:refs\/heads\/<branch>/)
  expect(await world.accountCommit(alice)).toBe(before)
  expect((await work.try('ls-remote', world.at(alice, 'large'))).status).not.toBe(0)

  await work.git('push', '--quiet', world.as(alice, 'large'), `${first}:refs/heads/main`)
  await work.git('push', '--quiet', world.as(alice, 'large'), 'main')
  expect(await work.git('ls-remote', world.at(alice, 'large'), 'main')).toBe(`${second}\trefs/heads/main`)
})

test('a push with which the repository would have more objects than can be served says so, and nothing of it is kept', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, 'many'), 'main')
  const before = await world.accountCommit(alice)
  await work.commit('many', Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n}.txt`, `${n}\n`])))
  const refused = await work.try('push', world.as(alice, 'many'), 'main')
  expect(refused.status).toBe(1)
  expect(refused.stderr).toContain('the repository would have 25 objects; 20 at most can be served from here')
  expect(await world.accountCommit(alice)).toBe(before)
})
