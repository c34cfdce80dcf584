import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { MergeStrategy } from '../../../durable-objects/branch-queue/answers.ts'
import { startWorld } from '../harness.ts'
import type { WorkingCopy } from '../working-copy.ts'
import { commitOf, mergeOf, type QueueClient, queueOf } from './queue-world.ts'

const world = await startWorld()
const { alice, atmosphere, edge } = world
const APPLY_WRITES = '/xrpc/com.atproto.repo.applyWrites'
/** What is left to the alarm of an object is looked after by that time. */
const BY_ALARM = { timeout: 60_000 }

/** A repository of one commit, as it was pushed. */
async function pushed(name: string): Promise<{ origin: WorkingCopy; queue: QueueClient }> {
  const origin = await world.init()
  await origin.commit('base', { 'a.txt': 'a\n', 'dir/b.txt': 'b\n' })
  await origin.git('push', '--quiet', world.as(alice, name), 'main')
  return { origin, queue: await queueOf(world, alice, name) }
}

/** Subjects of the branch, oldest first, as a clone has them; the same as the account alone has them. */
async function subjects(name: string, branch = 'main'): Promise<string[]> {
  const read = async () => {
    const clone = await world.clone('--branch', branch, world.at(alice, name))
    await clone.fsck()
    return (await clone.git('log', '--first-parent', '--reverse', '--format=%s')).split('\n')
  }
  const shown = await read()
  await edge.wipe('r2')
  expect(await read()).toEqual(shown)
  return shown
}

const numbered = (n: number) => Array.from({ length: n }, (_, i) => `f${i}.txt`)

describe('commits', () => {
  test('of sixteen at once are three landings at most, each its own commit, and the next clone has them', async () => {
    const { queue } = await pushed('sixteen')
    const files = numbered(16)
    const requests = await world.pdsRequestsDuring(async () => {
      const landed = await Promise.all(files.map((path) => queue.land(commitOf({ [path]: `${path}\n` }))))
      expect(new Set(landed.map(({ commit }) => commit)).size).toBe(16)
      expect(new Set(landed.map(({ landing }) => landing.id)).size).toBeLessThanOrEqual(3)
    })
    expect(new Set(requests.map(({ path }) => path))).toEqual(new Set([APPLY_WRITES]))
    expect(requests.length).toBeLessThanOrEqual(3)
    expect((await subjects('sixteen')).sort()).toEqual(['base', ...files.map((path) => `Write ${path}`)].sort())
  })

  test('one after the other need one request each, and no read of what was made before', async () => {
    const { queue } = await pushed('sequence')
    await queue.land(commitOf({ 'a.txt': 'changed\n' }))
    const before = edge.logs.length
    const requests = await world.pdsRequestsDuring(async () => {
      for (const path of numbered(5)) await queue.land(commitOf({ [path]: `${path}\n`, 'a.txt': `${path}\n` }))
    })
    expect(requests.map(({ path }) => path)).toEqual(Array(5).fill(APPLY_WRITES))
    const landings = edge.logs.slice(before).flatMap(({ message }) => {
      const fields = JSON.parse(message) as { event: string; r2Reads: number }
      return fields.event === 'works-landed' ? [fields.r2Reads] : []
    })
    expect(landings).toEqual([0, 0, 0, 0, 0])
    expect(await subjects('sequence')).toHaveLength(7)
  })

  test('stand on what was pushed in between, and what is pushed stands on them', async () => {
    const { origin, queue } = await pushed('between')
    await queue.land(commitOf({ 'one.txt': '1\n' }))
    await origin.git('pull', '--quiet', world.at(alice, 'between'), 'main')
    await origin.commit('by a push', { 'pushed.txt': 'p\n' })
    await origin.git('push', '--quiet', world.as(alice, 'between'), 'main')
    const head = await origin.resolve('HEAD')
    expect(await queue.land(commitOf({ 'two.txt': '2\n' }))).toMatchObject({ parent: head })
    expect(await subjects('between')).toEqual(['base', 'Write one.txt', 'by a push', 'Write two.txt'])
  })

  test('are merged with a push that they did not know, from the commit that was theirs', async () => {
    const { origin, queue } = await pushed('based')
    const base = await origin.resolve('HEAD')
    await queue.land(commitOf({ 'one.txt': '1\n' }))
    await origin.git('pull', '--quiet', world.at(alice, 'based'), 'main')
    await origin.commit('rewrites', { 'a.txt': 'by the push\n' })
    await origin.git('push', '--quiet', world.as(alice, 'based'), 'main')
    const pushedBase = await origin.resolve('HEAD')
    const refusal = await queue.refusal(commitOf({ 'a.txt': 'by the agent\n' }, { base }))
    expect(refusal).toMatchObject({ reason: 'merge-conflict', conflicts: [{ kind: 'content' }] })
    await queue.land(commitOf({ 'a.txt': 'by the agent\n' }, { base: pushedBase }))
    await queue.land(commitOf({ 'dir/b.txt': 'B\n' }, { base }))
    const clone = await world.clone(world.at(alice, 'based'))
    expect(await clone.git('show', 'HEAD:a.txt', 'HEAD:dir/b.txt')).toBe('by the agent\nB')
  })

  test('of large files go up as blobs', async () => {
    const { queue } = await pushed('large')
    const content = randomBytes(3_000_000).toString('base64')
    const requests = await world.pdsRequestsDuring(() => queue.land(commitOf({ 'large.txt': content })))
    expect(requests.some(({ path }) => path.endsWith('uploadBlob'))).toBe(true)
    await queue.land(commitOf({ 'large.txt': `${content}\nand more\n` }))
    expect(await subjects('large')).toHaveLength(3)
  })

  test('begin the branch of an empty repository', async () => {
    const origin = await world.init()
    await origin.commit('elsewhere', { 'x.txt': 'x\n' })
    await origin.git('push', '--quiet', world.as(alice, 'unborn'), 'main:refs/heads/main', 'main:refs/heads/other')
    await origin.git('push', '--quiet', world.as(alice, 'unborn'), ':main')
    const queue = await queueOf(world, alice, 'unborn')
    const works = numbered(3).map((path) => queue.land(commitOf({ [path]: '1\n' })))
    expect((await Promise.all(works)).filter(({ parent }) => parent === null)).toHaveLength(1)
    expect(await subjects('unborn')).toHaveLength(3)
    const elsewhere = await queueOf(world, alice, 'unborn', 'nowhere')
    expect(await elsewhere.refusal(commitOf({ x: 'y' }))).toMatchObject({ reason: 'branch-missing' })
    const below = await queueOf(world, alice, 'unborn', 'main/below')
    const target = await origin.resolve('HEAD')
    expect(await below.refusal({ kind: 'create', target })).toMatchObject({ reason: 'branch-exists' })
  })
})

