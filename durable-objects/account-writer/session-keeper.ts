import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { isObject, parseJson } from '../../atproto/network/json.ts'
import type { PdsSession } from '../../atproto/pds/pds-client.ts'
import { PdsError } from '../../atproto/pds/pds-error.ts'
import { type AuthenticateAnswer, refusal, refusalOf, SessionEndedError } from './answers.ts'
import { createSalt, deriveVerifier, verifiersMatch } from './password-verifier.ts'
import { seal, unseal } from './sealed-value.ts'
import { Serial } from './serial.ts'
import {
  NO_ATTEMPTS,
  noteAsked,
  noteFailure,
  noteSuccess,
  type SignInAttempts,
  waitBeforeAttempt,
} from './sign-in-attempts.ts'

/** What a Durable Object's storage can do. */
export interface AccountStore {
  get<T>(key: string): Promise<T | undefined>
  put<T>(key: string, value: T): Promise<void>
}

export interface SessionKeeperDeps {
  readonly did: string
  /** Origin of the PDS that the sessions are at. */
  readonly pds: string
  readonly store: AccountStore
  readonly sealingKey: CryptoKey
  readonly client: {
    createSession(account: { identifier: string; password: string }): Promise<PdsSession>
    refreshSession(refreshJwt: string): Promise<PdsSession>
  }
  /** Milliseconds since 1970. */
  now(): number
}

/** A password that was right, and the session that it opened. */
interface Credential {
  readonly id: string
  readonly pds: string
  readonly verifier: string
  /** Sealed {@link Tokens}. */
  readonly session: string
  /** Milliseconds since 1970. */
  readonly usedAt: number
}

interface Tokens {
  readonly accessJwt: string
  readonly refreshJwt: string
  /** When the access token ends by our own clock, in milliseconds since 1970; null: it does not say. */
  readonly endsAt: number | null
}

/** App passwords of one account that are kept at once: one a machine, as a rule. */
const MAX_CREDENTIALS = 8
/** A right password stays in memory this long, in milliseconds: should its session turn out dead, it opens another. */
const REMEMBER_PASSWORD = 10 * 60_000
/** A wrong password is not asked about again for this long, in milliseconds. */
const REMEMBER_REJECTION = 5 * 60_000
const MAX_REJECTIONS = 64
/** An access token that ends sooner is refreshed before it is used, in milliseconds. */
const MIN_LIFETIME = 60_000

/**
 * Signs one account in at its PDS and keeps it signed in: sessions encrypted, passwords as verifiers, so that a second
 * push needs no request to be let in. Refresh tokens are good for one use; here is the only place that uses them.
 */
export class SessionKeeper {
  readonly #deps: SessionKeeperDeps
  /** Digests of passwords are good for this object's lifetime only. */
  readonly #digestKey = randomBytes(32)
  /** Credential ids by the digest of their password. */
  readonly #recognised = new Map<string, string>()
  /** When a digest was found wrong. */
  readonly #rejected = new Map<string, number>()
  readonly #passwords = new Map<string, { readonly password: string; readonly until: number }>()
  readonly #signingIn = new Map<string, Promise<AuthenticateAnswer>>()
  readonly #serial = new Serial()
  /** The credential that was last let in: landings follow their own authentication. */
  #current: string | null = null

  constructor(deps: SessionKeeperDeps) {
    this.#deps = deps
  }

