import { beforeEach, describe, expect, test } from 'vitest'
import type { PdsSession } from '../../../atproto/pds/pds-client.ts'
import { PdsError, PdsUnreachableError } from '../../../atproto/pds/pds-error.ts'
import { SessionEndedError } from '../../../durable-objects/account-writer/answers.ts'
import { importSealingKey } from '../../../durable-objects/account-writer/sealed-value.ts'
import { SessionKeeper } from '../../../durable-objects/account-writer/session-keeper.ts'
import { MemoryStore } from './memory-store.ts'

const DID = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa'
const PDS = 'https://pds.test'
const SEALING_KEY = await importSealingKey(Buffer.alloc(32, 7).toString('base64'))

/** A PDS with one account and some passwords; its refresh tokens are good for one use. */
class FakePds {
  readonly passwords = new Set(['right'])
  readonly calls: string[] = []
  did = DID
  fault: Error | null = null
  readonly #live = new Set<string>()
  #issued = 0

  async createSession({ password }: { identifier: string; password: string }): Promise<PdsSession> {
    this.calls.push('createSession')
    if (this.fault) throw this.fault
    if (!this.passwords.has(password)) throw refused(401, 'AuthenticationRequired')
    return this.#issue()
  }

  async refreshSession(refreshJwt: string): Promise<PdsSession> {
    this.calls.push('refreshSession')
    if (this.fault) throw this.fault
    if (!this.#live.delete(refreshJwt)) throw refused(400, 'ExpiredToken')
    return this.#issue()
  }

  /** As when the owner revokes the app password. */
  endSessions(): void {
    this.#live.clear()
  }

  isLive(accessJwt: string): boolean {
    return this.#live.has(accessJwt.replace('access', 'refresh'))
  }

  #issue(): PdsSession {
    const n = ++this.#issued
    this.#live.add(`refresh-${n}`)
    return { did: this.did, handle: 'alice.test', accessJwt: `access-${n}`, refreshJwt: `refresh-${n}` }
  }
}

function refused(status: number, error: string): PdsError {
  return new PdsError('pds.test', status, error, '', null)
}

let pds: FakePds
let store: MemoryStore
let clock: number

beforeEach(() => {
  pds = new FakePds()
  store = new MemoryStore()
  clock = Date.parse('2026-11-30T12:00:00Z')
})

function keeper(overrides: { pds?: string; sealingKey?: CryptoKey } = {}): SessionKeeper {
  return new SessionKeeper({
    did: DID,
    pds: PDS,
    store,
    sealingKey: SEALING_KEY,
    client: pds,
    now: () => clock,
    ...overrides,
  })
}

describe('authenticate', () => {
  test('asks the PDS once for a right password, also after the object was evicted', async () => {
    const first = keeper()
    expect(await first.authenticate('right')).toEqual({ ok: true })
    expect(await first.authenticate('right')).toEqual({ ok: true })
    expect(await keeper().authenticate('right')).toEqual({ ok: true })
    expect(pds.calls).toEqual(['createSession'])
  })

  test('asks once for several connections at the same time', async () => {
    const one = keeper()
    await Promise.all(Array.from({ length: 5 }, () => one.authenticate('right')))
    expect(pds.calls).toEqual(['createSession'])
  })

  test('keeps neither password nor token in the clear', async () => {
    await keeper().authenticate('right')
    expect(store.dump()).not.toMatch(/right|access-1|refresh-1/)
  })

  test('tells a wrong password, and does not ask about the same again', async () => {
    const one = keeper()
    expect(await one.authenticate('wrong')).toMatchObject({ ok: false, reason: 'wrong-password' })
    expect(await one.authenticate('wrong')).toMatchObject({ ok: false, reason: 'wrong-password' })
    expect(pds.calls).toHaveLength(1)
  })

  test('backs off after five wrong passwords, and still lets in the one that it knows', async () => {
    const one = keeper()
    await one.authenticate('right')
    for (let i = 0; i < 5; i++) await one.authenticate(`wrong-${i}`)
    expect(await one.authenticate('wrong-5')).toMatchObject({ reason: 'rate-limited', retryAfterSeconds: 10 })
    expect(await one.authenticate('right')).toEqual({ ok: true })
    clock += 10_000
    expect(await one.authenticate('wrong-6')).toMatchObject({ reason: 'wrong-password' })
    expect(await one.authenticate('wrong-7')).toMatchObject({ reason: 'rate-limited', retryAfterSeconds: 20 })
    expect(await keeper().authenticate('wrong-7')).toMatchObject({ reason: 'rate-limited' })
  })

  test.each([
    ['unreachable', new PdsUnreachableError('pds.test', 'cannot be reached')],
    ['unreachable', refused(502, '')],
    ['refused', refused(401, 'AuthFactorTokenRequired')],
    ['refused', refused(401, 'AccountTakedown')],
    ['rate-limited', new PdsError('pds.test', 429, 'RateLimitExceeded', '', 77)],
  ])('tells %s apart', async (reason, fault) => {
    pds.fault = fault
    const answer = await keeper().authenticate('right')
    expect(answer).toMatchObject({ ok: false, reason })
    expect(answer).toHaveProperty('retryAfterSeconds', reason === 'rate-limited' ? 77 : null)
  })

  test('does not take a session of another account', async () => {
    pds.did = 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb'
    expect(await keeper().authenticate('right')).toMatchObject({ ok: false })
  })

  test('signs in anew where the account has moved to another PDS, or the key was changed', async () => {
    await keeper().authenticate('right')
    await keeper({ pds: 'https://other.test' }).authenticate('right')
    expect(pds.calls).toHaveLength(2)
    const other = keeper({ sealingKey: await importSealingKey(Buffer.alloc(32, 8).toString('base64')) })
    await expect(other.accessToken()).rejects.toThrow(SessionEndedError)
  })

  test('opens a session under a new key with the password of the push that needs it', async () => {
    await keeper().authenticate('right')
    const other = keeper({ sealingKey: await importSealingKey(Buffer.alloc(32, 8).toString('base64')) })
    expect(await other.authenticate('right')).toEqual({ ok: true })
    expect(pds.isLive(await other.accessToken())).toBe(true)
    expect(pds.calls).toHaveLength(2)
  })
})

