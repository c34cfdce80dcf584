import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1'
import { findRepositories } from '../atproto/account/find-repositories.ts'
import type { SigningKey } from '../atproto/identity/did-document.ts'
import type { Identity } from '../atproto/identity/identity.ts'
import { IdentityNotFoundError, IdentityUnavailableError, InvalidActorError } from '../atproto/identity/identity.ts'
import { MemoryIdentityCache } from '../atproto/identity/identity-cache.ts'
import { IdentityResolver } from '../atproto/identity/identity-resolver.ts'
import { createGuardedFetch } from '../atproto/network/guarded-fetch.ts'
import type { AccountWriter } from '../durable-objects/account-writer/account-writer.ts'
import { type Environment, mayMirror, readNetworkConfig, readSizeCaps } from '../durable-objects/environment.ts'
import type { LandingDeps } from '../durable-objects/landing/land-in-account.ts'
import { log } from '../durable-objects/log.ts'
import { blockedMessage, NOT_MIRRORED } from '../durable-objects/operator-words.ts'
import { createPdsClient } from '../durable-objects/pds-clients.ts'
import { Mirror, type MirroredAccount, type MirrorRole } from '../durable-objects/repository/mirror.ts'
import { type Room, roomOf } from '../durable-objects/size-caps.ts'
import { accountWriterOf } from '../durable-objects/stubs.ts'
import { D1IdentityCache } from '../storage/directory/identity-cache.ts'
import { ListedNames } from '../storage/directory/listed-names.ts'
import { type DirectoryEntry, RepositoryDirectory } from '../storage/directory/repository-directory.ts'
import {
  type AccountStanding,
  AccountStandings,
  findByHandle,
  KeptStandings,
  UNMIRRORED,
} from '../storage/index/account-standings.ts'
import { BlockStore, blockReason } from '../storage/operator/blocks.ts'
import { MirrorRegister } from '../storage/operator/mirror-register.ts'
import { HttpError } from './http/http-error.ts'
import { ActorMovedError } from './http/redirect-moved.ts'
import { wantAccount } from './indexer/want-account.ts'
import { repositoryNotFound } from './repository-access.ts'

/**
 * An account is listed at most this often because of names that it does not have: whoever asks for one sooner waits,
 * so that strangers who try names cannot use up what its PDS allows. Milliseconds.
 */
const LISTING_INTERVAL = 2_000
/** A listing older than this is made anew behind a reader's back: names may have changed elsewhere. Milliseconds. */
const LISTING_RECHECK = 60_000
/** When this isolate last began to list an account anew: of many who come at once, one does. */
const listings = new Map<string, number>()
const MAX_LISTINGS = 1_000

// What this isolate has read of D1: a request that comes soon after another does without.
const identities = new MemoryIdentityCache()
const listedNames = new ListedNames()
const standings = new KeptStandings()

/** An account that is not served is asked whether it is so still, for who asks for it. Milliseconds. */
const STATUS_RECHECK = 10 * 60_000

/** What is said of accounts that are not active, by their status. https://atproto.com/specs/account#account-status */
const STATUS_WORDS: Readonly<Record<string, readonly [code: string, why: string]>> = {
  deactivated: ['AccountDeactivated', 'is deactivated'],
  takendown: ['AccountTakedown', 'has been taken down by its host'],
  suspended: ['AccountSuspended', 'has been suspended by its host'],
  deleted: ['AccountDeleted', 'has been deleted'],
}

/** An account, and one of its repositories. */
export interface Located {
  readonly identity: Identity
  readonly entry: DirectoryEntry
}

/** What one request needs to find accounts and repositories. */
export class RequestContext {
  readonly environment: Environment
  readonly db: DrizzleD1Database
  readonly #execution: ExecutionContext
  readonly #identities: IdentityResolver
  readonly #directory: RepositoryDirectory
  readonly #standings: AccountStandings
  /** Who pushes is mostly the one to whose account it goes. */
  readonly #resolved = new Map<string, Promise<Identity>>()
  #queries = 0

