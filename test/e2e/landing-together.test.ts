import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { GitResult } from '../../dev/git.ts'
import { startWorld } from './harness.ts'
import type { WorkingCopy } from './working-copy.ts'

// Pushes that arrive together go into the account together: what becomes of one must not become of the others.
const world = await startWorld()
const { alice, atmosphere } = world
/** A request comes when it comes, on a busy machine too. */
const ARRIVAL = { timeout: 60_000 }
const APPLY_WRITES = '/xrpc/com.atproto.repo.applyWrites'

interface Pusher {
  readonly copy: WorkingCopy
  /** What it pushes: a commit of its own on top of `main`. */
  readonly head: string
  /** Full name of its branch. */
  readonly ref: string
}

/** A repository with a branch for each pusher, which they have all seen, and a commit of each on top. */
async function startPushers(repository: string, count: number): Promise<Pusher[]> {
  const origin = await world.init()
  await origin.commit('base', { 'a.txt': 'a\n' })
  const names = Array.from({ length: count }, (_, n) => `topic-${n}`)
  await origin.git(
    ...['push', '--quiet', world.as(alice, repository), 'main'],
    ...names.map((name) => `main:refs/heads/${name}`),
  )
  const copies = await Promise.all(names.map(() => world.clone(world.as(alice, repository))))
  return Promise.all(
    copies.map(async (copy, n) => {
      const head = await copy.commit(`on ${n}`, { [`${n}.txt`]: `${n}\n` })
      return { copy, head, ref: `refs/heads/${names[n]}` }
    }),
  )
}

function pushAll(pushers: readonly Pusher[]): Promise<GitResult[]> {
  return Promise.all(pushers.map(({ copy, ref }) => copy.try('push', 'origin', `HEAD:${ref}`)))
}

/** The refs that the edge shows; the same as it shows when it has read the account anew. */
async function refsOf(repository: string): Promise<Record<string, string>> {
  const work = await world.init()
  const read = async () => {
    const listing = await work.git('ls-remote', world.at(alice, repository), 'refs/*')
    return Object.fromEntries(listing.split('\n').map((line) => line.split('\t').reverse() as [string, string]))
  }
  const shown = await read()
  await world.edge.wipe()
  expect(await read()).toEqual(shown)
  await (await world.clone('--mirror', world.at(alice, repository))).git('fsck', '--strict')
  return shown
}

test('ten pushes to ten new branches all land, and nobody reads the account for them', async () => {
  const pushers = (await startPushers('ten', 10)).map((pusher, n) => ({ ...pusher, ref: `refs/heads/new-${n}` }))
  const requests = await world.pdsRequestsDuring(async () => {
    for (const { status, stderr } of await pushAll(pushers)) expect([status, stderr]).toEqual([0, expect.anything()])
  })
  expect(new Set(requests.map(({ path }) => path))).toEqual(new Set([APPLY_WRITES]))
  expect(requests.length).toBeLessThanOrEqual(10)
  // The mirror knows its head again: the next creation is one request.
  const [first] = pushers as [Pusher]
  const next = await world.pdsRequestsDuring(() => first.copy.git('push', '--quiet', 'origin', 'HEAD:refs/heads/next'))
  expect(next.map(({ path }) => path)).toEqual([APPLY_WRITES])
  const refs = await refsOf('ten')
  for (const { ref, head } of pushers) expect(refs[ref]).toBe(head)
})

test('pushes that come while a write is under way go together in the next', async () => {
  const pushers = await startPushers('gathered', 6)
  const [first, ...others] = pushers as [Pusher, ...Pusher[]]
  const release = Promise.withResolvers<void>()
  atmosphere.failNext('applyWrites', { kind: 'hang', release: release.promise })
  const before = atmosphere.requests.length
  // Packs of this size are uploaded first, so that the PDS sees each of them come.
  for (const { copy } of others) await copy.commit('large', { 'large.bin': randomBytes(220_000) })
  const pushed = pushAll([first])
  const count = (nsid: string) => atmosphere.requests.slice(before).filter(({ path }) => path.endsWith(nsid)).length
  await expect.poll(() => count('applyWrites'), ARRIVAL).toBe(1)
  const rest = pushAll(others)
  await expect.poll(() => count('uploadBlob'), ARRIVAL).toBe(others.length)
  expect(count('applyWrites')).toBe(1)
  release.resolve()
  for (const { status } of [...(await pushed), ...(await rest)]) expect(status).toBe(0)
  // Who was still between its upload and its landing when the first was let go may come in a third.
  expect(count('applyWrites')).toBeLessThanOrEqual(4)
})