  async authenticate(password: string): Promise<AuthenticateAnswer> {
    const digest = createHmac('sha256', this.#digestKey).update(password).digest('base64')
    const rejectedAt = this.#rejected.get(digest)
    // First: whoever repeats a wrong password must not have the verifier derived each time, which is slow on purpose.
    if (rejectedAt !== undefined && rejectedAt > this.#deps.now() - REMEMBER_REJECTION) return this.#wrongPassword()
    const known = await this.#recognise(password, digest)
    if (known !== null) {
      this.#remember(known, password)
      return { ok: true }
    }
    // A client that opens several connections sends the same password on each.
    const underWay = this.#signingIn.get(digest)
    if (underWay) return underWay
    const signIn = this.#signIn(password, digest).finally(() => this.#signingIn.delete(digest))
    this.#signingIn.set(digest, signIn)
    return signIn
  }

  /**
   * Runs a request with an access token, and once more with a new one where the PDS refuses the first.
   *
   * @throws {@link SessionEndedError}, and the faults of the request and of refreshing
   */
  async withToken<T>(run: (token: string) => Promise<T>): Promise<T> {
    const token = await this.accessToken()
    try {
      return await run(token)
    } catch (fault) {
      if (!(fault instanceof PdsError && fault.isTokenRefused)) throw fault
    }
    return run(await this.#refresh(token))
  }

  /**
   * A token that is good for a minute at least.
   *
   * @param refused one that the PDS has refused, whatever its time: it is replaced
   * @throws {@link SessionEndedError}, and the faults of refreshing
   */
  async accessToken(refused?: string): Promise<string> {
    const credential = await this.#credential()
    const tokens = await this.#unseal(credential)
    if (tokens === null) return this.#reopen(credential)
    const { accessJwt, endsAt } = tokens
    if (accessJwt === refused) return this.#refresh(accessJwt)
    return endsAt !== null && endsAt < this.#deps.now() + MIN_LIFETIME ? this.#refresh(accessJwt) : accessJwt
  }

  async #recognise(password: string, digest: string): Promise<string | null> {
    const credentials = await this.#credentials()
    const id = this.#recognised.get(digest)
    if (id !== undefined && credentials.some((credential) => credential.id === id)) return id
    if (credentials.length === 0) return null
    const verifier = await deriveVerifier(password, await this.#salt())
    const match = credentials.find((credential) => verifiersMatch(credential.verifier, verifier))
    if (!match) return null
    this.#recognised.set(digest, match.id)
    return match.id
  }

  async #signIn(password: string, digest: string): Promise<AuthenticateAnswer> {
    const { store, now } = this.#deps
    const attempts = (await store.get<SignInAttempts>('attempts')) ?? NO_ATTEMPTS
    const wait = Math.ceil(waitBeforeAttempt(attempts, now()) / 1000)
    if (wait > 0) return refusal('rate-limited', `too many attempts to sign in: wait ${wait} s`, wait)
    // Before the request: several at once must not slip through together.
    await store.put('attempts', noteAsked(attempts, now()))
    try {
      const id = await this.#openSession(password)
      this.#recognised.set(digest, id)
      await this.#updateAttempts(noteSuccess)
      return { ok: true }
    } catch (fault) {
      if (!isWrongPassword(fault)) return refusalOf(fault)
      this.#rejected.set(digest, now())
      if (this.#rejected.size > MAX_REJECTIONS) this.#rejected.delete(this.#rejected.keys().next().value!)
      await this.#updateAttempts((current) => noteFailure(current, now()))
      return this.#wrongPassword()
    }
  }

  #wrongPassword(): AuthenticateAnswer {
    return refusal(
      'wrong-password',
      `${new URL(this.#deps.pds).host} does not know this password: use an app password of your account, or a whole token`,
    )
  }

  async #updateAttempts(change: (attempts: SignInAttempts) => SignInAttempts): Promise<void> {
    const { store } = this.#deps
    await store.put('attempts', change((await store.get<SignInAttempts>('attempts')) ?? NO_ATTEMPTS))
  }

  /** Signs in and keeps the session under a new credential. @returns its id */
  async #openSession(password: string): Promise<string> {
    const { did, pds, client, now } = this.#deps
    const session = await client.createSession({ identifier: did, password })
    if (session.did !== did)
      throw new PdsError(new URL(pds).host, 200, 'InvalidResponse', 'a session of another account', null)
    const verifier = await deriveVerifier(password, await this.#salt())
    const credential = { id: randomUUID(), pds, verifier, session: await this.#seal(session), usedAt: now() }
    await this.#saveCredentials((others) => [
      credential,
      ...others.filter((other) => !verifiersMatch(other.verifier, verifier)),
    ])
    this.#remember(credential.id, password)
    return credential.id
  }