describe('branches', () => {
  test('are created, committed to, merged in all ways, and deleted', async () => {
    const { origin, queue } = await pushed('branches')
    const base = await origin.resolve('HEAD')
    for (const strategy of ['fast-forward', 'merge', 'squash', 'rebase'] satisfies MergeStrategy[]) {
      const topic = await queueOf(world, alice, 'branches', `topic-${strategy}`)
      await topic.land({ kind: 'create', target: await tipOf('branches') })
      const { commit } = await topic.land(commitOf({ [`${strategy}.txt`]: 'on the topic\n' }))
      // The first main does not know of the topic's commit yet.
      if (strategy !== 'fast-forward') await queue.land(commitOf({ [`main-${strategy}.txt`]: 'on main\n' }))
      await queue.land(mergeOf(commit!, strategy))
      expect(await topic.land({ kind: 'delete', expectedTip: commit })).toMatchObject({ commit: null, parent: commit })
    }
    const clone = await world.clone(world.at(alice, 'branches'))
    expect((await clone.git('ls-files')).split('\n')).toEqual(
      [
        ...['a.txt', 'dir/b.txt', 'fast-forward.txt', 'main-merge.txt', 'main-rebase.txt', 'main-squash.txt'],
        ...['merge.txt', 'rebase.txt', 'squash.txt'],
      ].sort(),
    )
    expect(await clone.git('rev-list', '--merges', '--count', 'HEAD')).toBe('1')
    expect(Object.keys(await clone.refs())).toEqual(['refs/heads/main'])
    expect(await queue.refusal(mergeOf(base, 'merge'))).toMatchObject({ reason: 'nothing-to-do' })
    expect(await subjects('branches')).toContain("Merge branch 'topic'")
  })

  test('are not created where another has come to stand in their way, without a word to the queue', async () => {
    const { origin } = await pushed('in-the-way')
    const target = await origin.resolve('HEAD')
    const below = await queueOf(world, alice, 'in-the-way', 'topic/below')
    await below.land({ kind: 'create', target })
    await below.land({ kind: 'delete', expectedTip: target })
    await origin.git('push', '--quiet', world.as(alice, 'in-the-way'), 'main:topic')
    expect(await below.refusal({ kind: 'create', target })).toMatchObject({ reason: 'branch-exists' })
  })

  async function tipOf(name: string): Promise<string> {
    const work = await world.init()
    return (await work.git('ls-remote', world.at(alice, name), 'refs/heads/main')).slice(0, 40)
  }
})

