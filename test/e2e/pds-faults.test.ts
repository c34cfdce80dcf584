import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Fault } from '../../dev/atmosphere.ts'
import { startWorld } from './harness.ts'
import type { WorkingCopy } from './working-copy.ts'

// The account's server fails in the middle of a push: whoever pushed is told what happened, and the next push works.
const world = await startWorld()
const { alice, atmosphere } = world

/** Too large for a record: it goes up as blobs. */
const large = () => ({ 'large.bin': randomBytes(300_000) })

async function pushedRepository(name: string): Promise<WorkingCopy> {
  const work = await world.init()
  await work.commit('base', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, name), 'main')
  return work
}

function failTimes(times: number, nsid: string, fault: Fault): void {
  for (let i = 0; i < times; i++) atmosphere.failNext(nsid, fault)
}

test.each<[string, number, string, Fault, RegExp]>([
  [
    'no more blobs today',
    2,
    'uploadBlob',
    {
      kind: 'refuse',
      status: 429,
      headers: { 'retry-after': '77' },
      body: { error: 'RateLimitExceeded', message: 'Too many' },
    },
    /429 RateLimitExceeded: Too many.*try again in 77 s/,
  ],
  [
    'refuses the blob',
    2,
    'uploadBlob',
    { kind: 'refuse', status: 400, body: { error: 'InvalidRequest', message: 'No such blobs here' } },
    /400 InvalidRequest: No such blobs here/,
  ],
  ['does not say how large a blob may be', 3, 'describeServer', { kind: 'refuse', status: 503 }, /answered 503/],
  [
    'no more writes today',
    1,
    'applyWrites',
    {
      kind: 'refuse',
      status: 429,
      headers: { 'retry-after': '99' },
      body: { error: 'RateLimitExceeded', message: 'Too many' },
    },
    /429 RateLimitExceeded: Too many.*try again in 99 s/,
  ],
])('%s: the pusher is told what the server said, and nothing is written', async (name, times, nsid, fault, words) => {
  const repository = name.replaceAll(' ', '-')
  const work = await pushedRepository(repository)
  const before = await work.git('ls-remote', world.at(alice, repository))
  const head = await work.commit('large', large())
  failTimes(times, nsid, fault)
  const { status, stderr } = await work.try('push', world.as(alice, repository), 'main')
  expect(status).toBe(1)
  expect(stderr).toMatch(words)
  expect(await work.git('ls-remote', world.at(alice, repository))).toBe(before)
  await work.git('push', '--quiet', world.as(alice, repository), 'main')
  expect(await work.git('ls-remote', world.at(alice, repository), 'main')).toBe(`${head}\trefs/heads/main`)
})

test.each<[string, number, Fault]>([
  ['one part of the pack fails', 1, { kind: 'refuse', status: 500 }],
  // The part that was streamed, and the first try to send it again.
  ['the token is refused before its time', 2, { kind: 'refuse', status: 401, body: { error: 'InvalidToken' } }],
  [
    'the token has ended by the clock of the server',
    2,
    { kind: 'refuse', status: 400, body: { error: 'ExpiredToken' } },
  ],
])('%s: it is sent again, and the push lands', async (name, times, fault) => {
  const repository = name.replaceAll(' ', '-')
  const work = await pushedRepository(repository)
  await work.commit('large', large())
  failTimes(times, 'uploadBlob', fault)
  await work.git('push', '--quiet', world.as(alice, repository), 'main')
  await world.edge.wipe()
  const clone = await world.clone(world.at(alice, repository))
  expect(await clone.objectIds()).toEqual(await work.objectIds())
})

test('a 500 for a write that was carried out is a landing', async () => {
  const work = await pushedRepository('after-the-fact')
  const head = await work.commit('next', { 'b.txt': 'b\n' })
  atmosphere.failNext('applyWrites', { kind: 'fail-after', status: 500 })
  await work.git('push', '--quiet', world.as(alice, 'after-the-fact'), 'main')
  expect(await work.git('ls-remote', world.at(alice, 'after-the-fact'), 'main')).toBe(`${head}\trefs/heads/main`)
})
