import { expect, test } from 'vitest'
import { startWorld } from './harness.ts'
import { callMethod, callTokens } from './token-calls.ts'
import { basicAuth } from './wire.ts'

const world = await startWorld()
const { alice, bob, edge } = world

interface Issued {
  readonly id: string
  readonly token: string
}

async function issue(input: object, owner = alice): Promise<Issued> {
  const { status, body } = await callTokens(edge, basicAuth(owner), 'create', {
    label: 'ci',
    rights: ['commit'],
    ...input,
  })
  expect(status, JSON.stringify(body)).toBe(200)
  return body as Issued
}

/** Where a token pushes to. */
const by = ({ token }: Issued, repository: string, owner = alice) =>
  world.as({ ...alice, handle: 'token', password: token }, repository, owner)

/** A repository of alice's with `main`, `agents/1` and `old`, and a copy of it. */
async function repository(name: string) {
  const work = await world.init()
  const head = await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, name), 'main', 'main:agents/1', 'main:old')
  return { work, head }
}

async function audited(name: string) {
  const found = (await world.records(alice, 'dev.skein.repo')).find(({ value }) => value.name === name)!
  const statement = (await edge.database()).prepare(
    'select ref, "commit", kind, submitter, token, label, landing, did from landings where rkey = ? order by ref',
  )
  const { results } = await statement.bind(found.uri.split('/').at(-1)).all<Record<string, string | null>>()
  return results
}

test('a token pushes as its password, and what it pushed is written down', async () => {
  const { work, head } = await repository('audit')
  const token = await issue({ label: 'release bot', rights: ['commit', 'branch'] })
  const second = await work.commit('second', { 'a.txt': 'b\n' })
  await work.git('push', '--quiet', by(token, 'audit'), 'main', 'main:agents/2', ':old')
  expect(await work.git('ls-remote', '--heads', world.at(alice, 'audit'))).toBe(
    [`${head}\trefs/heads/agents/1`, `${second}\trefs/heads/agents/2`, `${second}\trefs/heads/main`].join('\n'),
  )
  const rows = await audited('audit')
  const [{ landing }] = rows as [(typeof rows)[0]]
  const common = { kind: 'push', submitter: alice.did, token: token.id, label: 'release bot', landing, did: alice.did }
  expect(rows).toEqual([
    { ref: 'refs/heads/agents/2', commit: second, ...common },
    { ref: 'refs/heads/main', commit: second, ...common },
    { ref: 'refs/heads/old', commit: null, ...common },
  ])
  await work.commit('third', { 'a.txt': 'c\n' })
  await work.git('push', '--quiet', world.as(alice, 'audit'), 'main')
  expect(await audited('audit')).toHaveLength(3)
})

test('what a token may not move is refused in words, and the rest lands', async () => {
  const { work, head } = await repository('patterns')
  const token = await issue({ label: 'agent 1', repositories: ['patterns'], branches: ['agents/*'] })
  const second = await work.commit('second', { 'a.txt': 'b\n' })
  await work.git('tag', 'v1')
  const pushed = await work.try('push', by(token, 'patterns'), 'main', 'main:agents/1', 'main:agents/2', 'v1', ':old')
  expect(pushed.status).toBe(1)
  const rejected = pushed.stderr.split('\n').filter((line) => line.includes('rejected'))
  expect(rejected.map((line) => line.replace(/\s+/g, ' ').trim())).toEqual([
    "! [remote rejected] main -> main (the token 'agent 1' may not commit to main)",
    "! [remote rejected] old (the token 'agent 1' may not create, delete or rewrite old)",
    "! [remote rejected] main -> agents/2 (the token 'agent 1' may not create, delete or rewrite agents/2)",
    "! [remote rejected] v1 -> v1 (the token 'agent 1' may not create, delete or rewrite refs/tags/v1)",
  ])
  expect((await work.git('ls-remote', world.at(alice, 'patterns'), 'refs/*')).split('\n')).toEqual([
    `${second}\trefs/heads/agents/1`,
    `${head}\trefs/heads/main`,
    `${head}\trefs/heads/old`,
  ])
  await work.commit('third', { 'a.txt': 'c\n' })
  const atomic = await work.try('push', '--atomic', by(token, 'patterns'), 'main', 'main:agents/1')
  expect([atomic.status, atomic.stderr]).toEqual([1, expect.stringContaining('may not commit to main')])
  expect(await work.git('ls-remote', world.at(alice, 'patterns'), 'agents/1')).toBe(`${second}\trefs/heads/agents/1`)
})

