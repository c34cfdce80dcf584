import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startWorld } from '../harness.ts'
import { basicAuth } from '../wire.ts'
import type { WorkingCopy } from '../working-copy.ts'
import {
  type Change,
  createAgent,
  createRepository,
  createToken,
  type GatewayClient,
  type Json,
  landed,
  write,
} from './gateway-client.ts'

const world = await startWorld()
const { alice, bob, edge } = world

/** A repository of alice's with one commit on `main`, and an agent that may do everything there. */
async function repositoryWith(
  name: string,
  files: Record<string, string | Uint8Array>,
): Promise<{ work: WorkingCopy; agent: GatewayClient; head: string }> {
  const work = await world.init()
  const head = await work.commit('base', files)
  await work.git('push', '--quiet', world.as(alice, name), 'main')
  return { work, agent: await createAgent(world, alice, name), head }
}

async function cloned(name: string, ...args: string[]): Promise<WorkingCopy> {
  const clone = await world.clone(...args, world.at(alice, name))
  await clone.fsck()
  return clone
}

const lines = (text: string) => text.split('\n').filter(Boolean)

describe('many at once', () => {
  test('sixteen commits land each once, one on the other, in three writes at most', async () => {
    const { agent, head } = await repositoryWith('sixteen', { 'a.txt': 'a\n' })
    await agent.land('warm', [write('warm.txt', 'w')])
    const names = Array.from({ length: 16 }, (_, i) => `agent ${i}`)
    let answers: Json[] = []
    const requests = await world.pdsRequestsDuring(async () => {
      answers = await Promise.all(names.map((name) => agent.land(name, [write(`${name}.txt`, name)])))
    })
    expect(requests.filter(({ path }) => path.endsWith('applyWrites')).length).toBeLessThanOrEqual(3)
    expect(requests.every(({ path }) => path.endsWith('applyWrites'))).toBe(true)
    const clone = await cloned('sixteen')
    const log = lines(await clone.git('log', '--reverse', '--format=%H %P %T %s', `${head}..`)).map((line) =>
      line.split(/ (.*) (\w{40}) (.*)/).filter(Boolean),
    )
    expect(log.map(([, , , message]) => message).sort()).toEqual(['warm', ...names].sort())
    for (const [i, answer] of answers.entries()) {
      const [commit, parent, tree] = log.find(([, , , message]) => message === names[i])!
      expect(answer).toMatchObject({ commit, parent, tree })
    }
    expect(lines(await clone.git('ls-tree', '--name-only', 'HEAD'))).toHaveLength(18)
    const landings = Map.groupBy(answers, ({ landing }) => landing.id)
    for (const [, together] of landings) expect(together[0].landing.commits).toBe(together.length)
  })

  test('what is handed in one after the other lands in that order, though nobody waits', async () => {
    const { agent, head } = await repositoryWith('order', { 'a.txt': 'a\n' })
    const tickets: string[] = []
    for (let i = 0; i < 12; i++) {
      const answer = await agent.commit(`step ${i}`, [write('a.txt', `${i}\n`)], { wait: false })
      expect([200, 202]).toContain(answer.status)
      tickets.push(answer.body.ticket)
    }
    const answers = await Promise.all(tickets.map(async (ticket) => landed(await agent.landing(ticket))))
    const clone = await cloned('order')
    expect(lines(await clone.git('log', '--reverse', '--format=%s', `${head}..`))).toEqual(
      Array.from({ length: 12 }, (_, i) => `step ${i}`),
    )
    expect(lines(await clone.git('rev-list', '--reverse', `${head}..`))).toEqual(answers.map(({ commit }) => commit))
  })

  test('a push between commits neither hinders them nor is lost', async () => {
    const { work, agent } = await repositoryWith('with-pushes', { 'a.txt': 'a\n' })
    const names = Array.from({ length: 8 }, (_, i) => `agent ${i}`)
    const pushes = (async () => {
      for (let i = 0; i < 4; i++) {
        await work.commit(`push ${i}`, { [`push-${i}.txt`]: 'p' })
        for (;;) {
          const { status } = await work.try('push', '--quiet', world.as(alice, 'with-pushes'), 'main')
          if (status === 0) break
          await work.git('pull', '--quiet', '--rebase', world.at(alice, 'with-pushes'), 'main')
        }
      }
    })()
    const commits = names.map((name) => agent.land(name, [write(`${name}.txt`, name)]))
    await Promise.all([...commits, pushes])
    const clone = await cloned('with-pushes')
    const subjects = lines(await clone.git('log', '--format=%s'))
    expect(subjects.sort()).toEqual(['base', ...names, ...[0, 1, 2, 3].map((i) => `push ${i}`)].sort())
  })
})

