import { type SQL, sql } from 'drizzle-orm'
import type { RepoRecord } from '../../atproto/records/record-types.ts'
import { repositories } from '../directory/tables.ts'
import { accounts } from './tables.ts'

/** A repository as the index knows it. */
export interface IndexedRepository {
  readonly did: string
  /** Null where none verifies. */
  readonly handle: string | null
  readonly rkey: string
  readonly record: RepoRecord
  /** The newest push that it says of, in milliseconds since 1970; null: none. */
  readonly pushedAt: number | null
  /** Bytes of the packs in the account, as their records say. */
  readonly size: number
}

export interface RepositoryColumns {
  readonly did: string
  readonly handle: string | null
  readonly rkey: string
  readonly record: string
  readonly pushedAt: number
  readonly size: number
}

/** Columns of a repository whose account is joined to it. */
export const REPOSITORY_COLUMNS: SQL = sql`${repositories.did} as did, ${accounts.handle} as handle, ${repositories.rkey} as rkey, ${repositories.record} as record, ${repositories.pushedAt} as pushedAt, ${repositories.size} as size`

/** The record was checked before it was stored. */
export function indexedRepository({ record, pushedAt, ...row }: RepositoryColumns): IndexedRepository {
  const { did, handle, rkey, size } = row
  return {
    did,
    handle,
    rkey,
    size,
    record: JSON.parse(record) as RepoRecord,
    pushedAt: pushedAt === 0 ? null : pushedAt,
  }
}
