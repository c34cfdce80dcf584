import { type SQL, sql } from 'drizzle-orm'
import { repositories } from './tables.ts'

/** That a repository has its name: no older one of the account, one with a smaller record key, has it. */
export function hasName(): SQL {
  return sql`not exists (select 1 from ${repositories} as older where older.did = ${repositories.did} and older.name = ${repositories.name} and older.rkey < ${repositories.rkey})`
}
