import { expect, test } from 'vitest'
import { startWorld } from './harness.ts'
import { basicAuth } from './wire.ts'

const world = await startWorld()
const { alice, bob } = world

const receivePack = (address: string) => `${address}/info/refs?service=git-receive-pack`

test('reading asks for no credentials', async () => {
  const work = await world.init()
  const head = await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, 'open'), 'main')
  const clone = await world.clone(world.at(alice, 'open'))
  expect(await clone.resolve('HEAD')).toBe(head)
})

test('a push without credentials is a 401 with a challenge', async () => {
  const response = await fetch(receivePack(world.at(alice, 'challenge')))
  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toMatch(/^Basic realm="[^"]+"/)
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  const refused = await work.try('push', world.at(alice, 'challenge'), 'main')
  expect(refused.status).toBe(128)
  expect(refused.stderr).toMatch(/could not read Username|Authentication failed/)
})

test('the POST of a push asks for credentials too', async () => {
  const response = await fetch(`${world.at(alice, 'challenge')}/git-receive-pack`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-git-receive-pack-request' },
    body: `00670${'0'.repeat(80)}`,
  })
  expect(response.status).toBe(401)
  await response.arrayBuffer()
})

test.each([
  ['a wrong password', () => basicAuth({ handle: alice.handle, password: 'wrong' })],
  ['an unknown handle', () => basicAuth({ handle: 'nobody.test', password: 'wrong' })],
  ['a name that is no handle', () => basicAuth({ handle: 'x', password: 'wrong' })],
  ['no Basic scheme', () => 'Bearer something'],
  ['broken base64', () => 'Basic %%%'],
])('%s is a 401', async (_, authorization) => {
  const before = await world.accountCommit(alice)
  const response = await fetch(receivePack(world.at(alice, 'refused')), { headers: { authorization: authorization() } })
  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toMatch(/^Basic /)
  await response.arrayBuffer()
  expect(await world.accountCommit(alice)).toBe(before)
})

test('git says that the password was wrong', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  const refused = await work.try('push', world.as({ ...alice, password: 'wrong' }, 'refused'), 'main')
  expect(refused.status).toBe(128)
  expect(refused.stderr).toContain('Authentication failed')
})

test("pushing into somebody else's account is a 403 in words", async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, 'hers'), 'main')
  const before = await world.accountCommit(alice)
  for (const repository of ['hers', 'not-there-yet']) {
    const response = await fetch(receivePack(world.at(alice, repository)), {
      headers: { authorization: basicAuth(bob) },
    })
    expect(response.status).toBe(403)
    expect(await response.text()).toMatch(/alice\.test/)
  }
  const refused = await work.try('push', world.as(bob, 'hers', alice), 'main:topic')
  expect(refused.status).toBe(128)
  expect(refused.stderr).toContain('403')
  expect(await world.accountCommit(alice)).toBe(before)
})

test('an app password and a DID as user name are good', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  const password = await world.atmosphere.createAppPassword(alice, 'laptop')
  await work.git('push', '--quiet', world.as({ ...alice, password }, 'app-password'), 'main')
  const byDid = world.edge.url.replace('//', `//${encodeURIComponent(alice.did)}:${password}@`)
  await work.git('push', '--quiet', `${byDid}/${alice.handle}/app-password`, 'main:topic')
  expect((await work.git('ls-remote', '--heads', world.at(alice, 'app-password'))).split('\n')).toHaveLength(2)
})

test('a second push makes no createSession, and a wrong password none that the right one then lacks', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, 'sessions'), 'main')
  await work.commit('second', { 'a.txt': 'b\n' })
  const requests = await world.pdsRequestsDuring(() => work.git('push', '--quiet', world.as(alice, 'sessions'), 'main'))
  expect(requests.filter(({ path }) => path.endsWith('createSession'))).toEqual([])
  const refused = await work.try('push', world.as({ ...alice, password: 'wrong' }, 'sessions'), 'main:other')
  expect(refused.stderr).toContain('Authentication failed')
  await work.git('push', '--quiet', world.as(alice, 'sessions'), 'main:third')
})

test('an unknown repository, and one in an unknown account, is a 404 that git tells as not found', async () => {
  const work = await world.init()
  for (const address of [world.at(alice, 'nowhere'), `${world.edge.url}/nobody.test/app`]) {
    const response = await fetch(`${address}/info/refs?service=git-upload-pack`)
    expect(response.status).toBe(404)
    await response.arrayBuffer()
    expect((await work.try('ls-remote', address)).stderr).toMatch(/not found/)
  }
})
