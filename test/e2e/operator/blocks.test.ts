import { describe, expect, test } from 'vitest'
import type { Account } from '../../../dev/atmosphere.ts'
import { createAgent, write } from '../gateway/gateway-client.ts'
import { startWorld } from '../harness.ts'
import { randomBytes } from '../history.ts'
import { callMethod, callTokens } from '../token-calls.ts'
import { basicAuth, pktLine } from '../wire.ts'
import type { WorkingCopy } from '../working-copy.ts'
import { OPERATOR_TOKEN, operate } from './operate.ts'

const world = await startWorld({ vars: { OPERATOR_TOKEN } })
const { alice, bob, edge } = world
const WORDS = 'blocked by the operator of this edge'

/** A repository of a commit, with a clone of it. */
async function pushed(name: string, owner = alice): Promise<{ origin: WorkingCopy; clone: WorkingCopy }> {
  const origin = await world.init()
  await origin.commit('first', { 'README.md': 'hello\n', 'large.bin': randomBytes(300_000, 1) })
  await origin.git('push', '--quiet', world.as(owner, name), 'main')
  return { origin, clone: await world.clone(world.at(owner, name)) }
}

/** Runs the command, which must succeed. @returns what it says as JSON */
async function succeed(...args: string[]) {
  const { status, stdout, stderr } = await operate(edge, [...args, '--json'])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return JSON.parse(stdout)
}

async function uriOf(owner: Account, name: string): Promise<string> {
  const found = (await world.records(owner, 'dev.skein.repo')).find(({ value }) => value.name === name)
  return found!.uri
}