describe('an account that fails', () => {
  test.each([
    ['answers 500 after it has written', () => atmosphere.failNext('applyWrites', { kind: 'fail-after', status: 500 })],
    ['is cut off after it has written', () => atmosphere.loseNextAnswer('com.atproto.repo.applyWrites')],
    ['answers 500 and has not', () => atmosphere.failNext('applyWrites', { kind: 'refuse', status: 500 })],
  ])('and %s has each commit once', async (name, fail) => {
    const repository = name.replaceAll(' ', '-').slice(0, 20)
    const { queue } = await pushed(repository)
    await queue.land(commitOf({ 'first.txt': '1\n' }))
    fail()
    const files = numbered(5)
    await Promise.all(files.map((path) => queue.land(commitOf({ [path]: '1\n' }))))
    expect((await subjects(repository)).sort()).toEqual(
      ['base', 'Write first.txt', ...files.map((path) => `Write ${path}`)].sort(),
    )
  })

  test('for a while makes callers wait, with a word why, and has all afterwards', async () => {
    const { queue } = await pushed('later')
    const refuse = { kind: 'refuse', status: 429, headers: { 'retry-after': '3' }, body: {} } as const
    atmosphere.failNext('applyWrites', { ...refuse, body: { error: 'RateLimitExceeded', message: 'Too many' } })
    const answer = await queue.submit(commitOf({ 'x.txt': 'x\n' }), { waitMilliseconds: 1_000, idempotencyKey: 'x' })
    expect(answer).toMatchObject({
      accepted: true,
      work: { state: 'waiting', ahead: 0, reason: expect.stringContaining('Too many') },
    })
    const again = await queue.land(commitOf({ 'x.txt': 'x\n' }), { idempotencyKey: 'x' })
    expect(again.landing.commits).toBe(1)
    expect(await subjects('later')).toEqual(['base', 'Write x.txt'])
  })

  test('at which nobody is signed in any more refuses', async () => {
    const { queue } = await pushed('signed-out')
    await edge.wipe('do')
    expect(await queue.refusal(commitOf({ 'x.txt': 'x\n' }))).toMatchObject({ reason: 'account-refused' })
  })
})

describe('a restart', () => {
  test.each([true, false])('while a landing is under way lands it once; it has been written: %s', async (isWritten) => {
    const name = `restarted-${isWritten}`
    const { queue } = await pushed(name)
    await queue.land(commitOf({ 'first.txt': '1\n' }))
    const release = Promise.withResolvers<void>()
    if (isWritten) atmosphere.loseNextAnswer('com.atproto.repo.applyWrites')
    else atmosphere.failNext('applyWrites', { kind: 'hang', release: release.promise })
    const before = atmosphere.requests.length
    const waiting = queue.submit(commitOf({ 'x.txt': 'x\n' }), { idempotencyKey: 'x' }).catch((error: unknown) => error)
    await expect
      .poll(() => atmosphere.requests.slice(before).some(({ path }) => path === APPLY_WRITES), BY_ALARM)
      .toBe(true)
    await edge.restart()
    release.resolve()
    await waiting
    const landed = await queue.land(commitOf({ 'x.txt': 'x\n' }), { idempotencyKey: 'x' })
    expect(landed.landing.commits).toBe(1)
    expect(await queue.land(commitOf({ 'x.txt': 'x\n' }), { idempotencyKey: 'x' })).toEqual(landed)
    expect(await subjects(name)).toEqual(['base', 'Write first.txt', 'Write x.txt'])
  })

  test('of what nobody waits for is landed by the alarm', async () => {
    const { queue } = await pushed('by-alarm')
    const refuse = { kind: 'refuse', status: 500 } as const
    for (let i = 0; i < 3; i++) atmosphere.failNext('applyWrites', refuse)
    const answer = await queue.submit(commitOf({ 'x.txt': 'x\n' }), { waitMilliseconds: 0 })
    expect(answer).toMatchObject({ accepted: true, work: { state: 'waiting' } })
    await edge.restart()
    const work = await world.init()
    const heads = () => work.git('ls-remote', world.at(alice, 'by-alarm'), 'main')
    const old = await heads()
    await expect.poll(heads, BY_ALARM).not.toBe(old)
    expect(await subjects('by-alarm')).toEqual(['base', 'Write x.txt'])
  })
})