test('only a token that may rewrite branches does so', async () => {
  const { work } = await repository('forced')
  const second = await work.commit('second', { 'a.txt': 'b\n' })
  await work.git('push', '--quiet', world.as(alice, 'forced'), 'main')
  await work.git('reset', '--quiet', '--hard', 'HEAD~1')
  const other = await work.commit('another second', { 'a.txt': 'c\n' })
  const committer = await issue({ rights: ['commit', 'merge'] })
  const refused = await work.try('push', '--force', by(committer, 'forced'), 'main')
  expect([refused.status, refused.stderr]).toEqual([
    1,
    expect.stringContaining("the token 'ci' may not create, delete or rewrite main: this is no fast-forward"),
  ])
  const backward = await work.try('push', '--force', by(committer, 'forced'), 'HEAD~1:main')
  expect([backward.status, backward.stderr]).toEqual([1, expect.stringContaining('no fast-forward')])
  expect(await work.git('ls-remote', world.at(alice, 'forced'), 'main')).toBe(`${second}\trefs/heads/main`)
  await work.git('push', '--quiet', '--force', by(await issue({ rights: ['branch'] }), 'forced'), 'main')
  expect(await work.git('ls-remote', world.at(alice, 'forced'), 'main')).toBe(`${other}\trefs/heads/main`)
})

test('tags are for tokens that may move every branch', async () => {
  const { work } = await repository('tags')
  await work.git('tag', 'v1')
  const tagger = await issue({ rights: ['branch'], repositories: ['tags'] })
  await work.git('push', '--quiet', by(tagger, 'tags'), 'v1')
  await work.git('push', '--quiet', by(tagger, 'tags'), ':v1')
  const limited = await issue({ rights: ['commit', 'branch'], branches: ['**'] })
  expect((await work.try('push', by(limited, 'tags'), 'v1')).stderr).toContain('may not create, delete or rewrite')
})

test('a token that may do nothing with a repository is a 403', async () => {
  const { work } = await repository('closed')
  await repository('open')
  const cases: [Issued, string, typeof alice, RegExp][] = [
    [await issue({ repositories: ['open'] }), 'closed', alice, /the token 'ci' may not commit to branches of this/],
    [await issue({ rights: ['read', 'merge'] }), 'closed', alice, /the token 'ci' may not commit to/],
    [await issue({}), 'new', alice, /the token 'ci' may not create repositories/],
    [await issue({ repositories: ['open'], rights: ['branch'] }), 'new', alice, /may not create repositories/],
    [await issue({ rights: ['commit', 'branch'] }), 'hers', bob, /the token 'ci' may not write to the account of bob/],
  ]
  for (const [token, name, owner, words] of cases) {
    const response = await fetch(`${world.at(owner, name)}/info/refs?service=git-receive-pack`, {
      headers: { authorization: basicAuth({ handle: 'x', password: token.token }) },
    })
    expect([response.status, await response.text()]).toEqual([403, expect.stringMatching(words)])
    const refused = await work.try('push', by(token, name, owner), 'main:topic')
    expect([refused.status, refused.stderr]).toEqual([128, expect.stringContaining('403')])
  }
})

test('a token for all repositories creates one, by a push and by a call', async () => {
  const creator = await issue({ rights: ['branch'] })
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', by(creator, 'by-token'), 'main')
  const created = await callMethod(edge, `Bearer ${creator.token}`, 'dev.skein.repo.create', { name: 'by-call' })
  expect([created.status, created.body.repository?.did]).toEqual([200, alice.did])
  const refused = await callMethod(edge, `Bearer ${(await issue({})).token}`, 'dev.skein.repo.create', { name: 'no' })
  expect([refused.status, refused.body.error]).toEqual([403, 'Forbidden'])
})

