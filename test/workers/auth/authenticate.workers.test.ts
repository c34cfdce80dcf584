import { env } from 'cloudflare:test'
import { Secp256k1PrivateKey } from '@atcute/crypto'
import { createServiceJwt } from '@atcute/xrpc-server/auth'
import { drizzle } from 'drizzle-orm/d1'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Grant } from '../../../atproto/access/grant.ts'
import type { SigningKey } from '../../../atproto/identity/did-document.ts'
import { type Identity, IdentityNotFoundError, IdentityUnavailableError } from '../../../atproto/identity/identity.ts'
import type { AuthenticateAnswer, Refusal } from '../../../durable-objects/account-writer/answers.ts'
import type { Environment } from '../../../durable-objects/environment.ts'
import { TokenStore } from '../../../storage/access/token-store.ts'
import { createTokenText } from '../../../storage/access/token-text.ts'
import { authenticateAccount, authenticateCaller, authenticateOwner } from '../../../workers/auth/authenticate.ts'
import { requireRight } from '../../../workers/auth/caller.ts'
import { HttpError } from '../../../workers/http/http-error.ts'
import type { RequestContext } from '../../../workers/request-context.ts'

const environment = env as unknown as Environment
const db = drizzle(environment.DB)
const tokens = new TokenStore(db)

const NSID = 'dev.skein.gateway.commit'
const EDGE = 'did:web:edge.test'
const PDS = 'https://pds.test'
const ALICE: Identity = { did: 'did:plc:aliceaaaaaaaaaaaaaaaaaaa', handle: 'alice.test', pds: PDS }
const BOB: Identity = { did: 'did:plc:bobbbbbbbbbbbbbbbbbbbbbb', handle: 'bob.test', pds: PDS }

/** What was asked of accounts. */
const asked: unknown[] = []
/** What the DID documents say, or why they cannot be had. */
const keys = new Map<string, SigningKey | null | Error>()

function contextWith(answer: AuthenticateAnswer = { ok: true }, change: Partial<Environment> = {}): RequestContext {
  return {
    // Names of tests are local ones.
    environment: { ...environment, ALLOW_PRIVATE_HOSTS: 'true', ...change },
    db,
    async resolveActor(actor: string) {
      const found = [ALICE, BOB].find(({ did, handle }) => did === actor || handle === actor)
      if (found === undefined) throw new HttpError(404, 'ActorNotFound', 'account not found')
      return found
    },
    async readSigningKey(did: string) {
      asked.push(`key of ${did}`)
      const key = keys.get(did) ?? null
      if (key instanceof Error) throw key
      return key
    },
    accountWriter: () => ({
      async authenticate(request: unknown) {
        asked.push(request)
        return answer
      },
    }),
  } as unknown as RequestContext
}

function asking(authorization?: string): Request {
  return new Request('https://edge.test/', authorization === undefined ? {} : { headers: { authorization } })
}

const basic = (text: string) => `Basic ${btoa(text)}`

async function refusal(run: Promise<unknown>): Promise<HttpError> {
  try {
    await run
  } catch (error) {
    if (error instanceof HttpError) return error
    throw error
  }
  throw new Error('let in')
}

beforeEach(() => {
  asked.length = 0
  keys.clear()
})

afterEach(() => {
  vi.useRealTimers()
})

