import { eq, lte } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import type { Identity } from '../../atproto/identity/identity.ts'
import { type IdentityCache, MemoryIdentityCache } from '../../atproto/identity/identity-cache.ts'
import { identities } from './tables.ts'

/** For how long an isolate goes by what it has read or put there, in seconds: the index drops what has changed. */
const KEPT_FOR = 10

/** An {@link IdentityCache} that all isolates share. */
export class D1IdentityCache implements IdentityCache {
  readonly #db: DrizzleD1Database
  readonly #atHand: MemoryIdentityCache

  /** @param atHand what the isolate has read so far */
  constructor(db: DrizzleD1Database, atHand = new MemoryIdentityCache()) {
    this.#db = db
    this.#atHand = atHand
  }

  async get(actor: string): Promise<Identity | null> {
    const known = await this.#atHand.get(actor)
    if (known !== null) return known
    const row = await this.#db.select().from(identities).where(eq(identities.actor, actor)).get()
    if (row === undefined || row.expiresAt <= Date.now()) return null
    const identity = { did: row.did, handle: row.handle, pds: row.pds }
    await this.#keepAtHand(actor, identity, row.expiresAt)
    return identity
  }

  async put(actor: string, identity: Identity, ttl: number): Promise<void> {
    const row = { did: identity.did, handle: identity.handle, pds: identity.pds, expiresAt: Date.now() + ttl * 1000 }
    await this.#db
      .insert(identities)
      .values({ actor, ...row })
      .onConflictDoUpdate({ target: identities.actor, set: row })
    await this.#keepAtHand(actor, identity, row.expiresAt)
  }

  #keepAtHand(actor: string, identity: Identity, expiresAt: number): Promise<void> {
    return this.#atHand.put(actor, identity, Math.min((expiresAt - Date.now()) / 1000, KEPT_FOR))
  }

  /** Drops what has expired: strangers can have any number of actors looked up. */
  async prune(): Promise<void> {
    await this.#db.delete(identities).where(lte(identities.expiresAt, Date.now()))
  }
}
