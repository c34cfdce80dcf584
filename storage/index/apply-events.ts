import { type SQL, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import type { RecordEvent, StreamEvent } from '../../atproto/firehose/stream-event.ts'
import { runBatch } from '../d1-batch.ts'
import { inParts } from '../d1-rows.ts'
import { noteAccounts, statusOf } from './account-rows.ts'
import { newlyWanted, readWants, wantEach } from './account-wants.ts'
import { countDropped } from './dropped-records.ts'
import type { ApplyOutcome } from './index-types.ts'
import { type RecordChange, type RecordDoubt, readEvents } from './read-events.ts'
import { currentRows, putRows, removeRows } from './record-statements.ts'
import { accountRevs, accounts, accountWants, recordRevs } from './tables.ts'

/**
 * What is proven becomes rows. All else, whoever says it, is a reason to list the account: an upstream may be a stranger, or
 * the host that an account has left.
 *
 * @param now milliseconds since 1970
 */
export async function applyEvents(
  db: DrizzleD1Database,
  events: readonly StreamEvent[],
  now: number,
): Promise<ApplyOutcome> {
  const { changes, doubts, dropped } = readEvents(events.filter(isRecordEvent), now)
  const words = events.filter((event) => !isRecordEvent(event))
  const dids = inParts([...new Set([...changes, ...doubts, ...words].map(({ did }) => did))].map((did) => [did]))
  const before = dids.map(readWants)
  const noted = [...noteStatements(changes, now), ...wordStatements(words, now)]
  const revs = revStatements(changes, now)
  const rest = [
    ...contentStatements(changes),
    ...doubtStatements(doubts, now),
    ...(dropped.length === 0 ? [] : [countDropped(dropped, now)]),
  ]
  const results = await runBatch(db, [...before, ...noted, ...revs, ...rest, ...dids.map(readWants)])
  const revsAt = before.length + noted.length
  return {
    applied: results.slice(revsAt, revsAt + revs.length).reduce((sum, { results }) => sum + results.length, 0),
    dropped,
    wanted: newlyWanted(results.slice(0, before.length), results.slice(results.length - dids.length)),
  }
}

type Word = Exclude<StreamEvent, RecordEvent>

function isRecordEvent(event: StreamEvent): event is RecordEvent {
  return event.kind === 'record'
}

const ACCOUNT = sql`select 1 from ${accounts} where ${accounts.did} = e.value->>0`
const IS_KNOWN = sql`exists (${ACCOUNT})`
const IS_WANTED = sql`exists (select 1 from ${accountWants} w where w.did = e.value->>0)`

/** That the account was listed when it was at that rev already. */
function isListed(rev: SQL): SQL {
  return sql`exists (select 1 from ${accountRevs} a where a.did = e.value->>0 and a.rev >= ${rev})`
}

/**
 * Of an account that comes up for the first time there are records of before, and so there may be of one that is taken to be
 * gone.
 */
function noteStatements(changes: readonly RecordChange[], now: number): SQL[] {
  const newest = new Map<string, number>()
  for (const { did, isRecord, revTime } of changes) {
    if (isRecord) newest.set(did, Math.max(newest.get(did) ?? 0, revTime))
  }
  const isNews = sql`not ${IS_KNOWN} or exists (${ACCOUNT} and ${accounts.status} <> 'active' and ${accounts.statusAt} < e.value->>2)`
  return inParts([...newest].map(([did, revTime]) => [did, 'new records', revTime])).flatMap((rows) => [
    wantEach(sql`${rows}`, now, { condition: sql`(${isNews})` }),
    noteAccounts(rows),
  ])
}

/** What is said of accounts themselves. Nothing is done by it but to ask their hosts. */
function wordStatements(words: readonly Word[], now: number): SQL[] {
  const rows = (kind: Word['kind'], row: (word: Word) => unknown[]) =>
    inParts(words.filter((word) => word.kind === kind).map((word) => [word.did, `${kind} event`, ...row(word)]))
  const want = (parts: readonly string[], isNews: SQL) =>
    parts.map((part) => wantEach(sql`${part}`, now, { condition: sql`${IS_KNOWN} and ${isNews}` }))
  // What is known already is news all the same while the account is being listed: the host may have been asked before.
  const isNewStatus = sql`(${IS_WANTED} or not exists (${ACCOUNT} and ${accounts.status} = e.value->>2))`
  return [
    ...want(
      rows('identity', () => []),
      sql`true`,
    ),
    ...want(
      rows('sync', (word) => ['rev' in word ? word.rev : '']),
      sql`(e.value->>2 = '' or not ${isListed(sql`e.value->>2`)})`,
    ),
    ...want(
      rows('account', (word) => ['isActive' in word ? statusOf(word) : '']),
      isNewStatus,
    ),
  ]
}

/** Takes down which events are the newest of their records, and returns those. Of an account that was deleted, none is. */
function revStatements(changes: readonly RecordChange[], now: number): SQL[] {
  const rows = changes.map(({ did, plugin, rkey, rev }) => [did, plugin.collection, rkey, rev])
  return inParts(rows).map(
    (part) => sql`insert into ${recordRevs} (did, collection, rkey, rev, seen_at)
      select e.value->>0, e.value->>1, e.value->>2, e.value->>3, ${now} from json_each(${part}) e
      where not ${isListed(sql`e.value->>3`)} and not exists (${ACCOUNT} and ${accounts.status} = 'deleted')
      on conflict (did, collection, rkey) do update set rev = excluded.rev, seen_at = excluded.seen_at
        where excluded.rev > record_revs.rev
      returning rkey`,
  )
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

/** Of what was heard by another upstream, or listed, nothing is in doubt. */
function doubtStatements(doubts: readonly RecordDoubt[], now: number): SQL[] {
  const isHeard = sql`exists (select 1 from ${recordRevs} r where r.did = e.value->>0 and r.collection = e.value->>2 and r.rkey = e.value->>3 and r.rev >= e.value->>4)`
  const isNews = sql`(e.value->>5 = 1 or ${IS_KNOWN}) and not ${isListed(sql`e.value->>4`)} and not ${isHeard}`
  const rows = doubts.map(({ did, collection, rkey, rev, isRecord }) => {
    return [did, 'unproven records', collection, rkey, rev, Number(isRecord)]
  })
  return inParts(rows).map((part) => wantEach(sql`${part}`, now, { condition: isNews }))
}
