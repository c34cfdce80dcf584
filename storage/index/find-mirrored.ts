import { sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import type { RepoRecord } from '../../atproto/records/record-types.ts'
import { inParts } from '../d1-rows.ts'
import { repositories } from '../directory/tables.ts'
import { mirrors } from '../operator/tables.ts'
import type { RepositoryKey } from '../repository-key.ts'
import { accounts } from './tables.ts'

/** A repository of which there is a mirror. */
export interface MirroredRepository extends RepositoryKey {
  /** Origin of the account's PDS. */
  readonly pds: string
  /** Null: there is none any more. */
  readonly record: RepoRecord | null
}

interface Row {
  readonly did: string
  readonly rkey: string
  readonly pds: string
  readonly record: string | null
}

/** Which of some repositories are mirrored: nobody else's object is to be woken. One look-up by key each. */
export async function findMirrored(
  db: DrizzleD1Database,
  keys: readonly RepositoryKey[],
): Promise<MirroredRepository[]> {
  const found: MirroredRepository[] = []
  for (const part of inParts(keys.map(({ did, rkey }) => [did, rkey]))) {
    const rows = await db.all<Row>(
      sql`select ${mirrors.did} as did, ${mirrors.rkey} as rkey, ${accounts.pds} as pds, ${repositories.record} as record
        from json_each(${part}) e
        cross join ${mirrors} on ${mirrors.did} = e.value->>0 and ${mirrors.rkey} = e.value->>1
        join ${accounts} on ${accounts.did} = ${mirrors.did} and ${accounts.pds} is not null
        left join ${repositories} on ${repositories.did} = ${mirrors.did} and ${repositories.rkey} = ${mirrors.rkey}`,
    )
    for (const { record, ...row } of rows) {
      found.push({ ...row, record: record === null ? null : (JSON.parse(record) as RepoRecord) })
    }
  }
  return found
}

/** The same, by key alone. */
export async function whichAreMirrored(
  db: DrizzleD1Database,
  keys: readonly RepositoryKey[],
): Promise<RepositoryKey[]> {
  const found: RepositoryKey[] = []
  for (const part of inParts(keys.map(({ did, rkey }) => [did, rkey]))) {
    const rows = await db.all<RepositoryKey>(
      sql`select ${mirrors.did} as did, ${mirrors.rkey} as rkey
        from json_each(${part}) e
        cross join ${mirrors} on ${mirrors.did} = e.value->>0 and ${mirrors.rkey} = e.value->>1`,
    )
    found.push(...rows)
  }
  return found
}

/** Accounts that the index knows, in the order of their DIDs. */
export async function knownAccounts(db: DrizzleD1Database, after: string, limit: number): Promise<string[]> {
  const rows = await db.all<{ did: string }>(
    sql`select ${accounts.did} as did from ${accounts} where ${accounts.did} > ${after} order by ${accounts.did} limit ${limit}`,
  )
  return rows.map(({ did }) => did)
}

/** Whether the index has anything of an account. */
export async function isKnownAccount(db: DrizzleD1Database, did: string): Promise<boolean> {
  return (await db.get(sql`select 1 from ${accounts} where ${accounts.did} = ${did}`)) !== undefined
}
