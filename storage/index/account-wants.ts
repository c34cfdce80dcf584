import { and, asc, count, eq, lte, type SQL, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import { runBatch } from '../d1-batch.ts'
import { inParts } from '../d1-rows.ts'
import type { AccountWant, WantQueue } from './index-types.ts'
import { accountWants } from './tables.ts'

/** Accounts that are to be listed, in D1. */
export class AccountWants implements WantQueue {
  readonly #db: DrizzleD1Database

  constructor(db: DrizzleD1Database) {
    this.#db = db
  }

  async want(dids: readonly string[], reason: string, now: number): Promise<void> {
    const rows = [...new Set(dids)].map((did) => [did, reason])
    await runBatch(
      this.#db,
      inParts(rows).map((part) => wantEach(sql`${part}`, now)),
    )
  }

  async due(now: number, limit: number): Promise<AccountWant[]> {
    return this.#db
      .select()
      .from(accountWants)
      .where(lte(accountWants.dueAt, now))
      .orderBy(asc(accountWants.dueAt), asc(accountWants.did))
      .limit(limit)
  }

  async find(did: string): Promise<AccountWant | null> {
    return (await this.#db.select().from(accountWants).where(eq(accountWants.did, did)).get()) ?? null
  }

  async done(did: string, wantedAt: number): Promise<boolean> {
    const done = and(eq(accountWants.did, did), eq(accountWants.wantedAt, wantedAt))
    const { meta } = await this.#db.delete(accountWants).where(done)
    return meta.changes > 0
  }

  async begin(did: string, now: number, until: number): Promise<AccountWant | null> {
    const [begun] = await this.#db
      .update(accountWants)
      .set({ tries: sql`${accountWants.tries} + 1`, dueAt: dueAfterTry(now, until) })
      .where(and(eq(accountWants.did, did), lte(accountWants.dueAt, now)))
      .returning()
    return begun ?? null
  }

  async putOff(did: string, dueAt: number, reason: string): Promise<void> {
    await this.#db
      .update(accountWants)
      .set({ dueAt, reason: reason.slice(0, MAX_REASON).toWellFormed() })
      .where(eq(accountWants.did, did))
  }

  async countDue(now: number): Promise<number> {
    const row = await this.#db.select({ wants: count() }).from(accountWants).where(lte(accountWants.dueAt, now)).get()
    return row?.wants ?? 0
  }

  async count(): Promise<number> {
    const row = await this.#db.select({ wants: count() }).from(accountWants).get()
    return row?.wants ?? 0
  }
}

const MAX_REASON = 500
/** So often it is twice as long until an account is due whose listings are killed: of a quarter of an hour it becomes five days. */
const MAX_DOUBLINGS = 9

/** When an account is due again whose listing has begun and may be killed. @param until when it would be cut off */
function dueAfterTry(now: number, until: number): SQL {
  return sql`${now} + ${until - now} * (1 << min(${accountWants.tries}, ${MAX_DOUBLINGS}))`
}

export interface WantOptions {
  /** Which elements are meant. Default all. */
  readonly condition?: SQL
  /** Defaults: the first and the second value of an element. */
  readonly did?: SQL
  readonly reason?: SQL
}

/**
 * Wants accounts. One that is wanted already is wanted anew: who is about to list it has to come again.
 *
 * @param elements a JSON array, whose elements the options call `e.value`
 * @param now milliseconds since 1970
 */
export function wantEach(elements: SQL, now: number, options: WantOptions = {}): SQL {
  const { condition = sql`true`, did = sql`e.value->>0`, reason = sql`e.value->>1` } = options
  return sql`insert into ${accountWants} (did, reason, wanted_at, due_at)
    select ${did}, ${reason}, ${now}, ${now} from json_each(${elements}) e where ${condition}
    on conflict (did) do update set wanted_at = max(excluded.wanted_at, account_wants.wanted_at + 1)`
}
