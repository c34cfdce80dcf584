import { and, desc, eq, lt, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import { inParts } from '../d1-rows.ts'
import { landings, tokens } from './tables.ts'

/** One piece of work that landed on a branch, and who handed it in. */
export interface AuditedLanding {
  /** Names the piece of work, in all of the edge. */
  readonly ticket: string
  /** Account and record key of the repository. */
  readonly did: string
  readonly rkey: string
  /** Full name, `refs/heads/main`. */
  readonly ref: string
  /** Pieces of work that landed together have the same. */
  readonly landing: string
  /** Where the ref was after it; null: it was deleted. */
  readonly commit: string | null
  readonly kind: 'commit' | 'merge' | 'create' | 'delete' | 'push'
  /** DID of the account that acted. */
  readonly submitter: string
  /** Id of the token that it came with; null: it came without. */
  readonly token: string | null
  /** What the token was called; null: what it is called when the row is written. */
  readonly label: string | null
  /** Milliseconds since 1970. */
  readonly landedAt: number
}

/** For how long it is known who landed what, in milliseconds: a year, and a month to look at it. */
const KEPT_FOR = 400 * 24 * 60 * 60_000

/** Who put what on which branch, in D1. */
export class LandingAudit {
  readonly #db: DrizzleD1Database

  constructor(db: DrizzleD1Database) {
    this.#db = db
  }

  /** Writes rows down, all or none. Those whose tickets are there already are left as they are. */
  async record(rows: readonly AuditedLanding[]): Promise<void> {
    const values = rows.map((row) => [
      row.ticket,
      row.did,
      row.rkey,
      row.ref,
      row.landing,
      row.commit,
      row.kind,
      row.submitter,
      row.token,
      row.label,
      row.landedAt,
    ])
    const [first, ...others] = inParts(values).map((part) =>
      this.#db
        .insert(landings)
        .select(
          sql`select value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7, value->>8, coalesce(value->>9, (select ${tokens.label} from ${tokens} where ${tokens.id} = value->>8)), value->>10 from json_each(${part}) where true`,
        )
        .onConflictDoNothing(),
    )
    if (first !== undefined) await this.#db.batch([first, ...others])
  }

  /** What landed in a repository, newest first. */
  async list(did: string, rkey: string, limit: number): Promise<AuditedLanding[]> {
    const rows = await this.#db
      .select()
      .from(landings)
      .where(and(eq(landings.did, did), eq(landings.rkey, rkey)))
      .orderBy(desc(landings.landedAt), desc(landings.ticket))
      .limit(limit)
    // Only this class writes the table.
    return rows as AuditedLanding[]
  }

  /** Drops what is too old. @param now milliseconds since 1970 */
  async prune(now: number): Promise<void> {
    await this.#db.delete(landings).where(lt(landings.landedAt, now - KEPT_FOR))
  }
}
