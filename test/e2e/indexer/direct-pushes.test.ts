import { expect, test, vi } from 'vitest'
import { startWorld } from '../harness.ts'
import { DirectWriter } from './direct-push.ts'
import { settled } from './settled.ts'

const world = await startWorld({ isFollowing: true })
const { edge, alice, bob } = world
const direct = new DirectWriter(world, alice)
const work = await world.init()

/** Reads of records and blobs: what the edge asks an account's server for a mirror. */
async function readsDuring(action: () => Promise<unknown>): Promise<string[]> {
  const requests = await world.pdsRequestsDuring(action)
  const paths = requests
    .filter(({ method }) => method === 'GET')
    .map(({ path }) => path.replace('/xrpc/com.atproto.', ''))
  // Not who it is: that is asked of an account, and not of a repository.
  return paths.filter((path) => !path.startsWith('identity.') && !path.startsWith('server.'))
}

async function seen(url: string, ref = 'refs/heads/main'): Promise<string | undefined> {
  const { stdout } = await work.try('ls-remote', url, ref)
  return stdout.slice(0, 40)
}

const clone = async (name: string) => (await world.clone(world.at(alice, name))).resolve('HEAD')

test('a push past the edge is in the next clone, without a request to the account', async () => {
  await work.commit('one', { 'a.txt': 'one\n' })
  const repo = await direct.createRepository('app')
  const first = await direct.push(repo, work)
  expect(await clone('app')).toBe(first)
  await settled(edge)
  const reads = await readsDuring(async () => {
    for (let n = 0; n < 5; n++) {
      await work.commit(`push ${n}`, { 'a.txt': `${n}\n` })
      const pushed = await direct.push(repo, work)
      await vi.waitFor(async () => expect(await seen(world.at(alice, 'app'))).toBe(pushed), {
        interval: 20,
        timeout: 10_000,
      })
      expect(await clone('app')).toBe(pushed)
    }
  })
  expect(reads).toEqual([])
})

test('a repository that was pushed through the edge goes on the same, and echoes ask for nothing', async () => {
  const url = world.as(bob, 'own')
  await work.git('push', '--quiet', url, 'HEAD:refs/heads/main')
  const db = await edge.database()
  const reads = await readsDuring(async () => {
    for (let n = 0; n < 3; n++) {
      await work.commit(`echo ${n}`, { 'b.txt': `${n}\n` })
      await work.git('push', '--quiet', url, 'HEAD:refs/heads/main')
      const target = await work.resolve('HEAD')
      await vi.waitFor(async () => {
        const row = await db.prepare('select target from pushes where did = ?').bind(bob.did).first('target')
        expect(row).toBe(target)
      }, 10_000)
    }
  })
  expect(reads).toEqual([])
})

test('a pack in blobs is fetched when it is heard of, before anybody asks', async () => {
  const repo = await direct.createRepository('blobs')
  const first = await direct.push(repo, work)
  expect(await clone('blobs')).toBe(first)
  await settled(edge)
  await work.commit('in a blob', { 'c.txt': 'c\n' })
  const reads = await readsDuring(async () => {
    const pushed = await direct.push(repo, work, 'refs/heads/main', true)
    await vi.waitFor(async () => expect(await seen(world.at(alice, 'blobs'))).toBe(pushed), 10_000)
    expect(await clone('blobs')).toBe(pushed)
  })
  expect(reads).toEqual(['sync.getBlob'])
})

test('what is renamed or deleted elsewhere is seen at once', async () => {
  const repo = await direct.createRepository('old-name', { description: 'first' })
  await direct.push(repo, work)
  await clone('old-name')
  await direct.updateRepository(repo, 'new-name', { description: 'second' })
  await vi.waitFor(async () => {
    const page = await (await fetch(world.at(alice, 'new-name'))).text()
    expect(page).toContain('second')
  }, 10_000)
  expect(await clone('new-name')).toBe(await work.resolve('HEAD'))
  await direct.deleteRepository(repo)
  const db = await edge.database()
  await vi.waitFor(async () => {
    expect(await db.prepare('select * from mirrors where rkey = ?').bind(repo).first()).toBe(null)
  }, 10_000)
})
