import { desc, eq, lt, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import type { DeadLetter } from './index-types.ts'
import { deadLetters } from './tables.ts'

/** For how long they can be looked at and replayed, in milliseconds. */
const KEPT_FOR = 30 * 24 * 60 * 60_000
const MAX_ERROR = 2_000

/** Messages of the Queue that failed time and again, in D1. */
export class DeadLetters {
  readonly #db: DrizzleD1Database

  constructor(db: DrizzleD1Database) {
    this.#db = db
  }

  /** @param payload JSON. @param now milliseconds since 1970 */
  async add(payload: string, error: string, now: number): Promise<void> {
    await this.#db.insert(deadLetters).values({ payload, error: error.slice(0, MAX_ERROR).toWellFormed(), diedAt: now })
  }

  /** The newest first. @param before id of the last one of the page before */
  async list(limit: number, before?: number): Promise<DeadLetter[]> {
    return this.#db
      .select()
      .from(deadLetters)
      .where(before === undefined ? undefined : lt(deadLetters.id, before))
      .orderBy(desc(deadLetters.id))
      .limit(limit)
  }

  /** Takes one out, to be replayed; null: there is none of that id. */
  async take(id: number): Promise<DeadLetter | null> {
    const [letter] = await this.#db.delete(deadLetters).where(eq(deadLetters.id, id)).returning()
    return letter ?? null
  }

  /** How many there are. */
  async count(): Promise<number> {
    const row = await this.#db.select({ letters: sql<number>`count(*)` }).from(deadLetters).get()
    return row?.letters ?? 0
  }

  /** Whether D1 takes what is written, now: something is written, and nobody sees it. It does not throw. */
  async canWrite(): Promise<boolean> {
    const nothing = { payload: '', error: '', diedAt: 0 }
    try {
      await this.#db.batch([
        this.#db.insert(deadLetters).values(nothing),
        this.#db.delete(deadLetters).where(sql`${deadLetters.id} = last_insert_rowid()`),
      ])
      return true
    } catch {
      return false
    }
  }

  /** Drops what is too old. @param now milliseconds since 1970 */
  async prune(now: number): Promise<void> {
    await this.#db.delete(deadLetters).where(lt(deadLetters.diedAt, now - KEPT_FOR))
  }
}
