import { and, count, eq, isNull, lt, lte, type SQL, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import { runBatch } from '../d1-batch.ts'
import { inParts } from '../d1-rows.ts'
import type { AccountWant, WantedAccount, WantQueue } from './index-types.ts'
import { notePause, PAUSES_KEPT_FOR, pauseEnd } from './listing-pauses.ts'
import { accounts, accountWants, listingPauses } from './tables.ts'

/** Accounts of one host that are listed at the same time: others have theirs listed meanwhile. */
const AT_WORK_PER_HOST = 4
/** Those whose host is not known are taken in turn with those of each host as if they were of so many. */
const UNKNOWN_HOSTS = 25
const MAX_REASON = 500

/** Accounts that are to be listed, in D1. */
export class AccountWants implements WantQueue {
  readonly #db: DrizzleD1Database

  constructor(db: DrizzleD1Database) {
    this.#db = db
  }

  async want(dids: readonly string[], reason: string, now: number, isUrgent = false): Promise<WantedAccount[]> {
    const parts = inParts([...new Set(dids)].map((did) => [did, reason]))
    const reads = parts.map(readWants)
    const wants = parts.map((part) => wantEach(sql`${part}`, now, { isUrgent }))
    const results = await runBatch(this.#db, [...reads, ...wants, ...reads])
    return newlyWanted(results.slice(0, reads.length), results.slice(reads.length + wants.length))
  }

  async due(now: number, limit: number): Promise<WantedAccount[]> {
    const { did, dueAt, host } = accountWants
    // Per host, and in the end those that are the first of theirs before all that are the second.
    const turn = sql`row_number() over (partition by ${host} order by ${dueAt}, ${did})`
    return this.#db.all<WantedAccount>(
      sql`select did, dueAt from (
          select ${did} as did, ${dueAt} as dueAt,
            case when ${host} is null then (${turn} - 1) / ${sql.raw(`${UNKNOWN_HOSTS}`)} else ${turn} - 1 end as turn
          from ${accountWants} where ${dueAt} <= ${now})
        where turn < ${AT_WORK_PER_HOST} order by turn, dueAt, did limit ${limit}`,
    )
  }

  async next(host: string | null, now: number): Promise<string | null> {
    const isOfHost = host === null ? isNull(accountWants.host) : eq(accountWants.host, host)
    const row = await this.#db
      .select({ did: accountWants.did })
      .from(accountWants)
      .where(and(isOfHost, lte(accountWants.dueAt, now)))
      .orderBy(accountWants.dueAt)
      .limit(1)
      .get()
    return row?.did ?? null
  }

  async done(did: string, wantedAt: number): Promise<boolean> {
    const done = and(eq(accountWants.did, did), eq(accountWants.wantedAt, wantedAt))
    const { meta } = await this.#db.delete(accountWants).where(done)
    return meta.changes > 0
  }

  async begin(did: string, now: number, until: number): Promise<AccountWant | null> {
    const isBegun = sql`exists (select 1 from ${accountWants} where did = ${did} and at_work_until = ${until})`
    const hasRoom = sql`(host is null or ${atWork(sql`account_wants.host`, now)} < ${AT_WORK_PER_HOST})`
    const [begun, , pause] = await runBatch(this.#db, [
      sql`update ${accountWants} set tries = tries + 1, due_at = ${dueAfterTry(now, until)}, at_work_until = ${until}
        where did = ${did} and due_at <= ${now} and ${hasRoom}
        returning did, reason, wanted_at as wantedAt, tries, host`,
      notePause(did, now, isBegun),
      sql`select ${pauseEnd(sql`${did}`)} as nextAt`,
    ])
    const [want] = begun!.results as Omit<AccountWant, 'nextAt'>[]
    const [{ nextAt }] = pause!.results as [Pick<AccountWant, 'nextAt'>]
    return want === undefined ? null : { ...want, nextAt }
  }

  async place(did: string, host: string, now: number): Promise<boolean> {
    const [, , room] = await runBatch(this.#db, [
      sql`update ${accountWants} set host = ${host} where did = ${did}`,
      // Those that were there first stay.
      sql`update ${accountWants} set due_at = ${now}, at_work_until = 0, tries = tries - 1
        where did = ${did} and ${atWork(sql`${host}`, now)} > ${AT_WORK_PER_HOST}`,
      sql`select 1 from ${accountWants} where did = ${did} and at_work_until > ${now}`,
    ])
    return room!.results.length > 0
  }

  async renew(did: string, dueAt: number): Promise<void> {
    await this.#db.update(accountWants).set({ dueAt, atWorkUntil: 0, tries: 0 }).where(eq(accountWants.did, did))
  }

  async putOff(did: string, dueAt: number, reason: string): Promise<void> {
    await this.#db
      .update(accountWants)
      .set({ dueAt, atWorkUntil: 0, reason: reason.slice(0, MAX_REASON).toWellFormed() })
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

  /** Forgets when accounts were listed that may be listed by now anyway. @param now milliseconds since 1970 */
  async prune(now: number): Promise<void> {
    await this.#db.delete(listingPauses).where(lt(listingPauses.listedAt, now - PAUSES_KEPT_FOR))
  }
}

