import { expect, test } from 'vitest'
import { createAgent, write } from '../gateway/gateway-client.ts'
import { startWorld } from '../harness.ts'
import { randomBytes } from '../history.ts'
import { edgeWith } from './edge-with.ts'

const world = await startWorld()
const { alice, bob } = world

const uploads = (requests: readonly { readonly path: string }[]) =>
  requests.filter(({ path }) => path.endsWith('uploadBlob') || path.endsWith('applyWrites'))

test('a push that would make a repository too large is refused before it is in the account', async () => {
  const edge = await edgeWith(world, { MAX_REPOSITORY_BYTES: '400000' })
  const work = await world.init()
  await work.commit('first', { 'a.bin': randomBytes(300_000, 1) })
  await work.git('push', '--quiet', edge.as(alice, 'capped'), 'main')
  const commit = await world.accountCommit(alice)

  await work.commit('second', { 'b.bin': randomBytes(150_000, 2) })
  const requests = await world.pdsRequestsDuring(async () => {
    const push = await work.try('push', edge.as(alice, 'capped'), 'main')
    expect(push.status).not.toBe(0)
    expect(push.stderr.replace(/\s+/g, ' ')).toMatch(
      /at most 400000 bytes of packs of one repository \(MAX_REPOSITORY_BYTES\), and this one has 30\d\d\d\d/,
    )
  })
  expect(uploads(requests)).toEqual([])
  expect(await world.accountCommit(alice)).toBe(commit)

  // What is smaller still fits, what brings no objects always does, and so does a first push that is small enough.
  await work.git('push', '--quiet', edge.as(alice, 'capped'), 'main~1:refs/heads/same')
  await work.git('reset', '--quiet', '--hard', 'main~1')
  await work.commit('small', { 'c.txt': 'c\n' })
  await work.git('push', '--quiet', edge.as(alice, 'capped'), 'main')
  const large = await world.init()
  await large.commit('large', { 'a.bin': randomBytes(500_000, 3) })
  expect((await large.try('push', edge.as(alice, 'too-large'), 'main')).stderr).toContain('MAX_REPOSITORY_BYTES')
})

test('a commit through the gateway that would is refused, and those beside it land', async () => {
  const edge = await edgeWith(world, { MAX_REPOSITORY_BYTES: '300000' })
  const work = await world.init()
  await work.commit('first', { 'a.bin': randomBytes(200_000, 4) })
  await work.git('push', '--quiet', edge.as(alice, 'gateway'), 'main')
  const agent = await createAgent({ ...world, edge }, alice, 'gateway')
  const commit = await world.accountCommit(alice)
  const content = Buffer.from(randomBytes(150_000, 5)).toString('base64')
  const large = { path: 'b.bin', content, encoding: 'base64' } as const
  const { status, body } = await agent.commit('large', [large])
  expect({ status, body }).toMatchObject({
    status: 403,
    body: { error: 'SizeCapExceeded', message: expect.stringContaining('MAX_REPOSITORY_BYTES') },
  })
  expect(await world.accountCommit(alice)).toBe(commit)
  const answers = await Promise.all([
    agent.commit('one', [write('one.txt', '1\n')]),
    agent.commit('large', [large]),
    agent.commit('two', [write('two.txt', '2\n')]),
  ])
  expect(answers.map((answer) => answer.status)).toEqual([200, 403, 200])
})

test('a repository of an account that is larger than the cap is refused in words, and served when the cap is raised', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.bin': randomBytes(300_000, 6) })
  await work.git('push', '--quiet', world.as(bob, 'large'), 'main')
  // Also where all packs are in their records.
  for (let n = 0; n < 4; n++) {
    await work.commit(`more ${n}`, { [`${n}.bin`]: randomBytes(100_000, 10 + n) })
    await work.git('push', '--quiet', world.as(bob, 'large'), 'main')
  }
  const small = await world.init()
  await small.commit('first', { 'a.txt': 'a\n' })
  await small.git('push', '--quiet', world.as(bob, 'small'), 'main')

  const stateDirectory = await world.directory()
  const edge = await edgeWith(world, { MAX_REPOSITORY_BYTES: '400000' }, stateDirectory)
  const refused = await work.try('clone', edge.at(bob, 'large'), 'copy')
  expect([refused.status, refused.stderr]).toEqual([128, expect.stringContaining('MAX_REPOSITORY_BYTES')])
  // It is known from then on.
  const again = await world.pdsRequestsDuring(async () => {
    expect(await fetch(`${edge.url}/bob.test/large/raw/main/0.bin`)).toMatchObject({ status: 403 })
    expect((await work.try('push', edge.as(bob, 'large'), 'main')).stderr).toContain('MAX_REPOSITORY_BYTES')
  })
  expect(again.filter(({ path }) => /listRecords|getBlob/.test(path))).toEqual([])
  await work.git('clone', '--quiet', edge.at(bob, 'small'), 'small')
  await edge.close()

  const raised = await edgeWith(world, { MAX_REPOSITORY_BYTES: '900000' }, stateDirectory)
  await work.git('clone', '--quiet', '--bare', raised.at(bob, 'large'), 'large.git')
  expect(await work.git('--git-dir', 'large.git', 'rev-parse', 'main')).toBe(await work.resolve('main'))
  await work.git('--git-dir', 'large.git', 'fsck', '--strict')
})

test('a mirror that its account has made too large is not taken further', async () => {
  const edge = await edgeWith(world, { MAX_REPOSITORY_BYTES: '400000' })
  const work = await world.init()
  await work.commit('first', { 'a.bin': randomBytes(300_000, 7) })
  await work.git('push', '--quiet', edge.as(alice, 'grown'), 'main')
  await work.git('clone', '--quiet', edge.at(alice, 'grown'), 'copy')
  // By another edge, which has no cap.
  await work.commit('second', { 'b.bin': randomBytes(300_000, 8) })
  await work.git('push', '--quiet', world.as(alice, 'grown'), 'main')
  // A push that loses has this one read the account.
  await work.git('reset', '--quiet', '--hard', 'main~1')
  await work.commit('third', { 'c.txt': 'c\n' })
  const push = await work.try('push', edge.as(alice, 'grown'), 'main')
  expect([push.status, push.stderr]).toEqual([1, expect.stringContaining('fetch first')])
  const refused = await work.try('ls-remote', edge.at(alice, 'grown'))
  expect([refused.status, refused.stderr]).toEqual([128, expect.stringContaining('MAX_REPOSITORY_BYTES')])
})

test('all repositories of an account together have a cap of their own', async () => {
  const edge = await edgeWith(world, { MAX_ACCOUNT_BYTES: '500000' })
  const work = await world.init()
  await work.commit('first', { 'a.bin': randomBytes(300_000, 9) })
  await work.git('push', '--quiet', edge.as(bob, 'half'), 'main')
  await work.git('ls-remote', edge.at(bob, 'half'))
  const requests = await world.pdsRequestsDuring(async () => {
    const push = await work.try('push', edge.as(bob, 'other-half'), 'main')
    expect(push.stderr.replace(/\s+/g, ' ')).toMatch(
      /at most 500000 bytes of packs of one account \(MAX_ACCOUNT_BYTES\), and its repositories here have 30\d\d\d\d/,
    )
  })
  expect(requests.filter(({ path }) => path.endsWith('applyWrites'))).toEqual([])
  // Another account has its own.
  await work.git('push', '--quiet', edge.as(alice, 'half'), 'main')
})