describe('a password', () => {
  const call = (authorization?: string, answer?: AuthenticateAnswer) =>
    authenticateCaller(contextWith(answer), asking(authorization), ALICE, null)

  it('lets the owner in, by handle or DID, who may do everything', async () => {
    for (const username of ['alice.test', ALICE.did]) {
      asked.length = 0
      const caller = await call(basic(`${username}:secret`))
      expect(asked).toEqual([{ did: ALICE.did, pds: PDS, password: 'secret' }])
      expect(caller).toMatchObject({ kind: 'owner', did: ALICE.did, tokenId: null, label: null })
      expect(caller.author).toEqual({
        name: 'alice.test',
        email: 'did.plc.aliceaaaaaaaaaaaaaaaaaaa@users.noreply.edge.test',
      })
      expect(caller.may('branch', { rkey: null, ref: 'refs/tags/v1' })).toBe(true)
    }
  })

  it('is asked for where there is none, and where there is no such account', async () => {
    expect((await refusal(call())).status).toBe(401)
    const error = await refusal(call(basic('nobody.test:secret')))
    expect([error.status, error.headers['WWW-Authenticate']]).toEqual([401, expect.stringMatching(/^Basic/)])
    expect(error.message).toContain('"nobody.test"')
  })

  it('of another account is refused in words, without a question about it', async () => {
    const error = await refusal(call(basic('bob.test:secret')))
    expect([error.status, error.code, error.message]).toEqual([
      403,
      'NotYourAccount',
      expect.stringContaining('alice.test'),
    ])
    expect(asked).toEqual([])
  })

  it.each([
    ['wrong-password', 401, null],
    ['refused', 403, null],
    ['signed-out', 403, null],
    ['rate-limited', 429, '60'],
    ['unreachable', 503, '60'],
  ] as const)('that is %s is answered %i', async (reason, status, retryAfter) => {
    const answer: Refusal = { ok: false, reason, message: 'the words of the PDS', retryAfterSeconds: 60 }
    const error = await refusal(call(basic('alice.test:secret'), answer))
    expect([error.status, error.message, error.headers['Retry-After'] ?? null]).toEqual([
      status,
      'the words of the PDS',
      retryAfter,
    ])
  })
})

describe('a token', () => {
  const DAY = 24 * 60 * 60_000
  let made = 0

  async function issue(
    grant: Partial<Grant> = {},
    expiresAt = Date.now() + DAY,
  ): Promise<{ id: string; text: string }> {
    const [id, text] = [`token${made++}`, createTokenText()]
    await tokens.create(
      {
        id,
        did: ALICE.did,
        label: 'ci bot',
        grant: { repositories: null, branches: null, rights: ['commit'], ...grant },
        createdAt: Date.now(),
        expiresAt,
        revokedAt: null,
      },
      text,
    )
    return { id, text }
  }

  const call = (text: string, owner = ALICE) => authenticateCaller(contextWith(), asking(`Bearer ${text}`), owner, NSID)

  it('acts for its owner, within what it grants, and asks no PDS', async () => {
    const { id, text } = await issue({ repositories: ['app'], branches: ['agents/*'] })
    const caller = await call(text)
    expect(caller).toMatchObject({ kind: 'token', did: ALICE.did, handle: 'alice.test', tokenId: id, label: 'ci bot' })
    expect(caller.author).toEqual({
      name: 'ci bot',
      email: `${id}+did.plc.aliceaaaaaaaaaaaaaaaaaaa@users.noreply.edge.test`,
    })
    requireRight(caller, 'commit', { rkey: 'app', ref: 'refs/heads/agents/7' })
    const refused = [
      ['commit', { rkey: 'app', ref: 'refs/heads/main' }, "the token 'ci bot' may not commit to main"],
      ['merge', { rkey: 'app', ref: 'refs/heads/agents/7' }, "the token 'ci bot' may not merge into agents/7"],
      ['branch', { rkey: null, ref: null }, "the token 'ci bot' may not create repositories"],
    ] as const
    for (const [right, target, message] of refused) {
      const error = await refusal((async () => requireRight(caller, right, target))())
      expect([error.status, error.code, error.message]).toEqual([403, 'Forbidden', message])
    }
    expect(asked).toEqual([])
  })

  it('is good as a password too', async () => {
    const { id, text } = await issue()
    const request = asking(basic(`whoever:${text}`))
    expect((await authenticateCaller(contextWith(), request, ALICE, null)).tokenId).toBe(id)
    const { owner, caller } = await authenticateAccount(contextWith(), request, NSID)
    expect([owner, caller.tokenId]).toEqual([ALICE, id])
  })

  it('that is not known, was revoked or has expired is a 401 that says so', async () => {
    const unknown = await refusal(call(createTokenText()))
    expect([unknown.status, unknown.code]).toEqual([401, 'InvalidToken'])
    const { id, text } = await issue()
    await call(text)
    await tokens.revoke(ALICE.did, id, Date.now())
    const revoked = await refusal(call(text))
    expect([revoked.status, revoked.code, revoked.message]).toEqual([
      401,
      'InvalidToken',
      expect.stringMatching(/^the token 'ci bot' was revoked on \d{4}-\d\d-\d\d$/),
    ])
    const expired = await refusal(call((await issue({}, Date.now())).text))
    expect([expired.status, expired.code, expired.message]).toEqual([
      401,
      'ExpiredToken',
      expect.stringMatching(/^the token 'ci bot' expired on /),
    ])
  })

  it('of another account is refused', async () => {
    const error = await refusal(call((await issue()).text, BOB))
    expect([error.status, error.code]).toEqual([403, 'NotYourAccount'])
  })

  it('manages nothing that is its owner’s', async () => {
    const request = asking(`Bearer ${(await issue({ rights: ['read', 'commit', 'branch', 'merge'] })).text}`)
    expect((await refusal(authenticateOwner(contextWith(), request, NSID))).code).toBe('Forbidden')
  })

  it('is counted, alone, and before it is looked up', async () => {
    const counted: string[] = []
    const full = {
      async limit({ key }: { key: string }) {
        counted.push(key)
        return { success: false }
      },
    }
    const { text } = await issue()
    for (const sent of [text, text, createTokenText()]) {
      const context = contextWith({ ok: true }, { CALL_LIMIT: full })
      const error = await refusal(authenticateCaller(context, asking(`Bearer ${sent}`), ALICE, NSID))
      expect([error.status, error.code, error.headers['Retry-After']]).toEqual([429, 'RateLimitExceeded', '60'])
    }
    expect([counted.length, new Set(counted).size, counted.join().includes(text)]).toEqual([3, 2, false])
  })
})