describe('what a commit holds', () => {
  test('files, modes, links, moves and deletions are as git sees them', async () => {
    const binary = randomBytes(70_000)
    const { agent } = await repositoryWith('files', {
      'keep.txt': 'kept\n',
      'gone.txt': 'gone\n',
      'dir/inner.txt': 'inner\n',
      'dir/deep/er.txt': 'deeper\n',
      'script.sh': '#!/bin/sh\n',
      swap: 'one\n',
      'other/swap': 'two\n',
    })
    const changes: Change[] = [
      write('new/ä/日本語.txt', 'text\r\nwith ✓\n'),
      write('empty', ''),
      { path: 'binary.bin', content: binary.toString('base64'), encoding: 'base64' },
      { path: 'run.sh', content: '#!/bin/sh\necho\n', mode: '100755' },
      { path: 'link', content: 'keep.txt', mode: '120000' },
      { path: 'script.sh', mode: '100755' },
      { path: 'gone.txt', delete: true },
      { path: 'moved', moveFrom: 'dir' },
      { path: 'swap', moveFrom: 'other/swap' },
      { path: 'other/swap', moveFrom: 'swap' },
    ]
    const author = { name: 'Ada Løvelace', email: 'ada@example.com' }
    const message = 'Do a lot\n\nWith a body, ✓\n'
    const answer = await agent.land(message, changes, { author })
    const clone = await cloned('files')
    expect(await clone.resolve('HEAD')).toBe(answer.commit)
    expect(await clone.git('show', '--no-patch', '--format=%an|%ae|%cn|%ce|%B|%P|%T')).toBe(
      `Ada Løvelace|ada@example.com|Ada Løvelace|ada@example.com|${message}|${answer.parent}|${answer.tree}`,
    )
    const tree = lines(
      await clone.git('-c', 'core.quotePath=false', 'ls-tree', '-r', 'HEAD', '--format=%(objectmode) %(path)'),
    )
    expect(tree).toEqual([
      '100644 binary.bin',
      '100644 empty',
      '100644 keep.txt',
      '120000 link',
      '100644 moved/deep/er.txt',
      '100644 moved/inner.txt',
      '100644 new/ä/日本語.txt',
      '100644 other/swap',
      '100755 run.sh',
      '100755 script.sh',
      '100644 swap',
    ])
    expect(await clone.git('show', 'HEAD:swap')).toBe('two')
    expect(await clone.git('show', 'HEAD:link')).toBe('keep.txt')
    expect(await clone.git('rev-parse', 'HEAD:binary.bin')).toBe(
      (await world.git.run(['hash-object', '--stdin'], { input: binary })).stdout.trim(),
    )
    expect(await clone.git('status', '--porcelain')).toBe('')
  })

  test('as much as a commit may hold lands, in base64 too', async () => {
    const { agent } = await repositoryWith('large', { 'a.txt': 'a\n' })
    const file = () => randomBytes(4 * 1024 * 1024).toString('base64')
    await agent.land('large', [
      { path: 'one', content: file(), encoding: 'base64' },
      { path: 'two', content: file(), encoding: 'base64' },
    ])
    const clone = await cloned('large')
    expect(
      lines(await clone.git('ls-tree', '-l', 'HEAD', 'one', 'two')).every((line) => line.includes('4194304')),
    ).toBe(true)
    const tooMuch = await agent.commit('larger', [{ path: 'one', content: 'x'.repeat(4 * 1024 * 1024 + 1) }])
    expect(tooMuch).toMatchObject({ status: 413, body: { error: 'PayloadTooLarge' } })
  })

  test('the first commit of an empty repository is its root', async () => {
    await createRepository(world, alice, 'empty')
    const agent = await createAgent(world, alice, 'empty')
    const elsewhere = await agent.commit('x', [write('a', 'a')], { branch: 'other' })
    expect(elsewhere).toMatchObject({ status: 404, body: { error: 'BranchNotFound' } })
    const [first, second] = await Promise.all([
      agent.land('first', [write('README.md', '# Empty no more\n')]),
      agent.land('second', [write('b.txt', 'b')]),
    ])
    const root = [first, second].find(({ parent }) => parent === undefined)
    expect(root).toBeDefined()
    const clone = await cloned('empty')
    expect(await clone.git('rev-list', '--count', 'HEAD')).toBe('2')
    expect(await clone.git('rev-list', '--max-parents=0', 'HEAD')).toBe(root.commit)
    expect(lines(await clone.git('ls-tree', '--name-only', 'HEAD'))).toEqual(['README.md', 'b.txt'])
    expect(await clone.git('show', '--no-patch', '--format=%an', 'HEAD')).toBe('Agent 7')
  })

  test.each<[string, Change[], object]>([
    ['nothing that is not there', [write('a.txt', 'a\n')], { status: 422, body: { error: 'NothingToCommit' } }],
    [
      'what is not there to delete',
      [{ path: 'none', delete: true }],
      { status: 422, body: { error: 'InvalidChange', path: 'none' } },
    ],
    [
      'what is not there to move',
      [{ path: 'b', moveFrom: 'none' }],
      { status: 422, body: { error: 'InvalidChange', path: 'none' } },
    ],
    ['a file below a file', [write('a.txt/b', '')], { status: 422, body: { error: 'InvalidChange', path: 'a.txt' } }],
    ['a file over a directory', [write('dir', '')], { status: 422, body: { error: 'InvalidChange', path: 'dir' } }],
    [
      'a file and one below it',
      [write('x', ''), write('x/y', '')],
      { status: 422, body: { error: 'InvalidChange', path: 'x' } },
    ],
    ['a path out of it', [write('../x', '')], { status: 422, body: { error: 'InvalidChange', path: '../x' } }],
  ])('with %s is refused, and the branch stays', async (name, changes, answer) => {
    const repository = name.replaceAll(' ', '-')
    const { agent, head } = await repositoryWith(repository, { 'a.txt': 'a\n', 'dir/b': 'b\n' })
    const before = await world.accountCommit(alice)
    expect(await agent.commit('refused', changes)).toMatchObject(answer)
    expect(await world.accountCommit(alice)).toBe(before)
    expect((await agent.land('next', [write('c', '')])).parent).toBe(head)
  })
})

