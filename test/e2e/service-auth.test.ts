import { expect, test } from 'vitest'
import type { Grant } from '../../atproto/access/grant.ts'
import { PdsError } from '../../atproto/pds/pds-error.ts'
import { LOCAL_EDGE_DID } from '../../dev/edge.ts'
import { readCollaboration } from '../../durable-objects/collaboration.ts'
import type { Environment } from '../../durable-objects/environment.ts'
import { startWorld } from './harness.ts'
import { callMethod, callTokens } from './token-calls.ts'
import { basicAuth } from './wire.ts'

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

test('by a JWT a repository is created where the edge is signed in, and else it says what is missing', async () => {
  const create = async (name: string) => {
    const authorization = `Bearer ${await world.serviceAuth(bob, 'dev.skein.repo.create')}`
    const { status, body } = await callMethod(edge, authorization, 'dev.skein.repo.create', { name })
    return [status, body.error ?? body.repository.did, body.message]
  }
  expect(await create('early')).toEqual([403, 'Refused', expect.stringContaining('app password')])
  expect((await callTokens(edge, basicAuth(bob), 'list')).status).toBe(200)
  expect(await create('late')).toEqual([200, bob.did, undefined])
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

/** What the Worker finds in alice's account of what bob may do there. */
async function readGrant(): Promise<Grant | null> {
  const environment = { ALLOW_PRIVATE_HOSTS: 'true' } as Partial<Environment>
  const identity = { did: alice.did, handle: alice.handle, pds: atmosphere.pdsUrl }
  return readCollaboration(environment as Environment, identity, bob.did)
}

const uri = `at://${alice.did}/dev.skein.collaborator/${bob.did}`
const collaborator = (record: object) =>
  world.createRecord(alice, 'dev.skein.collaborator', bob.did, {
    subject: bob.did,
    createdAt: new Date().toISOString(),
    ...record,
  })

test('a collaborator may do what the record says, and from its deletion on nothing', async () => {
  expect(await readGrant()).toBe(null)
  const grant = { repositories: ['3lzkoq5qq2s2a'], branches: ['topic/*'], rights: ['commit'] }
  await collaborator(grant)
  expect(await readGrant()).toEqual(grant)
  const requests = await world.pdsRequestsDuring(readGrant)
  expect(requests.map(({ path }) => path)).toEqual(['/xrpc/com.atproto.repo.getRecord'])
  await world.deleteRecord(alice, uri)
  expect(await readGrant()).toBe(null)
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
  expect(await readGrant()).toBe(null)
  await world.deleteRecord(alice, uri)
})

test('what collaborators may do is not guessed while the PDS does not say', async () => {
  await collaborator({})
  const fault = { kind: 'refuse', status: 500 } as const
  for (let attempt = 0; attempt < 3; attempt++) atmosphere.failNext('com.atproto.repo.getRecord', fault)
  await expect(readGrant()).rejects.toThrow(PdsError)
  expect(await readGrant()).toMatchObject({ branches: null })
  await world.deleteRecord(alice, uri)
})
