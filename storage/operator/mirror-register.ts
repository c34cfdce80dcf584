import { and, asc, eq, gt, lt, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import type { RepositoryKey } from '../repository-key.ts'
import { type AccountBlocks, accountBlocks, selectBlocks } from './blocks.ts'
import { mirrors, mirrorTotals } from './tables.ts'

/** What an object tells of its mirror. */
export interface MirrorNote extends RepositoryKey {
  /** Of the packs that the account has of the repository. */
  readonly bytes: number
  /** When somebody last read or wrote it, in milliseconds since 1970. */
  readonly usedAt: number
}

/** What it is told. */
export interface OperatorView {
  readonly blocks: AccountBlocks
  /** Of the account's other mirrors. */
  readonly othersBytes: number
}

export interface MirrorTotals {
  readonly mirrors: number
  readonly bytes: number
}

/** Which mirrors there are, how large they are, and when they were last used: in D1, for all that looks at several. */
export class MirrorRegister {
  readonly #db: DrizzleD1Database

  constructor(db: DrizzleD1Database) {
    this.#db = db
  }

  /**
   * Writes down how a mirror is, and reads what the operator says of it, in one transaction: so whoever blocks something
   * either finds the mirror here, or is found by it.
   *
   * @param isNews false: the row says so already, and is not written
   */
  async exchange({ did, rkey, bytes, usedAt }: MirrorNote, isNews: boolean): Promise<OperatorView> {
    const others = this.#db
      .select({ bytes: sql<number>`coalesce(sum(${mirrors.bytes}), 0)` })
      .from(mirrors)
      .where(and(eq(mirrors.did, did), sql`${mirrors.rkey} <> ${rkey}`))
    const blocked = selectBlocks(this.#db, did)
    if (!isNews) {
      const [rows, [sum]] = await this.#db.batch([blocked, others])
      return { blocks: accountBlocks(rows), othersBytes: sum!.bytes }
    }
    const noted = this.#db
      .insert(mirrors)
      .values({ did, rkey, bytes, usedAt })
      .onConflictDoUpdate({ target: [mirrors.did, mirrors.rkey], set: { bytes, usedAt } })
    const [, rows, [sum]] = await this.#db.batch([noted, blocked, others])
    return { blocks: accountBlocks(rows), othersBytes: sum!.bytes }
  }

  /** A mirror has been dropped. */
  async remove({ did, rkey }: RepositoryKey): Promise<void> {
    await this.#db.delete(mirrors).where(and(eq(mirrors.did, did), eq(mirrors.rkey, rkey)))
  }

  /** Record keys of an account's mirrors, in order. @param after the last of the page before */
  async keysOf(did: string, limit: number, after = ''): Promise<string[]> {
    const rows = await this.#db
      .select({ rkey: mirrors.rkey })
      .from(mirrors)
      .where(and(eq(mirrors.did, did), gt(mirrors.rkey, after)))
      .orderBy(asc(mirrors.rkey))
      .limit(limit)
    return rows.map(({ rkey }) => rkey)
  }

  /** Bytes of all mirrors of an account. */
  async bytesOf(did: string): Promise<number> {
    const row = await this.#db
      .select({ bytes: sql<number>`coalesce(sum(${mirrors.bytes}), 0)` })
      .from(mirrors)
      .where(eq(mirrors.did, did))
      .get()
    return row?.bytes ?? 0
  }

  /** Those that were last used longest ago, before a time. */
  async unusedSince(time: number, limit: number): Promise<RepositoryKey[]> {
    return this.#db
      .select({ did: mirrors.did, rkey: mirrors.rkey })
      .from(mirrors)
      .where(lt(mirrors.usedAt, time))
      .orderBy(asc(mirrors.usedAt))
      .limit(limit)
  }

  async totals(): Promise<MirrorTotals> {
    const { mirrors: count, bytes } = mirrorTotals
    const row = await this.#db.select({ mirrors: count, bytes }).from(mirrorTotals).where(eq(mirrorTotals.id, 0)).get()
    return row ?? { mirrors: 0, bytes: 0 }
  }
}
