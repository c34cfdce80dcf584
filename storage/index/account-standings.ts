import { desc, eq } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import { LruCache } from '../../git/bytes/lru-cache.ts'
import { accounts, formerHandles } from './tables.ts'

/** The status of an account that the operator has not mirrored here (any more), whatever its host says. */
export const UNMIRRORED = 'unmirrored'

/** Whether an account is served, as far as the index has heard. */
export interface AccountStanding {
  /** `active`, or why not. */
  readonly status: string
  /** When it was so, in milliseconds since 1970. */
  readonly statusAt: number
}

/** For how long an isolate goes by what it has read. Milliseconds; as for names. */
const KEPT_FOR = 10_000
/** Accounts of which an isolate keeps it. */
const KEPT = 10_000

/** What an isolate has read of accounts a moment ago. */
export class KeptStandings {
  readonly #kept = new LruCache<string, { readonly standing: AccountStanding | null; readonly until: number }>(
    KEPT,
    () => 1,
  )

  /** Undefined: it is not kept. */
  get(did: string): AccountStanding | null | undefined {
    const kept = this.#kept.get(did)
    return kept === undefined || kept.until <= Date.now() ? undefined : kept.standing
  }

  keep(did: string, standing: AccountStanding | null, readAt: number): void {
    this.#kept.set(did, { standing, until: readAt + KEPT_FOR })
  }
}

/** What the index knows of accounts themselves. */
export class AccountStandings {
  readonly #db: DrizzleD1Database
  readonly #kept: KeptStandings

  /** @param kept what the isolate has read so far */
  constructor(db: DrizzleD1Database, kept = new KeptStandings()) {
    this.#db = db
    this.#kept = kept
  }

  /** Null: it has heard nothing of the account. */
  async of(did: string): Promise<AccountStanding | null> {
    const kept = this.#kept.get(did)
    if (kept !== undefined) return kept
    const readAt = Date.now()
    const row = await this.#db
      .select({ status: accounts.status, statusAt: accounts.statusAt })
      .from(accounts)
      .where(eq(accounts.did, did))
      .get()
    this.#kept.keep(did, row ?? null, readAt)
    return row ?? null
  }
}

/** An account that a handle leads to. */
export interface HandleHolder extends AccountStanding {
  readonly did: string
  /** The one that it has now. */
  readonly handle: string | null
}

/**
 * The account that has a handle as far as the index knows, or else the one that had it last: served or not, as hosts do not
 * know handles of accounts that are not active. Null: there is none.
 *
 * @param handle in lower case
 */
export async function findByHandle(db: DrizzleD1Database, handle: string): Promise<HandleHolder | null> {
  const { did, status, statusAt } = accounts
  const columns = { did, handle: accounts.handle, status, statusAt }
  const [[present], [former]] = await db.batch([
    db.select(columns).from(accounts).where(eq(accounts.handle, handle)).limit(1),
    db
      .select(columns)
      .from(formerHandles)
      .innerJoin(accounts, eq(did, formerHandles.did))
      .where(eq(formerHandles.handle, handle))
      .orderBy(desc(formerHandles.until))
      .limit(1),
  ])
  return present ?? former ?? null
}
