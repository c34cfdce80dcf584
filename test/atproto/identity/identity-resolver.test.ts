import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  IdentityNotFoundError,
  IdentityUnavailableError,
  InvalidActorError,
} from '../../../atproto/identity/identity.ts'
import { MemoryIdentityCache } from '../../../atproto/identity/identity-cache.ts'
import { IdentityResolver, type IdentityResolverOptions } from '../../../atproto/identity/identity-resolver.ts'
import { createGuardedFetch } from '../../../atproto/network/guarded-fetch.ts'
import { type LocalAccount, startLocalAccount } from '../local-account.ts'

const DID = 'did:plc:abcdefghijklmnopqrstuvwx'
const PLC = `https://plc.directory/${DID}`
const DNS = 'https://cloudflare-dns.com/dns-query?name=_atproto.alice.com&type=TXT'
const WELL_KNOWN = 'https://alice.com/.well-known/atproto-did'
const ALICE = { did: DID, handle: 'alice.com', pds: 'https://pds.example.com' }

function document(overrides: Record<string, unknown> = {}) {
  return {
    id: DID,
    alsoKnownAs: ['https://alice.com', 'at://alice.com', 'at://second.com'],
    service: [
      { id: '#other', type: 'Other', serviceEndpoint: 'https://other.com' },
      { id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint: 'https://pds.example.com/' },
    ],
    ...overrides,
  }
}

function txt(...data: string[]) {
  return { Status: 0, Answer: data.map((text) => ({ name: '_atproto.alice.com', type: 16, data: text })) }
}

/** Answers by URL: an object is JSON, a number a status, a function is called; any other URL cannot be reached. */
type World = Record<string, object | string | number>

function resolverIn(world: World, options: Partial<IdentityResolverOptions> = {}) {
  const asked: string[] = []
  const fetch = createGuardedFetch({
    fetch: async (url) => {
      asked.push(url)
      const answer = world[url]
      if (answer === undefined) throw new TypeError('fetch failed')
      if (typeof answer === 'number') return new Response(null, { status: answer })
      return typeof answer === 'string' ? new Response(answer) : Response.json(answer)
    },
  })
  return { resolver: new IdentityResolver({ fetch, ...options }), asked }
}

const KNOWN_BY_DNS: World = { [DNS]: txt('"did=', 'x', `"did=${DID}"`), [WELL_KNOWN]: 404, [PLC]: document() }
const KNOWN_BY_HOST: World = { [DNS]: { Status: 3 }, [WELL_KNOWN]: `${DID}\n`, [PLC]: document() }

