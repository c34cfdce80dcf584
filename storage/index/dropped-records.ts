import { desc, type SQL, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import type { DroppedRecord } from './index-types.ts'
import { droppedRecords } from './tables.ts'

/** Of what a stranger wrote, so much is kept. UTF-16 units. */
const MAX_URI = 400
const MAX_REASON = 300
/** Reasons told apart in one collection: what differs beyond is counted as one. */
const MAX_REASONS = 200

export interface DroppedCount {
  readonly collection: string
  readonly reason: string
  readonly count: number
  /** at-uri of the last one. */
  readonly uri: string
  /** Milliseconds since 1970. */
  readonly droppedAt: number
}

/** A record that is not in the index, in words that can be stored and shown. */
export function droppedRecord(
  { did, collection, rkey }: { readonly did: string; readonly collection: string; readonly rkey: string },
  reason: string,
): DroppedRecord {
  return {
    uri: printable(`at://${did.slice(0, MAX_URI)}/${collection}/${rkey.slice(0, MAX_URI)}`, MAX_URI),
    collection,
    reason: printable(reason, MAX_REASON),
  }
}

/** How many records were not valid, and why, in D1. */
export class DroppedRecords {
  readonly #db: DrizzleD1Database

  constructor(db: DrizzleD1Database) {
    this.#db = db
  }

  /** How many records that was in all. */
  async total(): Promise<number> {
    const row = await this.#db
      .select({ dropped: sql<number>`coalesce(sum(${droppedRecords.count}), 0)` })
      .from(droppedRecords)
      .get()
    return row?.dropped ?? 0
  }

  /** The newest first. */
  async list(): Promise<DroppedCount[]> {
    return this.#db.select().from(droppedRecords).orderBy(desc(droppedRecords.droppedAt), droppedRecords.reason)
  }
}

/** The statement that counts them. @param now milliseconds since 1970 */
export function countDropped(dropped: readonly DroppedRecord[], now: number): SQL {
  const counts = new Map<string, [collection: string, reason: string, count: number, uri: string]>()
  for (const { collection, reason, uri } of dropped) {
    const kind = withoutContent(reason)
    const key = `${collection} ${kind}`
    const row = counts.get(key) ?? [collection, kind, 0, uri]
    row[2]++
    row[3] = uri
    counts.set(key, row)
  }
  const isKept = sql`exists (select 1 from ${droppedRecords} d where d.collection = e.value->>0 and d.reason = e.value->>1) or (select count(*) from ${droppedRecords} d where d.collection = e.value->>0) < ${MAX_REASONS}`
  return sql`insert into ${droppedRecords} (collection, reason, count, uri, dropped_at)
    select e.value->>0, case when ${isKept} then e.value->>1 else 'other' end, e.value->>2, e.value->>3, ${now} from json_each(${JSON.stringify([...counts.values()])}) e where true
    on conflict (collection, reason) do update set count = count + excluded.count, uri = excluded.uri, dropped_at = excluded.dropped_at`
}

/** A reason as it is for all records alike: names, numbers and ids are the record's own. A property is the lexicon's. */
function withoutContent(reason: string): string {
  return reason
    .replace(/must have the property "\w+"|"(?:[^"\\]|\\.)*"?/g, (text) => (text.startsWith('"') ? '…' : text))
    .replace(/\S{40,}/g, '…')
    .replace(/\d+/g, '#')
}

/** Cut, and without characters that do something. */
function printable(text: string, length: number): string {
  return text
    .slice(0, length)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{fffd}')
}
