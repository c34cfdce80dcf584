import { sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import type { StreamEvent } from '../../atproto/firehose/stream-event.ts'
import { runBatch } from '../d1-batch.ts'
import { forgetDeleted, noteAccounts, setStatus } from './account-rows.ts'
import { applyEvents } from './apply-events.ts'
import type { AccountSnapshot, ApplyOutcome, DroppedRecord, IndexWriter } from './index-types.ts'
import { REVS_KEPT_FOR } from './read-events.ts'
import { replaceStatements } from './replace-account.ts'
import { recordRevs } from './tables.ts'

/** Rows that go at once when old ones are dropped. */
const PRUNED_AT_ONCE = 5_000

/** The index of all accounts, in D1. A batch of events is one batch of a few statements, however many there are. */
export class IndexStore implements IndexWriter {
  readonly #db: DrizzleD1Database

  constructor(db: DrizzleD1Database) {
    this.#db = db
  }

  apply(events: readonly StreamEvent[], now: number): Promise<ApplyOutcome> {
    return applyEvents(this.#db, events, now)
  }

  async replaceAccount(snapshot: AccountSnapshot, now: number): Promise<readonly DroppedRecord[]> {
    const { statements, dropped } = replaceStatements(snapshot, now)
    await runBatch(this.#db, statements)
    return dropped
  }

  async forgetAccount(did: string, now: number): Promise<void> {
    await runBatch(this.#db, [
      noteAccounts(JSON.stringify([[did]])),
      setStatus({ did, status: 'deleted', time: now }),
      ...forgetDeleted(did),
    ])
  }

  /** Drops what no stream can bring back any more. @param now milliseconds since 1970 */
  async prune(now: number): Promise<void> {
    const oldest = sql`select rowid from ${recordRevs} where seen_at < ${now - REVS_KEPT_FOR} limit ${PRUNED_AT_ONCE}`
    for (let pruned = PRUNED_AT_ONCE; pruned === PRUNED_AT_ONCE; ) {
      const { meta } = await this.#db.run(sql`delete from ${recordRevs} where rowid in (${oldest})`)
      pruned = meta.changes
    }
  }
}