  /**
   * One at a time, each reading what the one before has left: a refresh token that is sent twice ends the session.
   *
   * @param stale the access token that was refused: another caller may have replaced it already
   */
  #refresh(stale: string): Promise<string> {
    return this.#serial.run('refresh', async () => {
      const credential = await this.#credential()
      const tokens = await this.#unseal(credential)
      if (tokens === null) return this.#reopen(credential)
      return tokens.accessJwt === stale ? this.#renew(credential, tokens) : tokens.accessJwt
    })
  }

  async #renew(credential: Credential, tokens: Tokens): Promise<string> {
    try {
      const session = await this.#deps.client.refreshSession(tokens.refreshJwt)
      const sealed = await this.#seal(session)
      await this.#saveCredentials((all) =>
        all.map((one) => (one.id === credential.id ? { ...one, session: sealed } : one)),
      )
      return session.accessJwt
    } catch (fault) {
      if (!(fault instanceof PdsError && fault.isTokenRefused)) throw fault
      return this.#reopen(credential)
    }
  }

  /** The session is dead, or sealed under a key of the past: with the password still at hand a new one, else the password has to be asked for again. */
  async #reopen({ id }: Credential): Promise<string> {
    await this.#forget(id)
    const remembered = this.#passwords.get(id)
    this.#passwords.delete(id)
    const { pds, now } = this.#deps
    if (!remembered || remembered.until <= now()) throw new SessionEndedError(new URL(pds).host)
    const answer = await this.authenticate(remembered.password)
    if (!answer.ok) throw new SessionEndedError(new URL(pds).host)
    const tokens = await this.#unseal(await this.#credential())
    if (tokens === null) throw new SessionEndedError(new URL(pds).host)
    return tokens.accessJwt
  }

  #remember(id: string, password: string): void {
    this.#current = id
    const now = this.#deps.now()
    for (const [other, { until }] of this.#passwords) if (until <= now) this.#passwords.delete(other)
    this.#passwords.set(id, { password, until: now + REMEMBER_PASSWORD })
  }

  async #credential(): Promise<Credential> {
    const credentials = await this.#credentials()
    const credential = credentials.find(({ id }) => id === this.#current) ?? credentials[0]
    if (!credential) throw new SessionEndedError(new URL(this.#deps.pds).host)
    return credential
  }

  /** Null if it was sealed under another key: the operator has changed the secret. */
  async #unseal({ session }: Credential): Promise<Tokens | null> {
    return (await unseal(this.#deps.sealingKey, this.#deps.did, session)) as Tokens | null
  }

  #seal({ accessJwt, refreshJwt }: PdsSession): Promise<string> {
    const lifetime = jwtLifetime(accessJwt)
    const tokens: Tokens = { accessJwt, refreshJwt, endsAt: lifetime === null ? null : this.#deps.now() + lifetime }
    return seal(this.#deps.sealingKey, this.#deps.did, tokens)
  }

  /** Those at this PDS, the last used first: an account that has moved signs in again. */
  async #credentials(): Promise<Credential[]> {
    const all = (await this.#deps.store.get<Credential[]>('credentials')) ?? []
    return all.filter(({ pds }) => pds === this.#deps.pds)
  }

  async #saveCredentials(change: (credentials: Credential[]) => Credential[]): Promise<void> {
    await this.#deps.store.put('credentials', change(await this.#credentials()).slice(0, MAX_CREDENTIALS))
  }

  async #forget(id: string): Promise<void> {
    await this.#saveCredentials((all) => all.filter((one) => one.id !== id))
  }

  async #salt(): Promise<string> {
    const { store } = this.#deps
    const kept = await store.get<string>('salt')
    if (kept !== undefined) return kept
    const salt = createSalt()
    await store.put('salt', salt)
    return salt
  }
}

/** createSession answers 401 for other reasons too, each with a name of its own. */
function isWrongPassword(fault: unknown): boolean {
  return fault instanceof PdsError && fault.status === 401 && ['AuthenticationRequired', ''].includes(fault.error)
}

/** How long a JWT is good for by its own account, in milliseconds, whatever the host's clock; null if it does not say. */
function jwtLifetime(jwt: string): number | null {
  const payload = parseJson(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
  if (!isObject(payload) || typeof payload.exp !== 'number' || typeof payload.iat !== 'number') return null
  return (payload.exp - payload.iat) * 1000
}