test('a token that was revoked, and one that is not known, is a 401 at once', async () => {
  const { work } = await repository('revoked')
  const token = await issue({ rights: ['branch'] })
  await work.git('push', '--quiet', by(token, 'revoked'), 'main:one')
  expect((await callTokens(edge, basicAuth(bob), 'revoke', { id: token.id })).body.error).toBe('TokenNotFound')
  await work.git('push', '--quiet', by(token, 'revoked'), 'main:two')
  const { body } = await callTokens(edge, basicAuth(alice), 'revoke', { id: token.id })
  expect(body.token.revokedAt).toMatch(/^\d{4}-/)
  for (const text of [token.token, `${token.token.slice(0, -4)}AAAA`]) {
    const refused = await work.try('push', by({ id: '', token: text }, 'revoked'), 'main:three')
    expect([refused.status, refused.stderr]).toEqual([128, expect.stringContaining('Authentication failed')])
  }
  const called = await callMethod(edge, `Bearer ${token.token}`, 'dev.skein.repo.create', { name: 'no' })
  expect([called.status, called.body.error, called.body.message]).toEqual([
    401,
    'InvalidToken',
    expect.stringContaining("'ci' was revoked on"),
  ])
  const { tokens } = (await callTokens(edge, basicAuth(alice), 'list')).body
  expect(tokens.find(({ id }: Issued) => id === token.id).revokedAt).toBe(body.token.revokedAt)
})

test('tokens cannot manage tokens', async () => {
  const all = `Bearer ${(await issue({ rights: ['read', 'commit', 'branch', 'merge'] })).token}`
  for (const [method, input] of [
    ['create', { label: 'more', rights: ['commit'] }],
    ['list', undefined],
    ['revoke', { id: 'x' }],
  ] as const) {
    const { status, body } = await callTokens(edge, all, method, input)
    expect([status, body.error]).toEqual([403, 'Forbidden'])
  }
  expect((await callTokens(edge, 'Basic %%', 'list')).status).toBe(401)
})

test('tokens outlive a restart, and push by the session that is kept', async () => {
  const { work } = await repository('restarted')
  const token = await issue({ rights: ['branch'] })
  await edge.restart()
  const requests = await world.pdsRequestsDuring(() =>
    work.git('push', '--quiet', by(token, 'restarted'), 'main:after'),
  )
  expect(requests.filter(({ path }) => path.endsWith('createSession'))).toEqual([])
})

test('the calls of a token are counted, and too many of them are a 429', async () => {
  await repository('counted')
  const [token, other] = [await issue({}), await issue({})]
  const ask = async ({ token: password }: Issued) => {
    const response = await fetch(`${world.at(alice, 'counted')}/info/refs?service=git-receive-pack`, {
      headers: { authorization: basicAuth({ handle: 'x', password }) },
    })
    return { status: response.status, retryAfter: response.headers.get('Retry-After'), text: await response.text() }
  }
  // Minutes of the clock are counted here: more than one of them may have to be filled.
  const refused = []
  for (let round = 0; round < 30 && refused.length === 0; round++) {
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(token)))
    expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true)
    refused.push(...answers.filter(({ status }) => status === 429))
  }
  expect(refused[0]).toEqual({ status: 429, retryAfter: '60', text: expect.stringContaining('at most 600') })
  expect((await ask(other)).status).toBe(200)
})

test('a push lands also where it cannot be written down', async () => {
  const { work } = await repository('unaudited')
  await (await edge.database()).exec('DROP TABLE landings')
  const second = await work.commit('second', { 'a.txt': 'b\n' })
  await work.git('push', '--quiet', by(await issue({}), 'unaudited'), 'main')
  expect(await work.git('ls-remote', world.at(alice, 'unaudited'), 'main')).toBe(`${second}\trefs/heads/main`)
  expect(edge.logs.filter(({ message }) => message.includes('audit-failed'))).toHaveLength(1)
})
