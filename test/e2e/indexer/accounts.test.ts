import { expect, test, vi } from 'vitest'
import type { Account } from '../../../dev/atmosphere.ts'
import { startWorld } from '../harness.ts'
import { DirectWriter } from './direct-push.ts'
import { settled } from './settled.ts'

const world = await startWorld({ isFollowing: true })
const { atmosphere, edge, alice, bob } = world
const work = await world.init()
await work.commit('one', { 'a.txt': 'one\n' })

async function call({ accessJwt }: Account, nsid: string, input?: object): Promise<void> {
  const response = await fetch(`${atmosphere.pdsUrl}/xrpc/${nsid}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessJwt}`, ...(input && { 'content-type': 'application/json' }) },
    ...(input && { body: JSON.stringify(input) }),
  })
  if (!response.ok) throw new Error(`${nsid}: ${response.status} ${await response.text()}`)
}

const statusOf = async (path: string) => {
  const response = await fetch(`${edge.url}/${path}`, { redirect: 'manual' })
  return { status: response.status, text: await response.text(), location: response.headers.get('location') }
}

/** An isolate goes by what it has read for ten seconds. */
const LATE = { timeout: 25_000, interval: 250 }

test('a handle that changes leads on: pages, files, and git', async () => {
  const direct = new DirectWriter(world, alice)
  const repo = await direct.createRepository('app')
  const pushed = await direct.push(repo, work)
  await world.clone(world.at(alice, 'app'))
  await settled(edge)
  await call(alice, 'com.atproto.identity.updateHandle', { handle: 'alba.test' })
  await vi.waitFor(async () => {
    expect(await statusOf('alice.test/app')).toMatchObject({ status: 301, location: '/alba.test/app' })
  }, LATE)
  expect(await statusOf('alice.test')).toMatchObject({ status: 301, location: '/alba.test' })
  expect(await statusOf('alice.test/app/raw/HEAD/a.txt')).toMatchObject({ location: '/alba.test/app/raw/HEAD/a.txt' })
  const copy = await world.clone(`${edge.url}/alice.test/app`)
  expect(await copy.resolve('HEAD')).toBe(pushed)
  expect((await statusOf('alba.test/app')).text).toContain(`git clone ${edge.url}/alba.test/app`)
  const post = { method: 'POST', headers: { 'content-type': 'application/x-git-upload-pack-request' } }
  expect((await fetch(`${edge.url}/alice.test/app/git-upload-pack`, post)).status).toBe(404)
  // Whoever gets the handle now is who is meant.
  const other = await atmosphere.createAccount({ handle: 'elsa.test', password: 'elsa-password' })
  await call(other, 'com.atproto.identity.updateHandle', { handle: 'alice.test' })
  await new DirectWriter(world, other).createRepository('theirs')
  await vi.waitFor(async () => expect((await statusOf('alice.test')).text).toContain('theirs'), LATE)
})

test('an account that is deactivated is not served, and is when it is back', async () => {
  const direct = new DirectWriter(world, bob)
  const repo = await direct.createRepository('app')
  await direct.push(repo, work)
  await world.clone(world.at(bob, 'app'))
  await settled(edge)
  await call(bob, 'com.atproto.server.deactivateAccount', {})
  await vi.waitFor(async () => expect((await statusOf('bob.test/app')).status).toBe(403), LATE)
  const { status, output } = await work.try('ls-remote', world.at(bob, 'app'))
  expect([status, String(output)]).toEqual([128, ''])
  expect((await statusOf('bob.test/app/info/refs?service=git-upload-pack')).text).toContain('is deactivated')
  expect((await statusOf(`xrpc/dev.skein.repo.search?q=app`)).text).not.toContain(bob.did)
  await call(bob, 'com.atproto.server.activateAccount')
  await vi.waitFor(async () => expect((await statusOf('bob.test/app')).status).toBe(200), LATE)
  expect((await statusOf(`xrpc/dev.skein.repo.search?q=app`)).text).toContain(bob.did)
})

test('of an account that is deleted nothing stays', async () => {
  const dora = await atmosphere.createAccount({ handle: 'dora.test', password: 'dora-password' })
  const direct = new DirectWriter(world, dora)
  const repo = await direct.createRepository('app')
  await direct.push(repo, work)
  await world.clone(world.at(dora, 'app'))
  await settled(edge)
  const bucket = await edge.bucket()
  expect((await bucket.list({ prefix: `packs/${dora.did}/` })).objects).not.toEqual([])
  const response = await fetch(`${atmosphere.pdsUrl}/xrpc/com.atproto.admin.deleteAccount`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from('admin:skein-local-admin').toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ did: dora.did }),
  })
  expect(response.status).toBe(200)
  const db = await edge.database()
  const count = (table: string) =>
    db.prepare(`select count(*) as n from ${table} where did = ?`).bind(dora.did).first('n')
  await vi.waitFor(async () => {
    const counts = await Promise.all(['repositories', 'pushes', 'packs', 'mirrors', 'record_revs'].map(count))
    expect(counts).toEqual([0, 0, 0, 0, 0])
    expect((await bucket.list({ prefix: `packs/${dora.did}/` })).objects).toEqual([])
  }, LATE)
  await vi.waitFor(async () => expect((await statusOf(`${dora.did}/app`)).status).toBe(410), LATE)
})
