import { beforeEach, describe, expect, it } from 'vitest'
import { isTokenText } from '../../../storage/access/token-text.ts'
import { HttpError } from '../../../workers/http/http-error.ts'
import type { Account, KnownRepository, XrpcDeps } from '../../../workers/xrpc/deps.ts'
import { lexicons } from '../../../workers/xrpc/lexicons.ts'
import { xrpcRouter } from '../../../workers/xrpc/router.ts'
import { NO_GATEWAY } from '../gateway/memory-gateway.ts'
import { MemoryTokens } from './memory-tokens.ts'
import { NO_INDEX } from './no-index.ts'

const ALICE: Account = { did: 'did:plc:ewvi7nxzyoun6zhxrhs64oiz', handle: 'alice.test' }
const BOB: Account = { did: 'did:plc:bbvi7nxzyoun6zhxrhs64oiz', handle: 'bob.test' }
const URI = `at://${ALICE.did}/dev.skein.repo/3lskein000000`
const record = { defaultBranch: 'main', objectFormat: 'sha1', createdAt: '2026-01-02T03:04:05Z' } as const
const known: KnownRepository[] = [
  { account: ALICE, rkey: '3lskein000000', record: { name: 'app', ...record } },
  { account: BOB, rkey: '3lskein000001', record: { name: 'tool', ...record } },
]

let tokens = new MemoryTokens()
const asked: string[] = []
const notHere = () => Promise.reject(new Error('not in this test'))
const deps: XrpcDeps = {
  ...NO_INDEX,
  open: notHere,
  list: notHere,
  create: notHere,
  gateway: NO_GATEWAY,
  find: async (reference) =>
    known.find(({ account, rkey, record }) =>
      'rkey' in reference
        ? reference.did === account.did && reference.rkey === rkey
        : [account.did, account.handle].includes(reference.actor) && reference.name === record.name,
    ) ?? null,
  requireOwner: async (request, nsid) => {
    asked.push(nsid)
    const owner = { alice: ALICE, bob: BOB }[request.headers.get('Authorization') ?? '']
    if (owner === undefined) throw new HttpError(401, 'AuthenticationRequired', 'sign in')
    return owner
  },
  get tokens() {
    return tokens
  },
}

beforeEach(() => {
  tokens = new MemoryTokens()
  asked.length = 0
})

// biome-ignore lint/suspicious/noExplicitAny: what a method answers is checked by its lexicon, and then looked into
type Answer = any

async function call(nsid: string, input: object | null, who: string | null = 'alice'): Promise<[number, Answer]> {
  const headers = { ...(who === null ? {} : { Authorization: who }), 'Content-Type': 'application/json' }
  const init = input === null ? { headers } : { method: 'POST', headers, body: JSON.stringify(input) }
  const response = (await xrpcRouter.fetch(new Request(`https://edge.test/xrpc/${nsid}`, init), deps))!
  const body = await response.json()
  if (response.ok) {
    lexicons.assertValidXrpcOutput(nsid, body)
    expect(response.headers.get('Cache-Control')).toBe('no-store')
  }
  return [response.status, body]
}

const create = (input: object, who?: string | null) => call('dev.skein.token.create', input, who)

