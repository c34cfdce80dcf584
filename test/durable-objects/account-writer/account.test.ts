import { afterAll, beforeAll, expect, test } from 'vitest'
import { findRepositories } from '../../../atproto/account/find-repositories.ts'
import type { Landing } from '../../../atproto/account/landing.ts'
import { PdsClient } from '../../../atproto/pds/pds-client.ts'
import { TidClock } from '../../../atproto/records/tid.ts'
import { Account } from '../../../durable-objects/account-writer/account.ts'
import { refusal } from '../../../durable-objects/account-writer/answers.ts'
import { importSealingKey } from '../../../durable-objects/account-writer/sealed-value.ts'
import { type LocalAccount, startLocalAccount } from '../../atproto/local-account.ts'
import { MemoryStore } from './memory-store.ts'

/** An account on the reference PDS, as the AccountWriter holds it. */
let local: LocalAccount
const tids = new TidClock()
const store = new MemoryStore()
/** Record keys. */
const blocked = new Set<string>()

beforeAll(async () => {
  local = await startLocalAccount()
}, 60_000)
afterAll(() => local[Symbol.asyncDispose]())

/** @param later hours by which its clock is ahead: access tokens of the reference PDS are good for two. */
async function openAccount(kept: MemoryStore = store, later = 0): Promise<Account> {
  const { did } = local.account
  const pds = local.atmosphere.pdsUrl
  const client = new PdsClient({ service: pds, fetch: local.fetch, account: did })
  const sealingKey = await importSealingKey(Buffer.alloc(32, 7).toString('base64'))
  return new Account({
    did,
    pds,
    store: kept,
    sealingKey,
    client,
    tids,
    mayNotWrite: async (repo) => (blocked.has(repo) ? refusal('blocked', 'it is spam') : null),
    now: () => Date.now() + later * 3_600_000,
  })
}

function landing(overrides: Partial<Landing>): Landing {
  const { did } = local.account
  return {
    did,
    pds: local.atmosphere.pdsUrl,
    repo: tids.next(),
    create: null,
    pack: null,
    moves: [],
    atomic: false,
    head: null,
    ...overrides,
  }
}

function create(name: string): Landing {
  return landing({ create: { name, defaultBranch: 'main', objectFormat: 'sha1', createdAt: '2026-11-30T12:00:00Z' } })
}

test('a second push is let in without a request, and its landing is one', async () => {
  const password = await local.atmosphere.createAppPassword(local.account, 'laptop')
  const first = await openAccount()
  expect(await first.authenticate('not-it')).toMatchObject({ ok: false, reason: 'wrong-password' })
  expect(await first.authenticate(password)).toEqual({ ok: true })
  const created = create('one')
  expect(await first.land(created)).toMatchObject({ ok: true, result: { repository: 'created' } })
  const second = await openAccount()
  const moves = [{ name: 'refs/heads/main', from: null, target: '1'.repeat(40), peeled: null }]
  const requests = await local.requestsOf(async () => {
    expect(await second.authenticate(password)).toEqual({ ok: true })
    const answer = await second.land(landing({ repo: created.repo, moves, head: 1 }))
    expect(answer).toMatchObject({ ok: true, result: { moves: [{ outcome: 'landed' }], head: 2 } })
  })
  expect(requests).toEqual(['com.atproto.repo.applyWrites'])
})

test('of two that create a repository of one name at once, one is told that it is taken', async () => {
  const account = await openAccount()
  const answers = await Promise.all([account.land(create('twin')), account.land(create('twin'))])
  const repositories = answers.map((answer) => (answer.ok ? answer.result.repository : answer))
  const { rkey } = (await findRepositories(local.client, local.account.did)).find(
    ({ record }) => record.name === 'twin',
  )!
  expect(repositories).toEqual(['created', { taken: rkey }])
})

test('ten pushes that create ten branches at once are two requests', async () => {
  const account = await openAccount()
  const created = create('busy')
  await account.land(created)
  const requests = await local.requestsOf(async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => {
        const moves = [{ name: `refs/heads/b${i}`, from: null, target: '1'.repeat(40), peeled: null }]
        return account.land(landing({ repo: created.repo, moves, head: 1 }))
      }),
    )
    for (const answer of answers) expect(answer).toMatchObject({ ok: true, result: { moves: [{ outcome: 'landed' }] } })
  })
  expect(requests).toEqual(Array(2).fill('com.atproto.repo.applyWrites'))
})

test('what waits of a repository that is blocked meanwhile is not written, and what waits with it is', async () => {
  const account = await openAccount()
  const [app, tool] = [create('blocked-later'), create('not-blocked')]
  for (const each of [app, tool]) await account.land(each)
  const push = (repo: string, name: string) =>
    account.land(landing({ repo, moves: [{ name, from: null, target: '1'.repeat(40), peeled: null }], head: 1 }))
  // The first is on its way while the others gather behind it.
  const first = push(tool.repo, 'refs/heads/first')
  const others = Promise.all([push(app.repo, 'refs/heads/main'), push(tool.repo, 'refs/heads/main')])
  blocked.add(app.repo)
  expect(await first).toMatchObject({ result: { moves: [{ outcome: 'landed' }] } })
  const [spam, fine] = await others
  expect(fine).toMatchObject({ result: { moves: [{ outcome: 'landed' }] } })
  expect(spam).toMatchObject({ result: { failure: { message: expect.stringContaining('it is spam') } } })
  const refs = await local.client.listRecords({ did: local.account.did, collection: 'dev.skein.ref', limit: 100 })
  expect(refs.records.filter(({ rkey }) => rkey.startsWith(app.repo))).toEqual([])
})

test('a session lives on by refreshing, until its app password is revoked', async () => {
  const kept = new MemoryStore()
  const password = await local.atmosphere.createAppPassword(local.account, 'stolen')
  expect(await (await openAccount(kept)).authenticate(password)).toEqual({ ok: true })
  const account = await openAccount(kept, 3)
  const refreshed = await local.requestsOf(async () => {
    expect(await account.land(create('after-refresh'))).toMatchObject({ ok: true, result: { repository: 'created' } })
  })
  expect(refreshed.filter((path) => path.startsWith('com.atproto.server.'))).toEqual([
    'com.atproto.server.refreshSession',
  ])
  await fetch(`${local.atmosphere.pdsUrl}/xrpc/com.atproto.server.revokeAppPassword`, {
    method: 'POST',
    headers: { authorization: `Bearer ${local.account.accessJwt}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'stolen' }),
  })
  const later = await openAccount(kept, 6)
  expect(await later.land(create('after-revocation'))).toMatchObject({ ok: false, reason: 'signed-out' })
  expect(await later.authenticate(password)).toMatchObject({ ok: false, reason: 'wrong-password' })
})

test('an account that nobody has signed in to says so', async () => {
  const account = await openAccount(new MemoryStore())
  expect(await account.accessToken()).toMatchObject({ ok: false, reason: 'signed-out' })
  expect(await account.land(create('nobody'))).toMatchObject({ ok: false, reason: 'signed-out' })
})

test('a PDS that is down is unreachable, not a wrong password', async () => {
  const account = await openAccount(new MemoryStore())
  await local.atmosphere.pause()
  const answer = await account.authenticate(local.account.password)
  await local.atmosphere.resume()
  expect(answer).toMatchObject({ ok: false, reason: 'unreachable' })
})