describe('a handle', () => {
  test.each([
    ['by DNS', KNOWN_BY_DNS],
    [
      'by a TXT record in several strings',
      { ...KNOWN_BY_DNS, [DNS]: txt('"v=spf1 -all"', `"did=did:plc:" "${DID.slice(8)}"`) },
    ],
    ['by DNS, where its host cannot be reached', { [DNS]: txt(`"did=${DID}"`), [PLC]: document() }],
    [
      'by DNS, where its host says something else',
      { ...KNOWN_BY_DNS, [WELL_KNOWN]: 'did:plc:zzzzzzzzzzzzzzzzzzzzzzzz' },
    ],
    ['by its host', KNOWN_BY_HOST],
    [
      'by its host, where DNS names several DIDs',
      { ...KNOWN_BY_HOST, [DNS]: txt(`"did=${DID}"`, '"did=did:web:other.com"') },
    ],
    ['by its host, where DNS cannot be reached', { [WELL_KNOWN]: DID, [PLC]: document() }],
  ])('is found %s', async (_, world) => {
    expect(await resolverIn(world).resolver.resolve('alice.com')).toEqual(ALICE)
  })

  test('is the same in capitals, and asked for once', async () => {
    const { resolver, asked } = resolverIn(KNOWN_BY_DNS)
    expect(await resolver.resolve('Alice.COM')).toEqual(ALICE)
    const before = asked.length
    expect(await resolver.resolve('alice.com')).toEqual(ALICE)
    expect(asked).toHaveLength(before)
  })

  test.each<[string, World, RegExp]>([
    ['that nobody knows', { [DNS]: { Status: 3 }, [WELL_KNOWN]: 404 }, /neither DNS nor its host/],
    ['whose host answers with a page', { [DNS]: { Status: 0 }, [WELL_KNOWN]: '<html>' }, /neither DNS nor its host/],
    [
      'whose DID claims another',
      { ...KNOWN_BY_DNS, [PLC]: document({ alsoKnownAs: ['at://other.com'] }) },
      /does not claim it/,
    ],
    [
      'whose DID is not its first claim',
      { ...KNOWN_BY_DNS, [PLC]: document({ alsoKnownAs: ['at://b.com', 'at://alice.com'] }) },
      /does not claim it/,
    ],
    ['whose DID was given up', { ...KNOWN_BY_DNS, [PLC]: 410 }, /does not know it/],
    ['whose account has no PDS', { ...KNOWN_BY_DNS, [PLC]: document({ service: [] }) }, /names no PDS/],
    [
      'whose PDS is no origin',
      {
        ...KNOWN_BY_DNS,
        [PLC]: document({ service: [{ ...document().service[1], serviceEndpoint: 'https://u:p@pds.com/x' }] }),
      },
      /names no PDS/,
    ],
  ])('%s is not found', async (_, world, message) => {
    const fault = await resolverIn(world)
      .resolver.resolve('alice.com')
      .catch((error: unknown) => error)
    expect(fault).toBeInstanceOf(IdentityNotFoundError)
    expect((fault as Error).message).toMatch(message)
  })

  test.each<[string, World, string]>([
    ['when nothing can be reached', {}, 'cloudflare-dns.com'],
    ['when DNS says nothing and the host is down', { [DNS]: { Status: 3 }, [WELL_KNOWN]: 503 }, 'alice.com'],
    [
      'when the resolver fails and the host knows nothing',
      { [DNS]: { Status: 2 }, [WELL_KNOWN]: 404 },
      'cloudflare-dns.com',
    ],
    ['when the PLC directory is down', { [DNS]: txt(`"did=${DID}"`), [WELL_KNOWN]: 404, [PLC]: 500 }, 'plc.directory'],
    [
      'when the PLC directory sends another document',
      { ...KNOWN_BY_DNS, [PLC]: document({ id: 'did:plc:zzzzzzzzzzzzzzzzzzzzzzzz' }) },
      'plc.directory',
    ],
  ])('cannot be looked up %s', async (_, world, host) => {
    const fault = await resolverIn(world)
      .resolver.resolve('alice.com')
      .catch((error: unknown) => error)
    expect(fault).toBeInstanceOf(IdentityUnavailableError)
    expect(fault).toHaveProperty('host', host)
  })
})

