import { expect, test, vi } from 'vitest'
import { createAgent, write } from '../gateway/gateway-client.ts'
import { startWorld } from '../harness.ts'
import { callMethod, callTokens } from '../token-calls.ts'
import { basicAuth } from '../wire.ts'
import { edgeWith } from './edge-with.ts'
import { OPERATOR_TOKEN, operate } from './operate.ts'

const world = await startWorld()
const { alice, bob } = world

async function pushed(owner = alice) {
  const work = await world.init()
  await work.commit('first', { 'README.md': 'hello\n' })
  await work.git('push', '--quiet', world.as(owner, 'app'), 'main')
  return work
}

test('an edge for some accounts refuses the others in words', async () => {
  const work = await pushed(alice)
  await pushed(bob)
  const edge = await edgeWith(world, { MIRROR_FOR: ` ${bob.did} ` })
  await work.git('ls-remote', edge.at(bob, 'app'))
  const refused = await work.try('clone', edge.at(alice, 'app'), 'copy')
  expect([refused.status, refused.stderr]).toEqual([
    128,
    expect.stringContaining('does not have this account mirrored'),
  ])
  const push = await work.try('push', edge.as(alice, 'app'), 'main:more')
  expect([push.status, push.stderr]).toEqual([128, expect.stringContaining('does not have this account')])
  for (const path of [
    '/alice.test',
    '/alice.test/app',
    '/alice.test/app/raw/main/README.md',
    '/xrpc/dev.skein.repo.list?actor=alice.test',
    '/xrpc/dev.skein.git.listRefs?repo=alice.test/app',
  ]) {
    expect({ path, status: (await fetch(edge.url + path)).status }).toEqual({ path, status: 403 })
  }
})

test('an edge that only some may push to serves the others, and takes nothing', async () => {
  const work = await pushed(alice)
  const edge = await edgeWith(world, { PUSH_FOR: bob.did })
  await work.git('clone', '--quiet', edge.at(alice, 'app'), 'copy')
  const commit = await world.accountCommit(alice)
  const push = await work.try('push', edge.as(alice, 'app'), 'main:more')
  expect([push.status, push.stderr]).toEqual([128, expect.stringContaining('does not have this account written to')])
  for (const answer of [
    await callMethod(edge, basicAuth(alice), 'dev.skein.repo.create', { name: 'new' }),
    await callTokens(edge, basicAuth(alice), 'create', { label: 'x', rights: ['commit'] }),
  ]) {
    expect(answer).toMatchObject({ status: 403, body: { error: 'NotServed' } })
  }
  expect(await world.accountCommit(alice)).toBe(commit)
  await work.git('push', '--quiet', edge.as(bob, 'mine'), 'main')
  const agent = await createAgent({ ...world, edge }, bob, 'mine')
  await agent.land('two', [write('two.txt', '2\n')])
})

test('an account that comes off the list goes from the index and is mirrored no more, and comes back with it', async () => {
  const stateDirectory = await world.directory()
  const found = async (edge: { readonly url: string }) => {
    const answer = await fetch(`${edge.url}/xrpc/dev.skein.repo.search?q=coming`)
    const { repositories } = (await answer.json()) as { repositories: readonly { readonly name: string }[] }
    return repositories.map(({ name }) => name)
  }
  const listAnew = async (edge: Awaited<ReturnType<typeof edgeWith>>) => {
    expect(await operate(edge, ['reconcile', alice.did])).toMatchObject({ status: 0 })
    const wants = (await edge.database()).prepare('select did from account_wants')
    await vi.waitFor(async () => expect((await wants.all()).results).toEqual([]), { timeout: 30_000 })
  }
  const open = await edgeWith(world, { OPERATOR_TOKEN }, stateDirectory)
  const work = await world.init()
  await work.commit('first', { 'README.md': 'hello\n' })
  await work.git('push', '--quiet', open.as(alice, 'coming-and-going'), 'main')
  await listAnew(open)
  expect(await found(open)).toEqual(['coming-and-going'])
  await open.close()

  const narrow = await edgeWith(world, { OPERATOR_TOKEN, MIRROR_FOR: bob.did }, stateDirectory)
  await listAnew(narrow)
  expect(await found(narrow)).toEqual([])
  const refused = await fetch(`${narrow.url}/alice.test/coming-and-going/raw/main/README.md`)
  expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('does not have this account')])
  expect(JSON.parse((await operate(narrow, ['status', '--json'])).stdout)).toMatchObject({ mirrors: 0 })
  await narrow.close()

  const again = await edgeWith(world, { OPERATOR_TOKEN }, stateDirectory)
  await work.git('clone', '--quiet', again.at(alice, 'coming-and-going'), 'copy')
  // Whoever asked for it has it listed.
  await vi.waitFor(async () => expect(await found(again)).toEqual(['coming-and-going']), { timeout: 30_000 })
})

test('a list that is none is said to be, and nobody is let in', async () => {
  const edge = await edgeWith(world, { MIRROR_FOR: 'alice.test' })
  const response = await fetch(`${edge.url}/alice.test/app/info/refs?service=git-upload-pack`)
  expect(response.status).toBe(500)
  expect(edge.logs.map(({ message }) => message).join()).toContain('MIRROR_FOR must be DIDs')
})
