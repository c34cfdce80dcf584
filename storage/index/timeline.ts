import { type SQL, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import { tidFromTime } from '../../atproto/records/tid.ts'
import { repositories } from '../directory/tables.ts'
import { isShown } from '../shown.ts'
import {
  type IndexedRepository,
  indexedRepository,
  REPOSITORY_COLUMNS,
  type RepositoryColumns,
} from './indexed-repository.ts'
import { type Page, type Position, pageOf } from './keyset.ts'
import { accounts, pushes } from './tables.ts'

/** The newest move of a ref, or of many refs that are stored together. */
export interface IndexedPush {
  readonly repository: IndexedRepository
  /** Record key of the `dev.skein.ref` or `dev.skein.refs`. */
  readonly rkey: string
  /** Full name; null: many refs. */
  readonly ref: string | null
  readonly refs: number
  /** Null: the ref was deleted, or there are many. */
  readonly target: string | null
  /** As the record says, in milliseconds since 1970. */
  readonly pushedAt: number
}

export interface TimelineOptions {
  /** Of this account alone. Default: of all. */
  readonly did?: string
  readonly limit: number
  /** Of the page before: where it ended. */
  readonly after?: Position
  /** In milliseconds since 1970: what says that it comes later is not shown, until then. */
  readonly latest: number
}

type PushRow = RepositoryColumns & {
  readonly pushKey: string
  readonly ref: string | null
  readonly refs: number
  readonly target: string | null
  readonly movedAt: number
}

/** Pushes to repositories that are shown, newest first. */
export async function newestPushes(
  db: DrizzleD1Database,
  { did, limit, after, latest }: TimelineOptions,
): Promise<Page<IndexedPush>> {
  const from = after === undefined ? sql`${pushes.pushedAt} <= ${latest}` : isBefore(did, after)
  const own = did === undefined ? sql`` : sql`${pushes.did} = ${did} and`
  const rows = await db.all<PushRow>(sql`
    select ${REPOSITORY_COLUMNS}, ${pushes.rkey} as pushKey, ${pushes.ref} as ref, ${pushes.refs} as refs, ${pushes.target} as target, ${pushes.pushedAt} as movedAt
    from ${pushes} cross join ${repositories} cross join ${accounts}
    where ${own} ${from} and ${isShown(pushes.shown)} and ${repositories.did} = ${pushes.did}
      and ${repositories.rkey} = ${pushes.repo} and ${accounts.did} = ${pushes.did}
    order by ${pushes.pushedAt} desc, ${pushes.did} desc, ${pushes.rkey} desc limit ${limit + 1}`)
  return pageOf(
    rows,
    limit,
    (row) => [row.movedAt, row.did, row.pushKey],
    ({ pushKey, ref, refs, target, movedAt, ...repository }) => ({
      repository: indexedRepository(repository),
      rkey: pushKey,
      ref,
      refs,
      target,
      pushedAt: movedAt,
    }),
  )
}

function isBefore(did: string | undefined, after: Position): SQL {
  const [at, account, rkey] = after
  return did === undefined
    ? sql`(${pushes.pushedAt}, ${pushes.did}, ${pushes.rkey}) < (${at}, ${account}, ${rkey})`
    : sql`(${pushes.pushedAt}, ${pushes.rkey}) < (${at}, ${rkey})`
}

/** Repositories that are shown, the newest records first, by their keys. */
export async function newestRepositories(
  db: DrizzleD1Database,
  { did, limit, after, latest }: TimelineOptions,
): Promise<Page<IndexedRepository>> {
  const [rkey, account] = after ?? [tidFromTime(latest * 1000, 1023)]
  const from =
    account === undefined || did !== undefined
      ? sql`${repositories.rkey} ${account === undefined ? sql`<=` : sql`<`} ${rkey}`
      : sql`(${repositories.rkey}, ${repositories.did}) < (${rkey}, ${account})`
  const own = did === undefined ? sql`` : sql`${repositories.did} = ${did} and`
  const rows = await db.all<RepositoryColumns>(sql`
    select ${REPOSITORY_COLUMNS} from ${repositories} cross join ${accounts}
    where ${own} ${from} and ${isShown(repositories.shown)} and ${accounts.did} = ${repositories.did}
    order by ${repositories.rkey} desc, ${repositories.did} desc limit ${limit + 1}`)
  return pageOf(rows, limit, (row) => [row.rkey, row.did], indexedRepository)
}
