import { expect, test } from 'vitest'
import { LOCAL_EDGE_DID } from '../../dev/edge.ts'
import type { Environment } from '../../durable-objects/environment.ts'
import { authenticateCaller } from '../../workers/auth/authenticate.ts'
import type { Caller } from '../../workers/auth/caller.ts'
import { HttpError } from '../../workers/http/http-error.ts'
import { RequestContext } from '../../workers/request-context.ts'
import { startWorld } from './harness.ts'
import { callTokens } from './token-calls.ts'

const world = await startWorld()
const { alice, bob, edge, atmosphere } = world

const LIST = 'dev.skein.token.list'
const COMMIT = 'dev.skein.gateway.commit'

async function list(jwt: string): Promise<[number, string | undefined]> {
  const { status, body } = await callTokens(edge, `Bearer ${jwt}`, 'list')
  return [status, body.error]
}

test('an account manages its tokens by JWTs of its PDS', async () => {
  const authorized = async (method: 'create' | 'list' | 'revoke') =>
    `Bearer ${await world.serviceAuth(alice, `dev.skein.token.${method}`)}`
  const input = { label: 'by JWT', rights: ['commit'] }
  const created = await callTokens(edge, await authorized('create'), 'create', input)
  expect(created.status).toBe(200)
  const listed = await callTokens(edge, await authorized('list'), 'list')
  expect(listed.body.tokens.map(({ label }: { label: string }) => label)).toEqual(['by JWT'])
  const revoked = await callTokens(edge, await authorized('revoke'), 'revoke', { id: created.body.id })
  expect([revoked.status, revoked.body.token.id]).toEqual([200, created.body.id])
})

test('a JWT is good for the edge or its service, for one method, and once', async () => {
  const jwt = await world.serviceAuth(alice, LIST, { aud: `${LOCAL_EDGE_DID}#skein` })
  expect(await list(jwt)).toEqual([200, undefined])
  expect(await list(jwt)).toEqual([401, 'InvalidToken'])
  expect(await list(await world.serviceAuth(alice, COMMIT))).toEqual([401, 'InvalidToken'])
  expect(await list(await world.serviceAuth(alice, LIST, { aud: 'did:web:other.test' }))).toEqual([401, 'InvalidToken'])
  expect(await list(await world.serviceAuth(alice, LIST, { aud: `${LOCAL_EDGE_DID}#other` }))).toEqual([
    401,
    'InvalidToken',
  ])
  const exp = `${Math.floor(Date.now() / 1000) + 30 * 60}`
  expect(await list(await world.serviceAuth(alice, LIST, { exp }))).toEqual([401, 'InvalidToken'])
})

test('a JWT of one account with the name of another is none', async () => {
  const [header, payload, signature] = (await world.serviceAuth(bob, LIST)).split('.') as [string, string, string]
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
  const forged = Buffer.from(JSON.stringify({ ...claims, iss: alice.did })).toString('base64url')
  expect(await list(`${header}.${forged}.${signature}`)).toEqual([401, 'InvalidToken'])
  expect(await list(`${header}.${payload}.${signature.slice(0, -8)}AAAAAAAA`)).toEqual([401, 'InvalidToken'])
  expect(await list(`${header}.${payload}.${signature}`)).toEqual([200, undefined])
})

test('a session’s own JWT opens nothing here', async () => {
  expect(await list(alice.accessJwt)).toEqual([401, 'InvalidToken'])
})

test('the edge says in its DID document where it is', async () => {
  const response = await fetch(`${edge.url}/.well-known/did.json`)
  expect(await response.json()).toMatchObject({
    id: LOCAL_EDGE_DID,
    service: [{ id: '#skein', type: 'SkeinEdge', serviceEndpoint: 'https://skein.test' }],
  })
})

/** What the Worker does of a call by `who` that is about alice's account. */
async function callAs(who: typeof bob): Promise<Caller> {
  const environment = {
    DB: await edge.database(),
    CALL_LIMIT: { limit: async () => ({ success: true }) },
    EDGE_DID: LOCAL_EDGE_DID,
    PLC_URL: atmosphere.plcUrl,
    HANDLE_RESOLVER_URL: atmosphere.pdsUrl,
    ALLOW_PRIVATE_HOSTS: 'true',
  } as Partial<Environment> as Environment
  const context = new RequestContext(environment, {
    waitUntil: () => undefined,
  } as Partial<ExecutionContext> as ExecutionContext)
  const authorization = `Bearer ${await world.serviceAuth(who, COMMIT)}`
  const request = new Request(`${edge.url}/xrpc/${COMMIT}`, { headers: { authorization } })
  return authenticateCaller(context, request, await context.resolveActor(alice.did), COMMIT)
}

const collaborator = (record: object) =>
  world.createRecord(alice, 'dev.skein.collaborator', bob.did, {
    subject: bob.did,
    createdAt: new Date().toISOString(),
    ...record,
  })
const uri = `at://${alice.did}/dev.skein.collaborator/${bob.did}`

async function expectStranger(): Promise<void> {
  const error = await callAs(bob).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(HttpError)
  const { status, code, message } = error as HttpError
  expect([status, code, message]).toEqual([
    403,
    'NotYourAccount',
    'bob.test may not write to the account of alice.test',
  ])
}

test('a collaborator acts as themselves, within the record, and from the next call on no more', async () => {
  await expectStranger()
  await collaborator({ repositories: ['app'], branches: ['topic/*'], rights: ['commit'] })
  const caller = await callAs(bob)
  expect(caller).toMatchObject({ kind: 'collaborator', did: bob.did, handle: 'bob.test', tokenId: null })
  expect(caller.author).toEqual({
    name: 'bob.test',
    email: `${bob.did.replaceAll(':', '.')}@users.noreply.skein.test`,
  })
  expect(caller.may('commit', { rkey: 'app', ref: 'refs/heads/topic/1' })).toBe(true)
  expect(caller.may('commit', { rkey: 'app', ref: 'refs/heads/main' })).toBe(false)
  expect(caller.may('branch', { rkey: 'app', ref: 'refs/heads/topic/1' })).toBe(false)
  expect(caller.may('commit', { rkey: 'other', ref: 'refs/heads/topic/1' })).toBe(false)
  expect((await callAs(alice)).kind).toBe('owner')
  await world.deleteRecord(alice, uri)
  await expectStranger()
})

test.each<[string, object]>([
  ['is about somebody else', { subject: alice.did }],
  ['has a subject that is none', { subject: 'everybody' }],
  ['has a pattern that is none', { branches: ['main', 'refs/heads/*'] }],
  ['has rights in no list', { rights: 'all' }],
  ['has repositories in no list', { repositories: { all: true } }],
  ['has thousands of patterns', { branches: Array.from({ length: 2_000 }, (_, i) => `b${i}`) }],
])('a record that %s lets nobody in', async (_, record) => {
  await collaborator(record)
  try {
    await expectStranger()
  } finally {
    await world.deleteRecord(alice, uri)
  }
})

test('what collaborators may is not guessed while the PDS does not say', async () => {
  await collaborator({})
  atmosphere.failNext('com.atproto.repo.getRecord', { kind: 'refuse', status: 500 })
  atmosphere.failNext('com.atproto.repo.getRecord', { kind: 'refuse', status: 500 })
  atmosphere.failNext('com.atproto.repo.getRecord', { kind: 'refuse', status: 500 })
  await expect(callAs(bob)).rejects.toThrow(/500/)
  expect((await callAs(bob)).kind).toBe('collaborator')
  await world.deleteRecord(alice, uri)
})