/** How many accounts of a host are being listed. */
function atWork(host: SQL, now: number): SQL {
  return sql`(select count(*) from ${accountWants} w where w.host = ${host} and w.at_work_until > ${now})`
}

/** So often it is twice as long until an account is due whose listings are killed: of a quarter of an hour it becomes five days. */
const MAX_DOUBLINGS = 9

/** When an account is due again whose listing has begun and may be killed. @param until when it would be cut off */
function dueAfterTry(now: number, until: number): SQL {
  return sql`${now} + ${until - now} * (1 << min(tries, ${sql.raw(`${MAX_DOUBLINGS}`)}))`
}

export interface WantOptions {
  /** Which rows are meant. Default all. */
  readonly condition?: SQL
  /** See `WantQueue.want`. Default false. */
  readonly isUrgent?: boolean
}

/**
 * Wants accounts. One that is wanted already is wanted anew: who is about to list it has to come again.
 *
 * @param rows a JSON array of rows that begin with a DID and a reason, of which `condition` speaks as `e.value`
 * @param now milliseconds since 1970
 */
export function wantEach(rows: SQL, now: number, { condition = sql`true`, isUrgent = false }: WantOptions = {}): SQL {
  const dueAt = isUrgent ? sql`${now}` : sql`max(${now}, ${pauseEnd(sql`e.value->>0`)})`
  const soon = sql`due_at = case when at_work_until > ${now} then due_at else min(due_at, ${now}) end`
  const host = sql`(select ${accounts.pds} from ${accounts} where ${accounts.did} = e.value->>0)`
  return sql`insert into ${accountWants} (did, reason, wanted_at, due_at, host)
    select e.value->>0, e.value->>1, ${now}, ${dueAt}, ${host} from json_each(${rows}) e where ${condition}
    on conflict (did) do update set wanted_at = max(excluded.wanted_at, account_wants.wanted_at + 1)${isUrgent ? sql`, ${soon}` : sql``}`
}

/** Which of some accounts are wanted. @param rows as of {@link wantEach} */
export function readWants(rows: string): SQL {
  return sql`select ${accountWants.did} as did, ${accountWants.dueAt} as dueAt
    from json_each(${rows}) e cross join ${accountWants} where ${accountWants.did} = e.value->>0`
}

/** Those that are wanted, and were not, or not so soon. @param before what {@link readWants} has given, as `after` */
export function newlyWanted(before: readonly D1Result[], after: readonly D1Result[]): WantedAccount[] {
  const wantsOf = (results: readonly D1Result[]) => results.flatMap((result) => result.results as WantedAccount[])
  const known = new Map(wantsOf(before).map(({ did, dueAt }) => [did, dueAt]))
  return wantsOf(after).filter(({ did, dueAt }) => dueAt < (known.get(did) ?? Number.POSITIVE_INFINITY))
}