describe('dev.skein.token.create', () => {
  it('makes a token and shows it', async () => {
    const before = Date.now()
    const [status, body] = await create({ label: ' ci bot ', rights: ['commit', 'read', 'commit'] })
    expect([status, isTokenText(body.token)]).toEqual([200, true])
    expect(body).toMatchObject({ label: 'ci bot', rights: ['read', 'commit'] })
    expect([body.repositories, body.branches, body.revokedAt]).toEqual([undefined, undefined, undefined])
    const days = (Date.parse(body.expiresAt) - Date.parse(body.createdAt)) / (24 * 60 * 60_000)
    expect([Date.parse(body.createdAt) >= before, days]).toEqual([true, 90])
    const [{ token, text }] = tokens.all as [(typeof tokens.all)[0]]
    expect(text).toBe(body.token)
    expect(token).toMatchObject({ id: body.id, did: ALICE.did, grant: { repositories: null, branches: null } })
    expect(asked).toEqual(['dev.skein.token.create'])
  })

  it('takes repositories by name or record, patterns, and a time', async () => {
    const input = {
      label: 'エージェント 7',
      repositories: ['app', 'alice.test/app', URI],
      branches: ['main', 'agents/**'],
      rights: ['branch'],
      expiresInDays: 366,
    }
    const [status, body] = await create(input)
    expect([status, body.repositories, body.branches]).toEqual([200, [URI], ['main', 'agents/**']])
    expect(tokens.all[0]!.token.grant).toEqual({
      repositories: ['3lskein000000'],
      branches: ['main', 'agents/**'],
      rights: ['branch'],
    })
  })

  const good = { label: 'ci', rights: ['commit'] }
  it.each<[string, object, number, string]>([
    ['no label', { rights: ['commit'] }, 400, 'InvalidRequest'],
    ['an empty label', { ...good, label: '' }, 400, 'InvalidRequest'],
    ['a label of dots', { ...good, label: '. .' }, 400, 'InvalidRequest'],
    ['a label with a line break', { ...good, label: 'a\nb' }, 400, 'InvalidRequest'],
    ['a label with brackets', { ...good, label: 'a <b@c>' }, 400, 'InvalidRequest'],
    ['a label with NUL', { ...good, label: 'a\0' }, 400, 'InvalidRequest'],
    ['half a character', { ...good, label: 'a\ud800' }, 400, 'InvalidRequest'],
    ['a long label', { ...good, label: 'a'.repeat(65) }, 400, 'InvalidRequest'],
    ['no rights', { label: 'ci' }, 400, 'InvalidRequest'],
    ['an empty list of rights', { ...good, rights: [] }, 400, 'InvalidRequest'],
    ['a right that is none', { ...good, rights: ['admin'] }, 400, 'InvalidRequest'],
    ['rights that are no list', { ...good, rights: 'commit' }, 400, 'InvalidRequest'],
    ['a time that is over', { ...good, expiresInDays: 0 }, 400, 'InvalidRequest'],
    ['a time that is too long', { ...good, expiresInDays: 367 }, 400, 'InvalidRequest'],
    ['half a day', { ...good, expiresInDays: 0.5 }, 400, 'InvalidRequest'],
    ['an empty list of repositories', { ...good, repositories: [] }, 400, 'InvalidRequest'],
    ['a repository that is none', { ...good, repositories: ['app', 'nope'] }, 404, 'RepositoryNotFound'],
    ["another's repository", { ...good, repositories: ['bob.test/tool'] }, 404, 'RepositoryNotFound'],
    ['a repository in no form', { ...good, repositories: ['a/b/c'] }, 400, 'InvalidRequest'],
    ['an empty list of branches', { ...good, branches: [] }, 400, 'InvalidRequest'],
    ['a full branch name', { ...good, branches: ['refs/heads/main'] }, 400, 'InvalidRequest'],
    ['a branch that is none', { ...good, branches: ['a..b'] }, 400, 'InvalidRequest'],
  ])('refuses %s', async (_, input, status, error) => {
    const [given, body] = await create(input)
    expect([given, body.error, body.message]).toEqual([status, error, expect.stringMatching(/\w+ \w+/)])
    expect(tokens.all).toEqual([])
  })

  it('refuses who has too many', async () => {
    tokens = new MemoryTokens(0)
    expect(await create(good)).toEqual([409, { error: 'TooManyTokens', message: expect.stringContaining('revoke') }])
  })

  it('asks for credentials', async () => {
    expect((await create(good, null))[0]).toBe(401)
  })
})

describe('dev.skein.token.list and .revoke', () => {
  it('list without secrets, and end one for good', async () => {
    const [, { id, token }] = await create({ label: 'one', rights: ['commit'] })
    await create({ label: 'two', rights: ['merge'], branches: ['main'] })
    const [, listed] = await call('dev.skein.token.list', null)
    expect(listed.tokens.map(({ label }: Answer) => label)).toEqual(['one', 'two'])
    expect(JSON.stringify(listed)).not.toContain(token)
    const [, { token: revoked }] = await call('dev.skein.token.revoke', { id })
    expect(revoked).toMatchObject({ id, label: 'one', revokedAt: expect.any(String) })
    expect(await call('dev.skein.token.revoke', { id })).toEqual([200, { token: revoked }])
    expect((await call('dev.skein.token.list', null))[1].tokens[0].revokedAt).toBe(revoked.revokedAt)
    expect(asked.slice(2)).toEqual([
      'dev.skein.token.list',
      'dev.skein.token.revoke',
      'dev.skein.token.revoke',
      'dev.skein.token.list',
    ])
  })

  it('know only what is one’s own', async () => {
    const [, { id }] = await create({ label: 'one', rights: ['commit'] })
    expect((await call('dev.skein.token.list', null, 'bob'))[1]).toEqual({ tokens: [] })
    const [status, { error }] = await call('dev.skein.token.revoke', { id }, 'bob')
    expect([status, error]).toEqual([404, 'TokenNotFound'])
    expect((await call('dev.skein.token.list', null, null))[0]).toBe(401)
    expect((await call('dev.skein.token.revoke', { id }, null))[0]).toBe(401)
  })

  it.each([{}, { id: '' }, { id: 7 }])('revoke refuses %j', async (input) => {
    expect((await call('dev.skein.token.revoke', input))[1].error).toBe('InvalidRequest')
  })
})
