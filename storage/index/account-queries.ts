import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import { repositories } from '../directory/tables.ts'
import { isShown } from '../shown.ts'
import {
  type IndexedRepository,
  indexedRepository,
  REPOSITORY_COLUMNS,
  type RepositoryColumns,
} from './indexed-repository.ts'
import { type Page, type Position, pageOf } from './keyset.ts'
import { accounts, formerHandles, pushes } from './tables.ts'

/** An account as the index knows it. */
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

const ACCOUNT = {
  did: accounts.did,
  handle: accounts.handle,
  repositories: accounts.repositories,
  size: accounts.size,
}

/** The query of accounts whose handle starts so, in the order of their handles: {@link IndexedAccount} as rows. */
export function selectAccounts(prefix: string, limit: number): SQL {
  const { did, handle, repositories: count, size, shown } = accounts
  // Handles are ASCII, and none has a character after `~`.
  return sql`select ${did} as did, ${handle} as handle, ${count} as repositories, ${size} as size from ${accounts}
    where ${handle} >= ${prefix} and ${handle} < ${`${prefix}~`} and ${isShown(shown)} order by ${handle} limit ${limit}`
}

/**
 * The DID of an account that is served, by its handle, or by the one that it had until it took another.
 *
 * @param handle in lower case
 */
export async function findByHandle(
  db: DrizzleD1Database,
  handle: string,
): Promise<{ readonly did: string; readonly isFormer: boolean } | null> {
  const [current, former] = await db.batch([
    db
      .select({ did: accounts.did })
      .from(accounts)
      .where(and(eq(accounts.handle, handle), isShown(accounts.shown)))
      .limit(1),
    db
      .select({ did: accounts.did })
      .from(formerHandles)
      .innerJoin(accounts, eq(accounts.did, formerHandles.did))
      .where(and(eq(formerHandles.handle, handle), isShown(accounts.shown)))
      .orderBy(desc(formerHandles.until))
      .limit(1),
  ])
  if (current[0] !== undefined) return { did: current[0].did, isFormer: false }
  return former[0] === undefined ? null : { did: former[0].did, isFormer: true }
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