describe('a service-auth JWT', () => {
  interface JwtOptions {
    issuer?: string
    audience?: string
    lxm?: string
    issuedAt?: number
    expiresIn?: number
    keypair?: Secp256k1PrivateKey
  }

  const newKey = () => Secp256k1PrivateKey.importRaw(crypto.getRandomValues(new Uint8Array(32)))

  async function publish(did: string, keypair: Secp256k1PrivateKey): Promise<void> {
    keys.set(did, { type: 'Multikey', publicKeyMultibase: await keypair.exportPublicKey('multikey') })
  }

  const accounts: Identity[] = []
  /** An account that no isolate has met. */
  async function newAccount(): Promise<{ account: Identity; keypair: Secp256k1PrivateKey }> {
    const name = `account${String.fromCharCode(97 + accounts.length)}`
    const account = { did: `did:plc:${name.padEnd(24, 'x')}`, handle: `${name}.test`, pds: PDS }
    accounts.push(account)
    const keypair = await newKey()
    await publish(account.did, keypair)
    return { account, keypair }
  }

  function jwt({ account, keypair }: { account: Identity; keypair: Secp256k1PrivateKey }, options: JwtOptions = {}) {
    return createServiceJwt({ keypair, issuer: account.did, audience: EDGE, lxm: NSID, ...options } as Parameters<
      typeof createServiceJwt
    >[0])
  }

  function call(text: string, owner: Identity, change: Partial<Environment> = {}, nsid: string | null = NSID) {
    const context = contextWith({ ok: true }, change)
    const resolveActor = context.resolveActor.bind(context)
    const known = async (actor: string) => accounts.find(({ did }) => did === actor) ?? resolveActor(actor)
    return authenticateCaller(
      { ...context, resolveActor: known } as RequestContext,
      asking(`Bearer ${text}`),
      owner,
      nsid,
    )
  }

  async function codeOf(run: Promise<unknown>): Promise<[number, string]> {
    const { status, code } = await refusal(run)
    return [status, code]
  }

  it('lets the owner in, for the DID of the edge or its service', async () => {
    const owner = await newAccount()
    for (const audience of [EDGE, `${EDGE}#skein`]) {
      const caller = await call(await jwt(owner, { audience }), owner.account)
      expect(caller).toMatchObject({ kind: 'owner', did: owner.account.did, tokenId: null })
    }
    expect(asked).toEqual([`key of ${owner.account.did}`])
  })

  it.each<[string, JwtOptions]>([
    ['another edge', { audience: 'did:web:other.test' }],
    ['another service of this one', { audience: `${EDGE}#other` }],
    ['another method', { lxm: 'dev.skein.token.create' }],
    ['longer than five minutes', { expiresIn: 320 }],
  ])('for %s is refused', async (_, options) => {
    const owner = await newAccount()
    expect(await codeOf(call(await jwt(owner, options), owner.account))).toEqual([401, 'InvalidToken'])
  })

  it('is good until it expires, and once', async () => {
    const owner = await newAccount()
    const [first, second] = [await jwt(owner), await jwt(owner)]
    await call(first, owner.account)
    expect(await codeOf(call(first, owner.account))).toEqual([401, 'InvalidToken'])
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 66_000 })
    expect(await codeOf(call(second, owner.account))).toEqual([401, 'ExpiredToken'])
  })

  it('is counted for its account, once it is known to be of it', async () => {
    const owner = await newAccount()
    const counted: string[] = []
    const full = {
      async limit({ key }: { key: string }) {
        counted.push(key)
        return { success: false }
      },
    }
    const forged = await jwt({ ...owner, keypair: await newKey() })
    expect(await codeOf(call(forged, owner.account, { CALL_LIMIT: full }))).toEqual([401, 'InvalidToken'])
    const text = await jwt(owner)
    expect(await codeOf(call(text, owner.account, { CALL_LIMIT: full }))).toEqual([429, 'RateLimitExceeded'])
    expect(counted).toEqual([`account ${owner.account.did}`])
    // It is not used up by that.
    expect((await call(text, owner.account)).kind).toBe('owner')
  })

  it('that is signed by another key, or changed, is refused', async () => {
    const owner = await newAccount()
    const forged = await jwt({ ...owner, keypair: await newKey() })
    expect(await codeOf(call(forged, owner.account))).toEqual([401, 'InvalidToken'])
    const [header, payload, signature] = (await jwt(owner)).split('.') as [string, string, string]
    const claims = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as object
    const encode = (value: object) =>
      btoa(JSON.stringify(value)).replaceAll('=', '').replaceAll('+', '-').replaceAll('/', '_')
    for (const text of [
      `${header}.${encode({ ...claims, jti: 'mine' })}.${signature}`,
      `${encode({ typ: 'JWT', alg: 'none' })}.${payload}.${signature}`,
      `${header}.${payload}.${'A'.repeat(86)}`,
      `${header}.${payload}.A`,
      `${header}.${encode([])}.${signature}`,
      `A.A.A`,
    ]) {
      expect(await codeOf(call(text, owner.account)), text).toEqual([401, 'InvalidToken'])
    }
    // None of these has used up what the account itself has signed.
    await call(`${header}.${payload}.${signature}`, owner.account)
  })

  it('without a name of its own is refused: it could be used twice', async () => {
    const owner = await newAccount()
    const encode = (value: object) => btoa(JSON.stringify(value)).replaceAll('=', '')
    const now = Math.floor(Date.now() / 1000)
    const body = `${encode({ typ: 'JWT', alg: 'ES256K' })}.${encode({ iss: owner.account.did, aud: EDGE, lxm: NSID, exp: now + 60 })}`
    const signature = await owner.keypair.sign(new TextEncoder().encode(body))
    const text = `${body}.${Buffer.from(signature).toString('base64url')}`
    expect(await codeOf(call(text, owner.account))).toEqual([401, 'InvalidToken'])
  })

  it('is checked by the key that the account has now', async () => {
    const owner = await newAccount()
    await call(await jwt(owner), owner.account)
    const keypair = await newKey()
    await publish(owner.account.did, keypair)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 6_000 })
    await call(await jwt({ ...owner, keypair }), owner.account)
    expect(await codeOf(call(await jwt(owner), owner.account))).toEqual([401, 'InvalidToken'])
  })

  it('of an account without a key, or without a document, is refused', async () => {
    const owner = await newAccount()
    keys.set(owner.account.did, null)
    expect(await codeOf(call(await jwt(owner), owner.account))).toEqual([401, 'InvalidToken'])
    const gone = await newAccount()
    keys.set(gone.account.did, new IdentityNotFoundError(gone.account.did, 'is gone'))
    expect(await codeOf(call(await jwt(gone), gone.account))).toEqual([401, 'InvalidToken'])
    const broken = await newAccount()
    keys.set(broken.account.did, { type: 'Multikey', publicKeyMultibase: 'z0' })
    expect(await codeOf(call(await jwt(broken), broken.account))).toEqual([401, 'InvalidToken'])
  })

  describe('of another account', () => {
    /** What the owner's PDS answers when it is asked for the record. */
    function answering(status: number, body: object): void {
      vi.stubGlobal('fetch', async (url: string) => {
        asked.push(new URL(url).search)
        return Response.json(body, { status })
      })
    }

    afterEach(() => {
      vi.unstubAllGlobals()
    })

    const record = (did: string, change: object = {}) => ({
      value: { $type: 'dev.skein.collaborator', subject: did, createdAt: '2026-11-30T12:00:00Z', ...change },
    })

    it('lets a collaborator in as themselves, as far as the record goes', async () => {
      const other = await newAccount()
      const { did, handle } = other.account
      answering(200, record(did, { branches: ['topic/*'], rights: ['commit'] }))
      const caller = await call(await jwt(other), ALICE)
      expect(caller).toMatchObject({ kind: 'collaborator', did, handle, tokenId: null, label: null })
      expect(caller.author).toEqual({
        name: handle,
        email: `${did.replaceAll(':', '.')}@users.noreply.edge.test`,
      })
      expect(caller.may('commit', { rkey: 'app', ref: 'refs/heads/topic/1' })).toBe(true)
      expect(caller.may('commit', { rkey: 'app', ref: 'refs/heads/main' })).toBe(false)
      expect(asked.at(-1)).toBe(
        `?${new URLSearchParams({ repo: ALICE.did, collection: 'dev.skein.collaborator', rkey: did })}`,
      )
      // Read each time: what is taken back is gone with the next call.
      answering(400, { error: 'RecordNotFound', message: 'no such record' })
      expect(await codeOf(call(await jwt(other), ALICE))).toEqual([403, 'NotYourAccount'])
    })

    it('is refused where the record is about somebody else, or none that can be read', async () => {
      const other = await newAccount()
      for (const answer of [record(ALICE.did), record(other.account.did, { branches: 'all' }), {}, { value: null }]) {
        answering(200, answer)
        expect(await codeOf(call(await jwt(other), ALICE))).toEqual([403, 'NotYourAccount'])
      }
    })
  })

  it('whose document cannot be had now is answered 503', async () => {
    const owner = await newAccount()
    keys.set(owner.account.did, new IdentityUnavailableError(owner.account.did, 'plc.test', 'does not answer'))
    const error = await refusal(call(await jwt(owner), owner.account))
    expect([error.status, error.code, error.headers['Retry-After']]).toEqual([503, 'UpstreamUnavailable', '10'])
  })

  it('is good for XRPC methods only, and where the edge has a DID', async () => {
    const owner = await newAccount()
    expect(await codeOf(call(await jwt(owner), owner.account, {}, null))).toEqual([401, 'InvalidToken'])
    expect(await codeOf(call(await jwt(owner), owner.account, { EDGE_DID: '' }))).toEqual([401, 'InvalidToken'])
  })
})