describe('what has changed since', () => {
  const text = (...changed: [number, string][]) => {
    const all = Array.from({ length: 20 }, (_, i) => `line ${i}`)
    for (const [at, line] of changed) all[at] = line
    return `${all.join('\n')}\n`
  }

  test('is merged by lines where a base is given, and overwritten where none is', async () => {
    const { agent, head } = await repositoryWith('bases', {
      'a.txt': text(),
      'b.txt': 'b\n',
      'old.txt': text([0, 'old']),
    })
    await agent.land('first', [write('a.txt', text([2, 'first'])), { path: 'new.txt', moveFrom: 'old.txt' }])
    const merged = await agent.land(
      'second',
      [write('a.txt', text([15, 'second'])), write('old.txt', text([0, 'older']))],
      {
        base: head,
      },
    )
    const clone = await cloned('bases')
    const show = (path: string) => clone.git('show', `${merged.commit}:${path}`)
    expect(`${await show('a.txt')}\n`).toBe(text([2, 'first'], [15, 'second']))
    expect(`${await show('new.txt')}\n`).toBe(text([0, 'older']))
    expect(lines(await clone.git('ls-tree', '--name-only', merged.commit))).toEqual(['a.txt', 'b.txt', 'new.txt'])
    const over = await agent.land('third', [write('a.txt', text([15, 'third']))])
    const after = await cloned('bases')
    expect(`${await after.git('show', `${over.commit}:a.txt`)}\n`).toBe(text([15, 'third']))
  })

  test('conflicts for that caller alone, who is told both sides', async () => {
    const { agent, head, work } = await repositoryWith('conflicts', { 'a.txt': text(), 'b.txt': 'b\n', 'c.txt': 'c\n' })
    const ours = await agent.land('ours', [write('a.txt', text([3, 'ours'])), { path: 'c.txt', delete: true }])
    const before = await world.accountCommit(alice)
    const [refused, other] = await Promise.all([
      agent.commit('theirs', [write('a.txt', text([3, 'theirs'])), write('c.txt', 'changed\n')], { base: head }),
      agent.land('other', [write('b.txt', 'other\n')], { base: head }),
    ])
    expect(refused.status).toBe(409)
    const { conflicts, ...body } = refused.body
    expect(body).toEqual({ error: 'MergeConflict', message: expect.stringContaining('"a.txt"') })
    const blob = async (content: string) =>
      (await world.git.run(['hash-object', '--stdin'], { input: content })).stdout.trim()
    const side = async (content: string) => ({ oid: await blob(content), text: content })
    expect(conflicts).toEqual([
      {
        path: 'a.txt',
        kind: 'content',
        base: await side(text()),
        ours: await side(text([3, 'ours'])),
        theirs: await side(text([3, 'theirs'])),
        merged: text([3, '<<<<<<< main\nours\n=======\ntheirs\n>>>>>>> this change']),
      },
      { path: 'c.txt', kind: 'modify/delete', base: await side('c\n'), theirs: await side('changed\n') },
    ])
    expect(other.parent).toBe(ours.commit)
    expect(await world.accountCommit(alice)).not.toBe(before)
    await work.git('fetch', '--quiet', world.at(alice, 'conflicts'), 'main')
    expect(await work.git('log', '--format=%s', '--reverse', 'FETCH_HEAD')).toBe('base\nours\nother')
    const resolved = await agent.land('resolved', [write('a.txt', text([3, 'both']))], { base: other.commit })
    expect(resolved.parent).toBe(other.commit)
  })

  test('is told where a file is not as expected', async () => {
    const { agent, work } = await repositoryWith('expectations', { 'a.txt': 'a\n', 'dir/b.txt': 'b\n' })
    const [a, b] = [await work.resolve('HEAD:a.txt'), await work.resolve('HEAD:dir/b.txt')]
    await agent.land('as expected', [write('a.txt', 'new\n')], { expect: { 'a.txt': a, 'dir/b.txt': b, none: null } })
    const changed = (expect: object) => agent.commit('again', [write('a.txt', 'newer\n')], { expect })
    const present = (await world.git.run(['hash-object', '--stdin'], { input: 'new\n' })).stdout.trim()
    expect(await changed({ 'a.txt': a })).toMatchObject({
      status: 409,
      body: { error: 'UnexpectedContent', path: 'a.txt', present },
    })
    expect(await changed({ 'a.txt': null })).toMatchObject({ status: 409, body: { path: 'a.txt', present } })
    expect(await changed({ none: a })).toMatchObject({ status: 409, body: { path: 'none', present: null } })
    const both = await Promise.all(
      ['x', 'y'].map((name) => agent.commit(name, [write('a.txt', name)], { expect: { 'a.txt': present } })),
    )
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('cannot be merged with a base that is nowhere', async () => {
    const { agent } = await repositoryWith('no-base', { 'a.txt': 'a\n' })
    expect(await agent.commit('x', [write('b', '')], { base: '1'.repeat(40) })).toMatchObject({
      status: 404,
      body: { error: 'RevisionNotFound' },
    })
  })
})

describe('the same again', () => {
  test('under one key is done once, and answered the same, also after a restart', async () => {
    const { agent, head } = await repositoryWith('keys', { 'a.txt': 'a\n' })
    const send = () => agent.land('once', [write('a.txt', 'once\n')], { idempotencyKey: 'key 1' })
    const [first, second] = await Promise.all([send(), send()])
    expect(second).toEqual(first)
    await agent.land('between', [write('a.txt', 'between\n')])
    await edge.restart()
    expect(await send()).toEqual(first)
    expect(landed(await agent.get('getLanding', { branch: 'main', ticket: first.ticket }))).toEqual(first)
    const other = await agent.commit('other', [write('a.txt', 'other\n')], { idempotencyKey: 'key 1' })
    expect(other).toMatchObject({ status: 422, body: { error: 'IdempotencyKeyReused' } })
    const clone = await cloned('keys')
    expect(await clone.git('log', '--reverse', '--format=%s', `${head}..`)).toBe('once\nbetween')
  })

  test('of a refusal is the same refusal', async () => {
    const { agent } = await repositoryWith('refused-keys', { 'a.txt': 'a\n' })
    const send = () => agent.commit('x', [{ path: 'b', delete: true }], { idempotencyKey: 'key' })
    const first = await send()
    expect(first).toMatchObject({ status: 422, body: { error: 'InvalidChange' } })
    await agent.land('now there is one', [write('b', 'b')])
    expect((await send()).body).toEqual(first.body)
  })
})

describe('who may', () => {
  test('commits by a token only what it is for, and asks only for what is its own', async () => {
    const { agent, head } = await repositoryWith('rights', { 'a.txt': 'a\n' })
    landed(await agent.post('createBranch', { branch: 'agents/1' }))
    const { token } = await createToken(world, alice, {
      label: 'one',
      repositories: ['rights'],
      branches: ['agents/*'],
      rights: ['commit'],
    })
    const narrow = agent.with({ credentials: `Bearer ${token}` })
    const mine = await narrow.land('mine', [write('b', 'b')], { branch: 'agents/1' })
    expect(mine.parent).toBe(head)
    expect(await narrow.commit('not mine', [write('b', 'b')])).toMatchObject({
      status: 403,
      body: { error: 'Forbidden' },
    })
    expect(await narrow.post('deleteBranch', { branch: 'agents/1' })).toMatchObject({ status: 403 })
    const theirs = await agent.land('theirs', [write('c', 'c')], { branch: 'agents/1' })
    const ask = (client: GatewayClient, ticket: string) => client.get('getLanding', { branch: 'agents/1', ticket })
    expect(await ask(narrow, theirs.ticket)).toMatchObject({ status: 404, body: { error: 'TicketNotFound' } })
    expect((await ask(narrow, mine.ticket)).body).toEqual(mine)
    expect((await ask(agent.with({ credentials: basicAuth(alice) }), theirs.ticket)).body).toEqual(theirs)
    expect(await ask(agent.with({ credentials: basicAuth(bob) }), theirs.ticket)).toMatchObject({ status: 403 })
    expect(await ask(agent, 'none')).toMatchObject({ status: 404, body: { error: 'TicketNotFound' } })
  })

  test.each<[string, { repo?: string; credentials?: string }, number, string]>([
    ['nobody', { credentials: '' }, 401, 'AuthenticationRequired'],
    ['a token that is none', { credentials: `Bearer skein_${'a'.repeat(43)}` }, 401, 'InvalidToken'],
    ['a token of another account', { repo: 'bob.test/his' }, 403, 'NotYourAccount'],
    ['a token, to a repository that is not there', { repo: 'alice.test/none' }, 404, 'RepositoryNotFound'],
    ['a token, to an account that is not there', { repo: 'nobody.test/none' }, 404, 'RepositoryNotFound'],
  ])('%s may not', async (_, changed, status, error) => {
    if (changed.repo === 'bob.test/his') await createRepository(world, bob, 'his')
    const agent = await createAgent(world, alice, 'rights')
    const answer = await agent.with(changed).commit('x', [write('x', 'x')])
    expect(answer).toMatchObject({ status, body: { error, message: expect.stringMatching(/\w/) } })
  })
})
