import { expect, test } from 'vitest'
import { startWorld } from '../harness.ts'
import { basicAuth } from '../wire.ts'
import type { WorkingCopy } from '../working-copy.ts'
import { type Answer, createAgent, type GatewayClient, landed, write } from './gateway-client.ts'

// The account's server fails while commits are handed in: nothing is acknowledged that is not there, and nothing is there twice.
const world = await startWorld()
const { alice, atmosphere, edge } = world

async function repository(name: string): Promise<{ work: WorkingCopy; agent: GatewayClient }> {
  const work = await world.init()
  await work.commit('base', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, name), 'main')
  const agent = await createAgent(world, alice, name)
  await agent.land('warm', [write('warm.txt', '')])
  return { work, agent }
}

async function subjects(name: string): Promise<string[]> {
  const clone = await world.clone(world.at(alice, name))
  await clone.fsck()
  return (await clone.git('log', '--reverse', '--format=%s')).split('\n')
}

test('while the account does not answer, commits wait, and land once it does', async () => {
  const { agent } = await repository('paused')
  await atmosphere.pause()
  let tickets: string[]
  try {
    const answers: Answer[] = []
    for (const name of ['one', 'two', 'three']) {
      answers.push(await agent.commit(name, [write(`${name}.txt`, name)], { wait: false, idempotencyKey: name }))
    }
    for (const { status, body, headers } of answers) {
      expect({ status, body }).toMatchObject({ status: 202, body: { state: 'waiting' } })
      expect(Number(headers.get('Retry-After'))).toBe(body.retryAfterSeconds)
    }
    tickets = answers.map(({ body }) => body.ticket)
    // Until it has been tried: then it says why.
    let last: Answer
    do last = await agent.get('getLanding', { branch: 'main', ticket: tickets[2]! })
    while (last.body.reason === undefined)
    expect(last).toMatchObject({ status: 202, body: { ahead: 2, reason: expect.stringMatching(/\w/) } })
    await edge.restart()
    const again = await agent.commit('one', [write('one.txt', 'one')], { wait: false, idempotencyKey: 'one' })
    expect(again).toMatchObject({ status: 202, body: { ticket: tickets[0] } })
  } finally {
    await atmosphere.resume()
  }
  const answers = await Promise.all(tickets.map(async (ticket) => landed(await agent.landing(ticket))))
  expect(new Set(answers.map(({ commit }) => commit)).size).toBe(3)
  expect(await subjects('paused')).toEqual(['base', 'warm', 'one', 'two', 'three'])
})

test.each<[string, () => void]>([
  ['answers 500 after it has written', () => atmosphere.failNext('applyWrites', { kind: 'fail-after', status: 500 })],
  ['writes, and its answer is lost', () => atmosphere.loseNextAnswer('applyWrites')],
  ['answers 500 before it has written', () => atmosphere.failNext('applyWrites', { kind: 'refuse', status: 500 })],
  [
    'asks to wait',
    () =>
      atmosphere.failNext('applyWrites', {
        kind: 'refuse',
        status: 429,
        headers: { 'retry-after': '1' },
        body: { error: 'RateLimitExceeded', message: 'Too many' },
      }),
  ],
])('a server that %s: the commits land once', async (name, fail) => {
  const id = name.replaceAll(/[ ,]+/g, '-')
  const { agent } = await repository(id)
  fail()
  const names = ['one', 'two', 'three', 'four']
  const answers = await Promise.all(names.map((one) => agent.land(one, [write(`${one}.txt`, one)])))
  const all = await subjects(id)
  expect(all.slice(0, 2)).toEqual(['base', 'warm'])
  expect(all.slice(2).sort()).toEqual(names.toSorted())
  expect(new Set(answers.map(({ commit }) => commit)).size).toBe(4)
})

test('a server that asks to wait longer than the caller does: it is told when it lands', async () => {
  const { agent } = await repository('told')
  const fault = {
    kind: 'refuse',
    status: 429,
    headers: { 'retry-after': '3' },
    body: { error: 'RateLimitExceeded' },
  } as const
  atmosphere.failNext('applyWrites', fault)
  const { status, body } = await agent.commit('later', [write('b.txt', '')], { wait: false })
  expect(status).toBe(202)
  let waiting: Answer
  do waiting = await agent.get('getLanding', { branch: 'main', ticket: body.ticket })
  while (waiting.status === 202 && waiting.body.reason === undefined)
  expect(waiting).toMatchObject({ status: 202, body: { ahead: 0, reason: expect.stringMatching(/\w/) } })
  expect(waiting.body.retryAfterSeconds).toBeGreaterThanOrEqual(1)
  expect(waiting.headers.get('Retry-After')).toBe(`${waiting.body.retryAfterSeconds}`)
  landed(await agent.landing(body.ticket))
  expect(await subjects('told')).toEqual(['base', 'warm', 'later'])
})

test('a mirror that knows nothing takes a commit', async () => {
  const { work } = await repository('cold')
  await edge.wipe()
  const agent = await createAgent(world, alice, 'cold')
  const { parent } = await agent.land('cold', [{ path: 'moved.txt', moveFrom: 'a.txt' }])
  await work.git('fetch', '--quiet', world.at(alice, 'cold'), 'main')
  expect(await work.resolve('FETCH_HEAD^')).toBe(parent)
  expect(await work.git('ls-tree', '--name-only', 'FETCH_HEAD')).toBe('moved.txt\nwarm.txt')
})

test('without a session of the owner a commit is refused in words, and lands when there is one', async () => {
  const { agent } = await repository('no-session')
  await edge.wipe('do')
  const refused = await agent.commit('too soon', [write('b.txt', '')])
  expect(refused).toMatchObject({
    status: 403,
    body: { error: 'AccountRefused', message: expect.stringMatching(/sign in/i) },
  })
  await createAgent(world, alice, 'no-session')
  await agent.land('signed in', [write('b.txt', '')])
  expect(await subjects('no-session')).toEqual(['base', 'warm', 'signed in'])
})

test('the owner commits without a token', async () => {
  const { agent } = await repository('owner')
  await agent.with({ credentials: basicAuth(alice) }).land('mine', [write('b.txt', '')])
  const clone = await world.clone(world.at(alice, 'owner'))
  expect(await clone.git('log', '-1', '--format=%an')).toBe('alice.test')
})
