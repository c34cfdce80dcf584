import { and, eq, isNull, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import { reconciles } from './tables.ts'

/** A listing of all accounts, page by page. */
export interface Reconcile {
  /** Who lists them: a relay's origin, or what the operator calls the list. */
  readonly source: string
  /** Of the next page; null: the first one. */
  readonly cursor: string | null
  /** Accounts so far. */
  readonly accounts: number
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** Null: it goes on. */
  readonly finishedAt: number | null
}

/** How far listings of all accounts have come, in D1: one that is cut off goes on from there. */
export class Reconciles {
  readonly #db: DrizzleD1Database

  constructor(db: DrizzleD1Database) {
    this.#db = db
  }

  /** Begins anew, also where one goes on. @param now milliseconds since 1970 */
  async start(source: string, now: number): Promise<void> {
    const row = { cursor: null, accounts: 0, startedAt: now, finishedAt: null }
    await this.#db
      .insert(reconciles)
      .values({ source, ...row })
      .onConflictDoUpdate({ target: reconciles.source, set: row })
  }

  /**
   * Notes that a page is done: its accounts are wanted.
   *
   * @param accounts how many it had
   * @param cursor of the next page; null: it was the last one
   * @returns false: somebody else has done it, or has begun anew
   */
  async advance(
    { source, cursor: from, startedAt }: Pick<Reconcile, 'source' | 'cursor' | 'startedAt'>,
    accounts: number,
    cursor: string | null,
    now: number,
  ): Promise<boolean> {
    const isThere = and(
      eq(reconciles.source, source),
      eq(reconciles.startedAt, startedAt),
      isNull(reconciles.finishedAt),
      from === null ? isNull(reconciles.cursor) : eq(reconciles.cursor, from),
    )
    const { meta } = await this.#db
      .update(reconciles)
      .set({
        cursor,
        accounts: sql`${reconciles.accounts} + ${accounts}`,
        finishedAt: cursor === null ? now : null,
      })
      .where(isThere)
    return meta.changes > 0
  }

  async find(source: string): Promise<Reconcile | null> {
    return (await this.#db.select().from(reconciles).where(eq(reconciles.source, source)).get()) ?? null
  }

  /** All, in the order of their names: an operator has a few. */
  async list(): Promise<Reconcile[]> {
    return this.#db.select().from(reconciles).orderBy(reconciles.source)
  }
}