  constructor(environment: Environment, execution: ExecutionContext) {
    this.environment = environment
    this.#execution = execution
    this.db = drizzle(environment.DB, { logger: { logQuery: () => this.#queries++ } })
    const { plcUrl, dnsUrl, handleResolverUrl, allowPrivateHosts } = readNetworkConfig(environment)
    this.#directory = new RepositoryDirectory(this.db, listedNames)
    this.#standings = new AccountStandings(this.db, standings)
    this.#identities = new IdentityResolver({
      fetch: createGuardedFetch({ allowPrivateHosts }),
      plcUrl,
      dnsUrl,
      allowPrivateHosts,
      cache: new D1IdentityCache(this.db, identities),
      ...(handleResolverUrl === null ? {} : { handleResolverUrl }),
    })
  }

  /** Statements that D1 was sent so far. */
  get queries(): number {
    return this.#queries
  }

  waitUntil(work: Promise<unknown>): void {
    this.#execution.waitUntil(work)
  }

  /** The object that writes to an account. */
  accountWriter(did: string): DurableObjectStub<AccountWriter> {
    return accountWriterOf(this.environment, did)
  }

  /** @param rkey of `dev.skein.repo` */
  mirror(account: MirroredAccount, rkey: string, role?: MirrorRole): Mirror {
    const waitUntil = (work: Promise<unknown>) => this.waitUntil(work)
    return new Mirror({ environment: this.environment, waitUntil }, account, rkey, role)
  }

  /** What a landing in the mirror's repository needs. */
  landingDeps(mirror: Mirror): LandingDeps {
    return {
      writer: this.accountWriter(mirror.address.did),
      mirror,
      noteRepository: (did, entry) => this.noteRepository(did, entry),
      waitUntil: (work) => this.waitUntil(work),
    }
  }

  /** @param actor a handle or a DID. @throws {@link HttpError} 403, 404, 410 or 503 */
  resolveActor(actor: string): Promise<Identity> {
    const resolved = this.#resolved.get(actor) ?? this.#resolve(actor)
    this.#resolved.set(actor, resolved)
    return resolved
  }

  /** As `IdentityResolver.readSigningKey`: read anew each time. */
  readSigningKey(did: string): Promise<SigningKey | null> {
    return this.#identities.readSigningKey(did)
  }

  async #resolve(actor: string): Promise<Identity> {
    const identity = await this.#identify(actor)
    await this.#requireActive(identity.did)
    return identity
  }