test('one that somebody else was faster than, past this edge, is told so, and the others land', async () => {
  const pushers = await startPushers('poisoned', 6)
  const late = pushers[3] as Pusher
  const key = (await world.records(alice, 'dev.skein.ref')).find(({ value }) => value.name === late.ref)!
  const { name, target, pack } = key.value
  const { did, accessJwt } = alice
  const rkey = key.uri.slice(key.uri.lastIndexOf('/') + 1)
  const write = await fetch(`${atmosphere.pdsUrl}${APPLY_WRITES}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessJwt}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      repo: did,
      writes: [
        { $type: 'com.atproto.repo.applyWrites#delete', collection: 'dev.skein.ref', rkey },
        {
          $type: 'com.atproto.repo.applyWrites#create',
          collection: 'dev.skein.ref',
          rkey: rkey.replace(/:1$/, ':2'),
          // A deletion: no target.
          value: { $type: 'dev.skein.ref', name, seq: 2 },
        },
      ],
    }),
  })
  expect([write.status, target !== undefined, pack !== undefined]).toEqual([200, true, true])

  const results = await pushAll(pushers)
  expect(results.map(({ status }) => status)).toEqual(pushers.map((pusher) => (pusher === late ? 1 : 0)))
  expect(results[3]!.stderr).toMatch(/fetch first/)
  const refs = await refsOf('poisoned')
  for (const { ref, head } of pushers) if (ref !== late.ref) expect(refs[ref]).toBe(head)
  expect(refs[late.ref]).toBe(undefined)
})

test('a new branch, a deletion, a move and an atomic push at once all land', async () => {
  const [a, b, c, d] = (await startPushers('mixed', 4)) as [Pusher, Pusher, Pusher, Pusher]
  await Promise.all([
    a.copy.git('push', '--quiet', 'origin', 'HEAD:refs/heads/new'),
    b.copy.git('push', '--quiet', 'origin', `:${b.ref}`),
    c.copy.git('push', '--quiet', 'origin', `HEAD:${c.ref}`),
    d.copy.git('push', '--quiet', '--atomic', 'origin', `HEAD:${d.ref}`, 'HEAD:refs/heads/both', 'HEAD:refs/tags/v1'),
  ])
  const refs = await refsOf('mixed')
  expect(refs).toMatchObject({
    'refs/heads/new': a.head,
    [c.ref]: c.head,
    [d.ref]: d.head,
    'refs/heads/both': d.head,
    'refs/tags/v1': d.head,
  })
  expect(refs[b.ref]).toBe(undefined)
})

test('answers that are lost are no pushes that are lost', async () => {
  const pushers = await startPushers('lost-answers', 6)
  for (let n = 0; n < 2; n++) atmosphere.loseNextAnswer('com.atproto.repo.applyWrites')
  for (const { status } of await pushAll(pushers)) expect(status).toBe(0)
  const refs = await refsOf('lost-answers')
  for (const { ref, head } of pushers) expect(refs[ref]).toBe(head)
})

test('where the PDS takes no more, those in that write are told when to come back, and no others fail', async () => {
  const pushers = await startPushers('limited', 6)
  atmosphere.failNext('applyWrites', {
    kind: 'refuse',
    status: 429,
    headers: { 'retry-after': '99' },
    body: { error: 'RateLimitExceeded', message: 'Too many' },
  })
  const results = await pushAll(pushers)
  const failed = results.flatMap(({ status }, n) => (status === 0 ? [] : [n]))
  expect(failed.length).toBeGreaterThanOrEqual(1)
  for (const n of failed) expect(results[n]!.stderr).toMatch(/429 RateLimitExceeded: Too many.*try again in 99 s/)
  const refs = await refsOf('limited')
  for (const [n, { ref, head }] of pushers.entries()) expect(refs[ref] === head).toBe(!failed.includes(n))
})

test('a runtime that is killed while the PDS writes has lost nothing that it said, and takes all pushes again', async () => {
  const pushers = await startPushers('killed', 5)
  const release = Promise.withResolvers<void>()
  atmosphere.failNext('applyWrites', { kind: 'hang', release: release.promise })
  const before = atmosphere.requests.length
  const results = pushAll(pushers)
  const hasArrived = () => atmosphere.requests.slice(before).some(({ path }) => path === APPLY_WRITES)
  await expect.poll(hasArrived, ARRIVAL).toBe(true)
  process.kill(await world.edge.pid(), 'SIGKILL')
  for (const { status } of await results) expect(status).not.toBe(0)
  // It may be carried out now, with nobody there to hear of it.
  release.resolve()
  await world.edge.restart()
  for (const { status, stderr } of await pushAll(pushers)) expect([status, stderr]).toEqual([0, expect.anything()])
  const refs = await refsOf('killed')
  for (const { ref, head } of pushers) expect(refs[ref]).toBe(head)
})