describe('withToken', () => {
  /** A request that the PDS takes with a live token only. */
  const request = async (token: string) => {
    pds.calls.push(`request ${token}`)
    if (!pds.isLive(token)) throw refused(400, 'ExpiredToken')
    return token
  }

  async function expire(token: string): Promise<void> {
    // What a PDS does after two hours: the access token is over, its refresh token is not.
    pds.calls.length = 0
    const isLive = pds.isLive.bind(pds)
    pds.isLive = (accessJwt) => accessJwt !== token && isLive(accessJwt)
  }

  test('refreshes once for many requests that find their token over, and keeps the new one', async () => {
    const one = keeper()
    await one.authenticate('right')
    await expire('access-1')
    const tokens = await Promise.all(Array.from({ length: 4 }, () => one.withToken(request)))
    expect(new Set(tokens)).toEqual(new Set(['access-2']))
    expect(pds.calls.filter((call) => call === 'refreshSession')).toHaveLength(1)
    expect(await keeper().withToken(request)).toBe('access-2')
  })

  test('opens another session with the password that was just right', async () => {
    const one = keeper()
    await one.authenticate('right')
    pds.endSessions()
    expect(await one.withToken(request)).toBe('access-2')
    expect(pds.calls.filter((call) => call === 'createSession')).toHaveLength(2)
  })

  test('says that the session has ended where the password is not at hand, or is over too', async () => {
    await keeper().authenticate('right')
    pds.endSessions()
    await expect(keeper().withToken(request)).rejects.toThrow('must sign in again')
    const one = keeper()
    await one.authenticate('right')
    pds.passwords.clear()
    pds.endSessions()
    await expect(one.withToken(request)).rejects.toThrow(SessionEndedError)
    expect(await one.authenticate('right')).toMatchObject({ reason: 'wrong-password' })
  })

  test('keeps the session where the PDS cannot be reached for a new token', async () => {
    const one = keeper()
    await one.authenticate('right')
    await expire('access-1')
    pds.fault = new PdsUnreachableError('pds.test', 'cannot be reached')
    await expect(one.withToken(request)).rejects.toThrow(PdsUnreachableError)
    pds.fault = null
    expect(await one.withToken(request)).toBe('access-2')
  })

  test('refreshes a token before it ends', async () => {
    const one = keeper()
    const { createSession } = pds
    const payload = Buffer.from(JSON.stringify({ iat: 1000, exp: 1120 })).toString('base64url')
    pds.createSession = async (account) => ({
      ...(await createSession.call(pds, account)),
      accessJwt: `h.${payload}.s`,
    })
    await one.authenticate('right')
    expect(await one.accessToken()).toBe(`h.${payload}.s`)
    clock += 61_000
    expect(await one.accessToken()).toBe('access-2')
  })

  test('throws other faults of the request as they are', async () => {
    const one = keeper()
    await one.authenticate('right')
    await expect(one.withToken(() => Promise.reject(refused(500, 'InternalServerError')))).rejects.toThrow(
      'answered 500',
    )
    await expect(keeper({ pds: 'https://other.test' }).accessToken()).rejects.toThrow(SessionEndedError)
  })
})
