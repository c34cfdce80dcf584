import { type SQL, sql } from 'drizzle-orm'
import { REPO_COLLECTION } from '../../atproto/records/collections.ts'
import { CLOCK_SKEW, tidFromTime } from '../../atproto/records/tid.ts'
import { inParts } from '../d1-rows.ts'
import { listings } from '../directory/tables.ts'
import { forgetDeleted, putAccount, setStatus, statusOf } from './account-rows.ts'
import { countDropped, droppedRecord } from './dropped-records.ts'
import type { AccountSnapshot, DroppedRecord, SnapshotRecord } from './index-types.ts'
import type { IndexPlugin, RowValue } from './plugins/plugin.ts'
import { PLUGINS } from './plugins/plugins.ts'
import { decode, keyFault } from './read-events.ts'
import { putRows, rowValues } from './record-statements.ts'
import { accountRevs, accounts, recordRevs } from './tables.ts'

/** The statements by which a listing of an account is taken over, and what of it is not valid. */
export function replaceStatements(
  snapshot: AccountSnapshot,
  now: number,
): { readonly statements: readonly SQL[]; readonly dropped: readonly DroppedRecord[] } {
  const { did, listedAt } = snapshot
  // One that lies in the future would hold off all that follows.
  const latest = tidFromTime((listedAt + CLOCK_SKEW) * 1000, 0)
  const [rev] = [snapshot.rev, latest].toSorted() as [string, string]
  const known = [...putAccount(snapshot, now), setStatus({ did, status: statusOf(snapshot), time: listedAt })]
  if (!snapshot.isActive) return { statements: [...known, ...forgetDeleted(did)], dropped: [] }
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
  return { statements, dropped }
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
