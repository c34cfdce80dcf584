import { eq, lte } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import type { Identity } from '../../atproto/identity/identity.ts'
import type { IdentityCache } from '../../atproto/identity/identity-cache.ts'
import { identities } from './tables.ts'

/** An {@link IdentityCache} that all isolates share. */
export class D1IdentityCache implements IdentityCache {
  readonly #db: DrizzleD1Database

  constructor(db: DrizzleD1Database) {
    this.#db = db
  }

  async get(actor: string): Promise<Identity | null> {
    const row = await this.#db.select().from(identities).where(eq(identities.actor, actor)).get()
    if (row === undefined || row.expiresAt <= Date.now()) return null
    return { did: row.did, handle: row.handle, pds: row.pds }
  }

  async put(actor: string, identity: Identity, ttl: number): Promise<void> {
    const row = { did: identity.did, handle: identity.handle, pds: identity.pds, expiresAt: Date.now() + ttl * 1000 }
    await this.#db
      .insert(identities)
      .values({ actor, ...row })
      .onConflictDoUpdate({ target: identities.actor, set: row })
  }

  /** Drops what has expired: strangers can have any number of actors looked up. */
  async prune(): Promise<void> {
    await this.#db.delete(identities).where(lte(identities.expiresAt, Date.now()))
  }
}