  async #identify(actor: string): Promise<Identity> {
    try {
      return await this.#identities.resolve(actor)
    } catch (error) {
      if (error instanceof InvalidActorError || error instanceof IdentityNotFoundError) {
        await this.#leadOn(actor)
        throw new HttpError(404, 'ActorNotFound', `account not found: ${error.message}`)
      }
      if (error instanceof IdentityUnavailableError) {
        throw new HttpError(503, 'UpstreamUnavailable', error.message, { 'Retry-After': '10' })
      }
      throw error
    }
  }

  /** @param actor one that leads to nobody. @throws {@link ActorMovedError}, and as `#requireActive` */
  async #leadOn(actor: string): Promise<void> {
    const handle = actor.toLowerCase()
    const account = await findByHandle(this.db, handle)
    if (account === null) return
    this.#refuseInactive(account.did, account)
    if (account.handle !== handle) throw new ActorMovedError(actor, account.handle ?? account.did)
  }

  /** What the network has said of the account holds here too. @throws {@link HttpError} 403, 410 */
  async #requireActive(did: string): Promise<void> {
    const standing = await this.#standings.of(did)
    if (standing !== null) this.#refuseInactive(did, standing)
  }

  #refuseInactive(did: string, { status, statusAt }: AccountStanding): void {
    if (status === 'active') return
    if (status === UNMIRRORED) {
      // It is refused where its repositories are looked for; unless it is on the operator's list by now.
      if (mayMirror(this.environment, did)) this.waitUntil(wantAccount(this.environment, did, `${status} before`))
      return
    }
    // That it is back may not have been heard.
    if (Date.now() - statusAt > STATUS_RECHECK) this.waitUntil(wantAccount(this.environment, did, `${status} before`))
    const [code, why] = STATUS_WORDS[status] ?? ['AccountInactive', 'is not active']
    throw new HttpError(status === 'deleted' ? 410 : 403, code, `the account ${did} ${why}, so it is not served here`)
  }

  /** A repository by account and name. @throws {@link HttpError} 404 or 503 */
  async locate(actor: string, name: string): Promise<Located> {
    const identity = await this.resolveActor(actor)
    const entry = await this.findRepository(identity, name)
    if (entry === null) throw repositoryNotFound({ actor, name })
    return { identity, entry }
  }

  /** A repository of an account by its name, or null if the account has none of that name. */
  async findRepository(identity: Identity, name: string): Promise<DirectoryEntry | null> {
    const asked = Date.now()
    const known = await this.findListed(identity, name)
    if (known !== null) return known
    const listedAt = await this.#directory.listedAt(identity.did)
    if (listedAt >= asked) return null
    await wait(listedAt + LISTING_INTERVAL - Date.now())
    if ((await this.#directory.listedAt(identity.did)) < asked) await this.#list(identity)
    return this.#directory.find(identity.did, name)
  }

  /**
   * The same for a writer, whom the account itself tells in the end: one that does not mind if a repository that was
   * created elsewhere a moment ago is not seen, and does not wait.
   */
  async findListed(identity: Identity, name: string): Promise<DirectoryEntry | null> {
    this.#requireMirrored(identity)
    const atHand = this.#directory.atHand(identity.did, name)
    if (atHand !== null && Date.now() - atHand.listedAt <= LISTING_RECHECK) return atHand.entry
    const { entry, listedAt } = await this.#directory.lookUp(identity.did, name)
    const age = Date.now() - listedAt
    if (entry !== null) {
      if (age > LISTING_RECHECK) this.waitUntil(this.#listQuietly(identity))
      return entry
    }
    if (age < LISTING_INTERVAL) return null
    await this.#list(identity)
    return this.#directory.find(identity.did, name)
  }

  /** All repositories of an account that are served here, oldest first. @throws {@link HttpError} 403 where none is */
  async listRepositories(identity: Identity): Promise<DirectoryEntry[]> {
    this.#requireMirrored(identity)
    const [listedAt, blocks] = await Promise.all([
      this.#directory.listedAt(identity.did),
      new BlockStore(this.db).of(identity.did),
    ])
    if (blocks.account !== null) throw blocked(blocks.account)
    if (Date.now() - listedAt > LISTING_INTERVAL) await this.#list(identity)
    const all = await this.#directory.list(identity.did)
    return all.filter(({ rkey }) => blockReason(blocks, rkey) === null)
  }

  /** For what does not ask the mirror, which knows it. @throws {@link HttpError} 403 where it is blocked */
  async requireServed({ identity: { did }, entry: { rkey } }: Located): Promise<void> {
    const reason = blockReason(await new BlockStore(this.db).of(did), rkey)
    if (reason !== null) throw blocked(reason)
  }

  /** The same of an account. @throws {@link HttpError} 403 where it is blocked */
  async requireAccountServed({ did }: Identity): Promise<void> {
    const { account } = await new BlockStore(this.db).of(did)
    if (account !== null) throw blocked(account)
  }

  /** @throws {@link HttpError} 403 */
  #requireMirrored({ did }: Identity): void {
    if (!mayMirror(this.environment, did)) throw new HttpError(403, 'NotServed', NOT_MIRRORED)
  }

  /** How large a new repository of an account may be; null: there is no cap. */
  async roomForNew(did: string): Promise<Room | null> {
    const caps = readSizeCaps(this.environment)
    const others = caps.account === null ? 0 : await new MirrorRegister(this.db).bytesOf(did)
    return roomOf(caps, { repository: 0, others })
  }

  /** A repository of an account by its record key. */
  async getRepository(identity: Identity, rkey: string): Promise<DirectoryEntry | null> {
    this.#requireMirrored(identity)
    const known = await this.#directory.get(identity.did, rkey)
    if (known !== null) return known
    return (await this.listRepositories(identity)).find((entry) => entry.rkey === rkey) ?? null
  }

  /** Notes a repository that was created through the edge. */
  async noteRepository(did: string, entry: DirectoryEntry): Promise<void> {
    await this.#directory.put(did, entry)
  }

  async #list(identity: Identity): Promise<void> {
    const startedAt = Date.now()
    const client = createPdsClient(this.environment, identity.pds)
    const repositories = await findRepositories(client, identity.did, ({ uri, reason }) => {
      log('record-skipped', { uri, reason })
    })
    await this.#directory.replace(identity.did, repositories, startedAt, identity)
  }

  async #listQuietly(identity: Identity): Promise<void> {
    const startedAt = listings.get(identity.did) ?? 0
    if (Date.now() - startedAt < LISTING_INTERVAL) return
    listings.set(identity.did, Date.now())
    if (listings.size > MAX_LISTINGS) listings.delete(listings.keys().next().value!)
    try {
      await this.#list(identity)
    } catch (error) {
      log('listing-failed', { did: identity.did, reason: String(error) })
    }
  }
}

function blocked(reason: string): HttpError {
  return new HttpError(403, 'Blocked', blockedMessage(reason))
}

async function wait(milliseconds: number): Promise<void> {
  if (milliseconds > 0) await new Promise((resolve) => setTimeout(resolve, milliseconds))
}