/** What anybody is answered at an address of the edge. */
async function get(path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${edge.url}${path}`)
  return { status: response.status, text: await response.text() }
}

/** Asks for a clone as a client does that has seen the refs before: its answer may be in the cache. */
async function askForClone(repo: string, want: string): Promise<{ status: number; text: string }> {
  const lines = ['ofs-delta\n', 'no-progress\n', `want ${want}\n`, 'done\n'].map((line) => pktLine(line))
  const response = await fetch(`${edge.url}/${repo}/git-upload-pack`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-git-upload-pack-request', 'Git-Protocol': 'version=2' },
    body: Buffer.concat([pktLine('command=fetch\n'), Buffer.from('0001'), ...lines, Buffer.from('0000')]),
  })
  return { status: response.status, text: Buffer.from(await response.arrayBuffer()).toString('latin1') }
}

/** Whatever can be asked of a repository, by anyone. */
const readings = (repo: string) => [
  `/${repo}/info/refs?service=git-upload-pack`,
  `/${repo}`,
  `/${repo}/raw/main/README.md`,
  `/${repo}/archive/main.tar.gz`,
  `/${repo}/archive/main.zip`,
  `/xrpc/dev.skein.repo.get?repo=${repo}`,
  `/xrpc/dev.skein.git.listRefs?repo=${repo}`,
  `/xrpc/dev.skein.git.getTree?repo=${repo}`,
  `/xrpc/dev.skein.git.getBlob?repo=${repo}&path=README.md`,
  `/xrpc/dev.skein.git.getCommit?repo=${repo}&ref=main`,
  `/xrpc/dev.skein.git.listCommits?repo=${repo}`,
]

async function expectBlocked(repo: string): Promise<void> {
  for (const path of readings(repo)) {
    const { status, text } = await get(path)
    expect({ path, status, text }).toMatchObject({ status: 403, text: expect.stringContaining(WORDS) })
  }
}

async function expectServed(repo: string): Promise<void> {
  for (const path of readings(repo)) expect({ path, ...(await get(path)) }).toMatchObject({ status: 200 })
}

describe('a repository that is blocked', () => {
  test('is not served any more from one request to the next, and is again when it is unblocked', async () => {
    const { origin, clone } = await pushed('app')
    await pushed('other')
    const agent = await createAgent(world, alice, 'app')
    await agent.land('two', [write('two.txt', '2\n')])
    await expectServed('alice.test/app')
    await clone.git('pull', '--quiet')
    const tip = await clone.resolve('main')
    // So that the answer to a clone is in the cache.
    for (let n = 0; n < 3; n++) expect((await askForClone('alice.test/app', tip)).text).toContain('PACK')

    const uri = await uriOf(alice, 'app')
    const blocked = await succeed('block', 'alice.test/app', '--reason', 'it is spam')
    expect(blocked).toMatchObject({ block: { subject: uri, reason: 'it is spam' }, mirrors: 1 })
    expect(await succeed('blocks')).toMatchObject({ blocks: [{ subject: uri, reason: 'it is spam' }] })

    await expectBlocked('alice.test/app')
    const requests = await world.pdsRequestsDuring(async () => {
      const asked = await askForClone('alice.test/app', tip)
      expect(asked.text).toContain(WORDS)
      expect(asked.text).not.toContain('PACK')
      for (const args of [
        ['clone', world.at(alice, 'app'), 'copy'],
        ['-c', 'protocol.version=0', 'clone', world.at(alice, 'app'), 'copy'],
        ['ls-remote', world.at(alice, 'app')],
      ]) {
        const refused = await origin.try(...args)
        expect([refused.status, refused.stderr]).toEqual([128, expect.stringContaining(`${WORDS}: it is spam`)])
      }
      const fetched = await clone.try('fetch')
      expect([fetched.status, fetched.stderr]).toEqual([128, expect.stringContaining(WORDS)])
      await origin.commit('second', { 'b.txt': 'b\n' })
      const push = await origin.try('push', '--force', world.as(alice, 'app'), 'main')
      expect(push.stderr).toContain(WORDS)
      expect(push.status).not.toBe(0)
      const { status, body } = await agent.commit('three', [write('three.txt', '3\n')])
      expect([status, body]).toEqual([403, { error: 'Blocked', message: `${WORDS}: it is spam` }])
    })
    expect(requests).toEqual([])
    expect(await world.git.try(['ls-remote', world.at(alice, 'other')])).toMatchObject({ status: 0 })
    expect((await get('/alice.test')).text).not.toContain('/app')
    expect((await get('/alice.test')).text).toContain('/other')
    const list = JSON.parse((await get('/xrpc/dev.skein.repo.list?actor=alice.test')).text)
    expect(list.repositories.map(({ name }: { name: string }) => name)).toEqual(['other'])

    const unblocked = await succeed('unblock', uri)
    expect(unblocked).toMatchObject({ subject: uri, wasBlocked: true })
    // What R2 had was dropped: the account gives it again.
    const comeback = await world.pdsRequestsDuring(() => expectServed('alice.test/app'))
    expect(comeback.some(({ path }) => path.endsWith('getBlob'))).toBe(true)
    await clone.git('pull', '--quiet')
    expect(await clone.git('ls-files')).toBe('README.md\nlarge.bin\ntwo.txt')
    await agent.land('three', [write('three.txt', '3\n')])
    expect(await succeed('unblock', uri)).toMatchObject({ wasBlocked: false })
  })

  test('comes back without its account where its bytes are kept', async () => {
    const { clone } = await pushed('kept')
    await succeed('block', 'alice.test/kept', '--keep-bytes')
    await expectBlocked('alice.test/kept')
    await edge.restart()
    await expectBlocked('alice.test/kept')
    await succeed('unblock', 'alice.test/kept')
    const requests = await world.pdsRequestsDuring(async () => {
      expect(await (await world.clone(world.at(alice, 'kept'))).objectIds()).toEqual(await clone.objectIds())
    })
    expect(requests.filter(({ path }) => path.endsWith('getBlob'))).toEqual([])
  })

  test('is not read from its account by an edge that has never seen it', async () => {
    await pushed('cold')
    const uri = await uriOf(alice, 'cold')
    await edge.wipe()
    await succeed('block', uri)
    const requests = await world.pdsRequestsDuring(() => expectBlocked('alice.test/cold'))
    const lists = requests.filter(({ query }) => query.includes('dev.skein.pack') || query.includes('dev.skein.ref'))
    expect(lists).toEqual([])
    await succeed('unblock', uri)
    await expectServed('alice.test/cold')
  })
})

describe('an account that is blocked', () => {
  test('is not served, with all that it has, and nothing is written to it', async () => {
    const { origin, clone } = await pushed('one', bob)
    await pushed('two', bob)
    const agent = await createAgent(world, bob, 'one')
    await agent.land('2', [write('two.txt', '2\n')])
    const { mirrors } = await succeed('block', 'bob.test')
    expect(mirrors).toBe(2)
    const commit = await world.accountCommit(bob)
    for (const name of ['one', 'two']) await expectBlocked(`bob.test/${name}`)
    for (const path of ['/bob.test', '/xrpc/dev.skein.repo.list?actor=bob.test']) {
      expect(await get(path)).toMatchObject({ status: 403, text: expect.stringContaining(WORDS) })
    }
    for (const name of ['one', 'new']) {
      const push = await origin.try('push', world.as(bob, name), 'main:refs/heads/more')
      expect([push.status, push.stderr]).toEqual([128, expect.stringContaining(WORDS)])
    }
    expect((await agent.commit('3', [write('three.txt', '3\n')])).body).toMatchObject({ error: 'Blocked' })
    for (const answer of [
      await callMethod(edge, basicAuth(bob), 'dev.skein.repo.create', { name: 'new' }),
      await callTokens(edge, basicAuth(bob), 'create', { label: 'x', rights: ['read'] }),
    ]) {
      expect(answer).toMatchObject({ status: 403, body: { error: 'Blocked' } })
    }
    expect(await world.accountCommit(bob)).toBe(commit)

    // A block of one of its repositories stays when that of the account is taken back.
    await succeed('block', await uriOf(bob, 'two'))
    await succeed('unblock', bob.did)
    await expectServed('bob.test/one')
    await expectBlocked('bob.test/two')
    await clone.git('pull', '--quiet')
    await agent.land('3', [write('three.txt', '3\n')])
    await succeed('unblock', await uriOf(bob, 'two'))
    await expectServed('bob.test/two')
  })

  test('has what waits on its branches refused', async () => {
    await pushed('waiting', bob)
    const agent = await createAgent(world, bob, 'waiting')
    await agent.land('1', [write('one.txt', '1\n')])
    await world.atmosphere.pause()
    const { status, body } = await agent.commit('2', [write('two.txt', '2\n')], { wait: false })
    expect(status).toBe(202)
    await succeed('block', bob.did)
    await world.atmosphere.resume()
    expect((await agent.landing(body.ticket)).body).toMatchObject({ error: 'Blocked' })
    await succeed('unblock', bob.did)
    expect(await (await world.clone(world.at(bob, 'waiting'))).git('ls-files')).not.toContain('two.txt')
  })
})

describe('the operator’s command', () => {
  test('ends with 1 where the edge refuses', async () => {
    expect(await operate(edge, ['blocks'], 'x'.repeat(40))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('AuthenticationRequired'),
    })
    expect(await operate(edge, ['block', 'nobody.test'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('ActorNotFound'),
    })
  })

  test('says in lines what has come of it', async () => {
    const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz'
    const blocked = await operate(edge, ['block', did, '--reason', 'a "reason"'])
    expect(blocked).toMatchObject({ status: 0, stdout: expect.stringContaining(`blocked: ${did}`) })
    expect((await operate(edge, ['blocks'])).stdout).toMatch(
      /^did:plc:ewvi7nxzyoun6zhxrhs64oiz {2}since .* {2}"a \\"reason\\""\n$/,
    )
    expect((await operate(edge, ['status'])).stdout).toContain('"blocks": 1')
    expect((await operate(edge, ['unblock', did])).stdout).toContain(`unblocked: ${did}`)
    expect((await operate(edge, ['blocks'])).stdout).toBe('nothing is blocked\n')
  })
})
