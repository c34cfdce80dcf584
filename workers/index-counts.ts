import type { DrizzleD1Database } from 'drizzle-orm/d1'
import { AccountWants } from '../storage/index/account-wants.ts'
import { DeadLetters } from '../storage/index/dead-letters.ts'
import { DroppedRecords } from '../storage/index/dropped-records.ts'

/** What waits in the index, and what did not go into it. */
export interface IndexCounts {
  readonly accountsWanted: number
  /** Of those, the ones whose time has come. */
  readonly accountsDue: number
  readonly deadLetters: number
  readonly droppedRecords: number
}

/** Counts whole tables. @param now milliseconds since 1970 */
export async function readIndexCounts(db: DrizzleD1Database, now: number): Promise<IndexCounts> {
  const wants = new AccountWants(db)
  const [accountsWanted, accountsDue, deadLetters, droppedRecords] = await Promise.all([
    wants.count(),
    wants.countDue(now),
    new DeadLetters(db).count(),
    new DroppedRecords(db).total(),
  ])
  return { accountsWanted, accountsDue, deadLetters, droppedRecords }
}
