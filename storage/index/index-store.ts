import { type SQL, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import type { AccountEvent, StreamEvent } from '../../atproto/firehose/stream-event.ts'
import { REPO_COLLECTION } from '../../atproto/records/collections.ts'
import { CLOCK_SKEW, tidFromTime } from '../../atproto/records/tid.ts'
import { runBatch } from '../d1-batch.ts'
import { inParts } from '../d1-rows.ts'
import { identities, listings } from '../directory/tables.ts'
import { wantEach } from './account-wants.ts'
import { countDropped, droppedRecord } from './dropped-records.ts'
import type {
  AccountSnapshot,
  ApplyOutcome,
  DroppedRecord,
  IndexWriter,
  RepositoryKey,
  ResolvedAccount,
  SnapshotRecord,
} from './index-types.ts'
import type { IndexPlugin, RowValue } from './plugins/plugin.ts'
import { PLUGINS } from './plugins/plugins.ts'
import { decode, keyFault, type RecordChange, readEvents } from './read-events.ts'
import { currentRows, putRows, removeRows, rowValues } from './record-statements.ts'
import { accountRevs, accounts, accountWants, formerHandles, recordRevs } from './tables.ts'

/** For how long it is known which event of a record was the newest: longer than any upstream's backlog. Milliseconds. */
export const REVS_KEPT_FOR = 3 * 24 * 60 * 60_000
/** Rows that go at once when old ones are dropped. */
const PRUNED_AT_ONCE = 5_000

/** Statuses as they are stored are words; what is none is this. */
const INACTIVE = 'inactive'

interface RevRow {
  readonly did: string
  readonly collection: string
  readonly rkey: string
}

/** The index of all accounts, in D1. A batch of events is one batch of a few statements, however many there are. */
export class IndexStore implements IndexWriter {
  readonly #db: DrizzleD1Database

  constructor(db: DrizzleD1Database) {
    this.#db = db
  }

  async apply(events: readonly StreamEvent[], now: number): Promise<ApplyOutcome> {
    const { changes, dropped } = readEvents(
      events.filter((event) => event.kind === 'record'),
      now,
    )
    const statuses = newestStatuses(
      events.filter((event) => event.kind === 'account'),
      now,
    )
    const unclear = events.filter((event) => event.kind === 'identity' || event.kind === 'sync')
    const named = [...new Set([...changes.filter(({ isRecord }) => isRecord), ...statuses, ...unclear].map(didOf))]
    const steps = {
      accounts: inParts(unique(changes.filter(({ isRecord }) => isRecord).map(didOf))).flatMap((dids) => [
        wantUnknown(dids, now),
        noteAccounts(dids),
      ]),
      statuses: inParts(statuses.map(({ did, status, time }) => [did, status, time])).flatMap((rows) => [
        wantRevived(rows, now),
        setStatuses(rows),
      ]),
      unclear: inParts(unclear.map(({ did, kind }) => [did, `${kind} event`])).map((rows) =>
        wantEach(sql`${rows}`, now, { condition: IS_KNOWN }),
      ),
      revs: inParts(changes.map(({ did, plugin, rkey, rev }) => [did, plugin.collection, rkey, rev])).map((rows) =>
        noteRevs(rows, now),
      ),
      content: contentStatements(changes),
      deleted: inParts(statuses.filter(({ status }) => status === 'deleted').map(didOf)).flatMap((dids) =>
        forget(sql`${dids}`),
      ),
      dropped: dropped.length === 0 ? [] : [countDropped(dropped, now)],
      states: inParts(named).map(readStates),
    }
    const order = [
      ...steps.accounts,
      ...steps.statuses,
      ...steps.unclear,
      ...steps.revs,
      ...steps.content,
      ...steps.deleted,
      ...steps.dropped,
    ]
    const results = await runBatch(this.#db, [...order, ...steps.states])
    const revsAt = steps.accounts.length + steps.statuses.length + steps.unclear.length
    const applied = results.slice(revsAt, revsAt + steps.revs.length).flatMap(rowsOf<RevRow>)
    const states = results.slice(order.length).flatMap(rowsOf<AccountState>)
    const changed = new Set([...statuses, ...unclear].map(didOf))
    const known = states.filter(({ did }) => changed.has(did))
    const unknown = states.filter(({ resolvedAt, status }) => resolvedAt === 0 && status !== 'deleted')
    return {
      applied: applied.length,
      dropped,
      unknownAccounts: unknown.map(didOf),
      moved: movedBy(applied),
      wanted: unique([...known, ...unknown].filter(({ isWanted }) => isWanted === 1).map(didOf)),
      inactive: known.filter(({ status }) => status !== 'active').map(didOf),
      deleted: known.filter(({ status }) => status === 'deleted').map(didOf),
    }
  }

  async replaceAccount(snapshot: AccountSnapshot, now: number): Promise<readonly DroppedRecord[]> {
    const { did, handle, pds, isActive, listedAt } = snapshot
    // One that lies in the future would hold off all that follows.
    const latest = tidFromTime((listedAt + CLOCK_SKEW) * 1000, 0)
    const [rev] = [snapshot.rev, latest].toSorted() as [string, string]
    const status = { did, status: statusOf(snapshot), time: listedAt }
    const known = [
      ...putAccount({ did, handle, pds }, now),
      setStatuses(JSON.stringify([[did, status.status, status.time]])),
    ]
    if (!isActive) {
      const gone = status.status === 'deleted' ? forget(sql`${JSON.stringify([did])}`) : []
      await runBatch(this.#db, [...known, ...gone])
      return []
    }
    const { rows, dropped } = readSnapshot(did, snapshot.records)
    const isNewest = sql`exists (select 1 from ${accountRevs} where did = ${did} and rev = ${rev} and listed_at = ${listedAt})`
    const statements = [
      ...known,
      sql`insert into ${accountRevs} (did, rev, listed_at)
        select ${did}, ${rev}, ${listedAt} from ${accounts} where ${accounts.did} = ${did} and ${accounts.status} <> 'deleted'
        on conflict (did) do update set rev = excluded.rev, listed_at = excluded.listed_at
        where excluded.listed_at > account_revs.listed_at`,
      ...[...PLUGINS.values()].flatMap((plugin) =>
        replaceRows(plugin, { did, rev, listedAt }, rows.get(plugin.collection) ?? [], isNewest),
      ),
      sql`delete from ${recordRevs} where did = ${did} and rev <= ${rev} and ${isNewest}`,
      sql`insert into ${listings} (did, listed_at) select ${did}, ${listedAt} where ${isNewest}
        on conflict (did) do update set listed_at = max(listed_at, excluded.listed_at)`,
      ...(dropped.length === 0 ? [] : [countDropped(dropped, now)]),
    ]
    await runBatch(this.#db, statements)
    return dropped
  }

  async putAccount(account: ResolvedAccount, now: number): Promise<void> {
    await runBatch(this.#db, putAccount(account, now))
  }

  async forgetAccount(did: string, now: number): Promise<void> {
    const dids = JSON.stringify([did])
    const statements = [
      noteAccounts(dids),
      setStatuses(JSON.stringify([[did, 'deleted', now]])),
      ...forget(sql`${dids}`),
    ]
    await runBatch(this.#db, statements)
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

interface AccountState {
  readonly did: string
  readonly status: string
  readonly resolvedAt: number
  readonly isWanted: number
}

interface StatusChange {
  readonly did: string
  readonly status: string
  /** When it was so, in milliseconds since 1970. */
  readonly time: number
}

/** What a statement has returned. */
const rowsOf = <T>({ results }: D1Result): T[] => results as T[]
const didOf = ({ did }: { readonly did: string }): string => did
const unique = <T>(values: readonly T[]): T[] => [...new Set(values)]

function statusOf({ isActive, status }: { readonly isActive: boolean; readonly status: string | null }): string {
  if (isActive) return 'active'
  return status !== null && status !== 'active' && /^[a-z]{1,40}$/.test(status) ? status : INACTIVE
}

/** The newest of each account. A time that is yet to come would hold off all that follows. */
function newestStatuses(events: readonly AccountEvent[], now: number): StatusChange[] {
  const newest = new Map<string, StatusChange>()
  for (const event of events) {
    const change = { did: event.did, status: statusOf(event), time: Math.min(event.time, now) }
    const other = newest.get(event.did)
    if (other === undefined || isNewer(change, other)) newest.set(event.did, change)
  }
  return [...newest.values()]
}

/** Of two at one time either may be met first: what they say decides. */
function isNewer(one: StatusChange, other: StatusChange): boolean {
  return one.time === other.time ? one.status > other.status : one.time > other.time
}

const IS_KNOWN = sql`exists (select 1 from ${accounts} where did = e.value->>0)`
const IS_NEWER_STATUS = sql`(${accounts.statusAt}, ${accounts.status}) < (e.value->>2, e.value->>1)`

/** @param rows JSON of [did, status, time] */
function setStatuses(rows: string): SQL {
  return sql`update ${accounts} set status = e.value->>1, status_at = e.value->>2 from json_each(${rows}) e
    where ${accounts.did} = e.value->>0 and ${IS_NEWER_STATUS}`
}

/** Accounts that come back are listed: what was written meanwhile may not have been on the stream. */
function wantRevived(rows: string, now: number): SQL {
  const isRevived = sql`e.value->>1 = 'active' and exists (select 1 from ${accounts} where ${accounts.did} = e.value->>0 and ${accounts.status} <> 'active' and ${IS_NEWER_STATUS})`
  return wantEach(sql`${rows}`, now, { condition: isRevived, reason: sql`'active again'` })
}

/** An account that comes up for the first time has records of before. @param dids JSON */
function wantUnknown(dids: string, now: number): SQL {
  const isUnknown = sql`not exists (select 1 from ${accounts} where did = e.value)`
  return wantEach(sql`${dids}`, now, { condition: isUnknown, did: sql`e.value`, reason: sql`'new account'` })
}

/** @param dids JSON */
function noteAccounts(dids: string): SQL {
  return sql`insert into ${accounts} (did) select value from json_each(${dids}) where true on conflict do nothing`
}

/** @param dids JSON */
function readStates(dids: string): SQL {
  return sql`select ${accounts.did} as did, ${accounts.status} as status, ${accounts.resolvedAt} as resolvedAt,
      exists (select 1 from ${accountWants} w where w.did = ${accounts.did}) as isWanted
    from json_each(${dids}) e cross join ${accounts} where ${accounts.did} = e.value`
}

/** Takes down which events are the newest of their records. Of an account that was deleted, none is. */
function noteRevs(rows: string, now: number): SQL {
  return sql`insert into ${recordRevs} (did, collection, rkey, rev, seen_at)
    select e.value->>0, e.value->>1, e.value->>2, e.value->>3, ${now} from json_each(${rows}) e
    where not exists (select 1 from ${accountRevs} a where a.did = e.value->>0 and a.rev >= e.value->>3)
      and not exists (select 1 from ${accounts} c where c.did = e.value->>0 and c.status = 'deleted')
    on conflict (did, collection, rkey) do update set rev = excluded.rev, seen_at = excluded.seen_at
      where excluded.rev > record_revs.rev
    returning did, collection, rkey`
}

function contentStatements(changes: readonly RecordChange[]): SQL[] {
  const byPlugin = Map.groupBy(changes, ({ plugin }) => plugin)
  return [...byPlugin].flatMap(([plugin, own]) => {
    const [put, gone]: [unknown[], unknown[]] = [[], []]
    for (const { did, rkey, rev, values } of own) {
      if (values === null) gone.push([did, rkey, rev])
      else put.push([did, rkey, rev, ...values])
    }
    // First what is new: then most of what goes was not the newest of its repository any more.
    return [
      ...inParts(put).map((rows) => putRows(plugin, currentRows(plugin, rows))),
      ...inParts(gone).map((keys) => removeRows(plugin, keys)),
    ]
  })
}

function movedBy(applied: readonly RevRow[]): RepositoryKey[] {
  const moved = new Map<string, RepositoryKey>()
  for (const { did, collection, rkey } of applied) {
    const repo = PLUGINS.get(collection)?.movedBy(rkey) ?? null
    if (repo !== null) moved.set(`${did}/${repo}`, { did, rkey: repo })
  }
  return [...moved.values()]
}

type SnapshotRow = readonly [rkey: string, values: readonly RowValue[]]

/** The rows of an account by collection, sorted by record key as SQLite sorts. */
function readSnapshot(
  did: string,
  records: readonly SnapshotRecord[],
): { rows: Map<string, SnapshotRow[]>; dropped: DroppedRecord[] } {
  const dropped: DroppedRecord[] = []
  const rows = new Map<string, Map<string, readonly RowValue[]>>()
  for (const { collection, rkey, value } of records) {
    const plugin = PLUGINS.get(collection)
    if (plugin === undefined) continue
    const fault = keyFault(rkey)
    const outcome = fault === null ? decode(plugin, { rkey, value, isParked: false }) : { values: null, fault }
    if (outcome.fault !== null) dropped.push(droppedRecord({ did, collection, rkey }, outcome.fault))
    const own = rows.get(collection) ?? new Map<string, readonly RowValue[]>()
    rows.set(collection, own)
    if (outcome.values === null) own.delete(rkey)
    else own.set(rkey, outcome.values)
  }
  // Record keys are ASCII.
  const sorted = [...rows].map(
    ([collection, own]) => [collection, [...own].sort(([a], [b]) => (a < b ? -1 : 1))] as const,
  )
  return { rows: new Map(sorted), dropped }
}

/** Rows of an account that one statement replaces: their keys are one parameter, too. */
const REPLACED_AT_ONCE = 5_000

/** Makes a collection of an account what was listed, range by range of its record keys. */
function replaceRows(
  plugin: IndexPlugin,
  listing: Pick<AccountSnapshot, 'did' | 'rev' | 'listedAt'>,
  rows: readonly SnapshotRow[],
  isNewest: SQL,
): SQL[] {
  const { did, rev, listedAt } = listing
  const { table, collection } = plugin
  const isHeld = (rkey: SQL) =>
    sql`exists (select 1 from ${recordRevs} r where r.did = ${did} and r.collection = ${collection} and r.rkey = ${rkey} and r.rev > ${rev})`
  const isListedLater = sql`exists (select 1 from ${listings} l where l.did = ${did} and l.listed_at > ${listedAt})`
  // The directory lists repositories by itself.
  const mayReplace = collection === REPO_COLLECTION ? sql`${isNewest} and not ${isListedLater}` : isNewest
  const ranges = Array.from({ length: Math.max(1, Math.ceil(rows.length / REPLACED_AT_ONCE)) }, (_, i) =>
    rows.slice(i * REPLACED_AT_ONCE, (i + 1) * REPLACED_AT_ONCE),
  )
  return ranges.flatMap((range, i) => {
    const from = i === 0 ? '' : range[0]![0]
    const to = ranges[i + 1]?.[0]?.[0]
    const keys = JSON.stringify(range.map(([rkey]) => rkey))
    const isInRange = sql`${table.rkey} >= ${from}${to === undefined ? sql`` : sql` and ${table.rkey} < ${to}`}`
    return [
      sql`delete from ${table} where ${table.did} = ${did} and ${isInRange} and ${plugin.own ?? sql`true`}
        and ${table.rkey} not in (select value from json_each(${keys})) and ${mayReplace} and not ${isHeld(sql`${table.rkey}`)}`,
      ...inParts(range.map(([rkey, values]) => [did, rkey, rev, ...values])).map((part) =>
        putRows(
          plugin,
          sql`select e.value->>0, e.value->>1, ${rowValues(plugin)} from json_each(${part}) e where ${mayReplace} and not ${isHeld(sql`e.value->>1`)}`,
        ),
      ),
    ]
  })
}

function putAccount({ did, handle, pds }: ResolvedAccount, now: number): SQL[] {
  return [
    // It has been verified that the handle is this account's: so it is nobody else's any more.
    sql`update ${accounts} set handle = null, resolved_at = max(resolved_at, ${now}) where handle = ${handle} and did <> ${did}`,
    sql`insert into ${accounts} (did, handle, pds, resolved_at) values (${did}, ${handle}, ${pds}, ${now})
      on conflict (did) do update set handle = excluded.handle, pds = excluded.pds, resolved_at = excluded.resolved_at
      where excluded.resolved_at >= accounts.resolved_at`,
    sql`delete from ${identities} where actor in (${did}, ${handle})`,
    sql`delete from ${identities} where actor in (select handle from ${formerHandles} where did = ${did})`,
  ]
}

/** What is there of accounts that are deleted goes. @param dids JSON */
function forget(dids: SQL): SQL[] {
  const deleted = sql`select ${accounts.did} from json_each(${dids}) e cross join ${accounts} where ${accounts.did} = e.value and ${accounts.status} = 'deleted'`
  const tables = [...new Set([...PLUGINS.values()].map(({ table }) => table))]
  return [...tables, recordRevs, accountRevs, accountWants, formerHandles, listings].map(
    (table) => sql`delete from ${table} where did in (${deleted})`,
  )
}
