import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { hasName } from '../directory/has-name.ts'
import { repositories } from '../directory/tables.ts'
import { blockedKey, blocksRepositoryOf } from '../operator/blocks.ts'
import { blocks } from '../operator/tables.ts'
import { isShown } from '../shown.ts'
import {
  type IndexedRepository,
  indexedRepository,
  REPOSITORY_COLUMNS,
  type RepositoryColumns,
} from './indexed-repository.ts'
import { type Page, type Position, pageOf } from './keyset.ts'
import { accounts, pushes } from './tables.ts'

/** An account as the index knows it, without those of its repositories that are blocked. */
export interface IndexedAccount {
  readonly did: string
  /** Null where none verifies. */
  readonly handle: string | null
  /** How many repositories it has. */
  readonly repositories: number
  /** Bytes of its packs, as their records say. */
  readonly size: number
}

export interface Profile extends IndexedAccount {
  /** The newest push to one of its repositories, in milliseconds since 1970; null: none. */
  readonly pushedAt: number | null
}

/** Without what the operator has blocked of it, which is little: one look-up where there is none. */
const ACCOUNT = {
  did: accounts.did,
  handle: accounts.handle,
  repositories: sql<number>`${accounts.repositories} - (select count(*) from ${blockedOf(accounts.did)} where ${hasName()})`,
  size: sql<number>`${accounts.size} - (select coalesce(sum(${repositories.size}), 0) from ${blockedOf(accounts.did)})`,
}

/** The repositories of an account that are blocked, to select from. */
function blockedOf(did: SQLiteColumn): SQL {
  const key = and(eq(repositories.did, did), eq(repositories.rkey, blockedKey(did)))
  return sql`${blocks} cross join ${repositories} on ${blocksRepositoryOf(did)} and ${key}`
}

/** The query of accounts whose handle starts so, in the order of their handles: {@link IndexedAccount} as rows. */
export function selectAccounts(prefix: string, limit: number): SQL {
  const { did, handle, shown } = accounts
  // Handles are ASCII, and none has a character after `~`.
  return sql`select ${did} as did, ${handle} as handle, ${ACCOUNT.repositories} as repositories, ${ACCOUNT.size} as size from ${accounts}
    where ${handle} >= ${prefix} and ${handle} < ${`${prefix}~`} and ${isShown(shown)} order by ${handle} limit ${limit}`
}

/** @param latest in milliseconds since 1970: what says that it comes later is not believed */
export async function readProfile(db: DrizzleD1Database, did: string, latest: number): Promise<Profile | null> {
  const pushedAt = sql<
    number | null
  >`(select max(p.pushed_at) from ${pushes} p where p.did = ${did} and p.shown = 1 and p.pushed_at <= ${latest})`
  const row = await db
    .select({ ...ACCOUNT, pushedAt })
    .from(accounts)
    .where(and(eq(accounts.did, did), isShown(accounts.shown)))
    .get()
  return row ?? null
}

/** How repositories of an account are sorted. */
export type RepositoryOrder = 'pushed' | 'name' | 'created'

interface Sorting {
  readonly columns: readonly SQL[]
  readonly isDescending: boolean
  position(row: RepositoryColumns & { readonly name: string }): Position
}

const SORTINGS: Readonly<Record<RepositoryOrder, Sorting>> = {
  pushed: {
    columns: [sql`${repositories.pushedAt}`, sql`${repositories.rkey}`],
    isDescending: true,
    position: ({ pushedAt, rkey }) => [pushedAt, rkey],
  },
  name: {
    columns: [sql`${repositories.name}`, sql`${repositories.rkey}`],
    isDescending: false,
    position: ({ name, rkey }) => [name, rkey],
  },
  // Record keys are TIDs.
  created: { columns: [sql`${repositories.rkey}`], isDescending: true, position: ({ rkey }) => [rkey] },
}

/** The repositories of an account: those with the newest pushes first, or by name, or the newest first. */
export async function listRepositoriesOf(
  db: DrizzleD1Database,
  did: string,
  { order, limit, after }: { readonly order: RepositoryOrder; readonly limit: number; readonly after?: Position },
): Promise<Page<IndexedRepository>> {
  const { columns, isDescending, position } = SORTINGS[order]
  const list = (values: readonly unknown[]) =>
    sql.join(
      values.map((value) => sql`${value}`),
      sql`, `,
    )
  const isAfter =
    after === undefined ? sql`` : sql`and (${list(columns)}) ${isDescending ? sql`<` : sql`>`} (${list(after)})`
  const sorted = list(columns.map((column) => (isDescending ? sql`${column} desc` : column)))
  const rows = await db.all<RepositoryColumns & { name: string }>(sql`
    select ${REPOSITORY_COLUMNS}, ${repositories.name} as name from ${accounts} cross join ${repositories}
    where ${accounts.did} = ${did} and ${repositories.did} = ${did} and ${isShown(repositories.shown)} ${isAfter}
    order by ${sorted} limit ${limit + 1}`)
  return pageOf(rows, limit, position, indexedRepository)
}

/** Where a repository's page is, and when it last changed. */
export interface RepositoryPlace {
  readonly did: string
  /** Null where none verifies. */
  readonly handle: string | null
  readonly name: string
  /** The newest push, in milliseconds since 1970; 0: none is known. */
  readonly pushedAt: number
}

/** The repositories of the accounts whose DIDs start so, in the order of their keys: names alone, for lists of very many. */
export function listPlaces(db: DrizzleD1Database, didPrefix: string, limit: number): Promise<RepositoryPlace[]> {
  const { did, rkey, name, pushedAt, shown } = repositories
  // DIDs are ASCII, and none has a character after `~`.
  return db.all<RepositoryPlace>(sql`
    select ${did} as did, ${accounts.handle} as handle, ${name} as name, ${pushedAt} as pushedAt
    from ${repositories} cross join ${accounts}
    where ${did} >= ${didPrefix} and ${did} < ${`${didPrefix}~`} and ${isShown(shown)} and ${accounts.did} = ${did}
    order by ${did}, ${rkey} limit ${limit}`)
}