describe('a DID', () => {
  test('has the handle that points back at it', async () => {
    expect(await resolverIn(KNOWN_BY_DNS).resolver.resolve(DID)).toEqual(ALICE)
  })

  test.each<[string, World]>([
    ['points at another DID', { ...KNOWN_BY_DNS, [DNS]: txt('"did=did:web:other.com"') }],
    ['points nowhere', { ...KNOWN_BY_DNS, [DNS]: { Status: 3 } }],
    ['is no handle', { [PLC]: document({ alsoKnownAs: ['at://alice.local'] }) }],
    ['is missing', { [PLC]: document({ alsoKnownAs: 'at://alice.com' }) }],
  ])('works without its handle, where that %s', async (_, world) => {
    expect(await resolverIn(world).resolver.resolve(DID)).toEqual({ ...ALICE, handle: null })
  })

  test.each<[string, World]>([
    ['neither DNS nor its host answers', {}],
    ['DNS does not answer, and its host knows nothing', { [WELL_KNOWN]: 404 }],
    ['DNS fails', { [DNS]: { Status: 2 }, [WELL_KNOWN]: '<html>' }],
    ['DNS knows nothing, and its host fails', { [DNS]: { Status: 3 }, [WELL_KNOWN]: 503 }],
  ])('says which handle could not be checked, where %s', async (_, world) => {
    const identity = { ...ALICE, handle: null, uncheckedHandle: 'alice.com' }
    expect(await resolverIn({ ...world, [PLC]: document() }).resolver.resolve(DID)).toEqual(identity)
  })

  test('of the web is found at its host', async () => {
    const did = 'did:web:bob.com'
    const service = [
      { id: `${did}#atproto_pds`, type: 'AtprotoPersonalDataServer', serviceEndpoint: 'https://pds.bob.com' },
    ]
    const world = { 'https://bob.com/.well-known/did.json': { id: did, alsoKnownAs: [], service } }
    expect(await resolverIn(world).resolver.resolve(did)).toEqual({ did, handle: null, pds: 'https://pds.bob.com' })
  })

  test('of the web at a private address is not found, and nothing is sent', async () => {
    const { resolver, asked } = resolverIn({})
    for (const did of ['did:web:localhost', 'did:web:127.0.0.1', 'did:web:10.0.0.1', 'did:web:metadata.internal']) {
      await expect(resolver.resolve(did)).rejects.toThrow(IdentityNotFoundError)
    }
    expect(asked).toEqual([])
  })
})

test.each([
  '',
  'alice',
  'alice.local',
  'al ice.com',
  '@alice.com',
  'did:plc:short',
  'did:key:z6Mk',
  'did:web:a.com:path',
  'did:web:',
  '../x.com',
])('%j is no actor', async (actor) => {
  await expect(resolverIn({}).resolver.resolve(actor)).rejects.toThrow(InvalidActorError)
})

test('identities are kept for an hour, and for five minutes where the handle could not be checked', async () => {
  let now = 0
  const cache = new MemoryIdentityCache(10, () => now)
  const world: World = { [PLC]: document() }
  const { resolver } = resolverIn(world, { cache })
  expect((await resolver.resolve(DID)).handle).toBe(null)
  Object.assign(world, KNOWN_BY_DNS)
  now = 299_000
  expect((await resolver.resolve(DID)).handle).toBe(null)
  now = 301_000
  expect((await resolver.resolve(DID)).handle).toBe('alice.com')
  for (const url of Object.keys(world)) delete world[url]
  now += 3_599_000
  expect((await resolver.resolve(DID)).handle).toBe('alice.com')
  now += 2_000
  await expect(resolver.resolve(DID)).rejects.toThrow(IdentityUnavailableError)
})

test('a memory cache forgets the longest unused', async () => {
  const cache = new MemoryIdentityCache(2, () => 0)
  await cache.put('a', ALICE, 1)
  await cache.put('b', ALICE, 1)
  await cache.get('a')
  await cache.put('c', ALICE, 1)
  expect([await cache.get('a'), await cache.get('b'), await cache.get('c')]).toEqual([ALICE, null, ALICE])
})

describe('the local PLC directory and PDS', () => {
  let local: LocalAccount
  beforeAll(async () => {
    local = await startLocalAccount()
  }, 60_000)
  afterAll(() => local[Symbol.asyncDispose]())

  test('know an account by handle and by DID, and no other', async () => {
    const { plcUrl, pdsUrl } = local.atmosphere
    const resolver = () => new IdentityResolver({ plcUrl, handleResolverUrl: pdsUrl, allowPrivateHosts: true })
    const alice = { did: local.account.did, handle: 'alice.test', pds: pdsUrl }
    expect(await resolver().resolve('alice.test')).toEqual(alice)
    expect(await resolver().resolve(local.account.did)).toEqual(alice)
    await expect(resolver().resolve('nobody.test')).rejects.toThrow(IdentityNotFoundError)
    await expect(resolver().resolve('did:plc:zzzzzzzzzzzzzzzzzzzzzzzz')).rejects.toThrow(IdentityNotFoundError)
  })
})
