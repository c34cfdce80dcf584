import { type SQL, sql } from 'drizzle-orm'
import { identities, listings } from '../directory/tables.ts'
import type { ResolvedAccount } from './index-types.ts'
import { PLUGINS } from './plugins/plugins.ts'
import { accountRevs, accounts, formerHandles, recordRevs } from './tables.ts'

/** Statements over accounts themselves. */

/** Statuses as they are stored are words; what is none is this. */
const INACTIVE = 'inactive'

/** How an account was found to be. */
export interface StatusChange {
  readonly did: string
  readonly status: string
  /** When it was so, in milliseconds since 1970. */
  readonly time: number
}

/** A status as it is stored. */
export function statusOf({ isActive, status }: { readonly isActive: boolean; readonly status: string | null }): string {
  if (isActive) return 'active'
  return status !== null && status !== 'active' && /^[a-z]{1,40}$/.test(status) ? status : INACTIVE
}

/** Unless something newer is known. */
export function setStatus({ did, status, time }: StatusChange): SQL {
  return sql`update ${accounts} set status = ${status}, status_at = ${time}
    where ${accounts.did} = ${did} and (${accounts.statusAt}, ${accounts.status}) < (${time}, ${status})`
}

/** @param rows JSON of rows that begin with a DID */
export function noteAccounts(rows: string): SQL {
  return sql`insert into ${accounts} (did) select value->>0 from json_each(${rows}) where true on conflict do nothing`
}

export function putAccount({ did, handle, uncheckedHandle, pds }: ResolvedAccount, now: number): SQL[] {
  // None equals null.
  const kept = sql`case when accounts.handle = ${uncheckedHandle ?? null} then accounts.handle end`
  return [
    // It has been verified that the handle is this account's: so it is nobody else's any more.
    sql`update ${accounts} set handle = null, resolved_at = max(resolved_at, ${now}) where handle = ${handle} and did <> ${did}`,
    sql`insert into ${accounts} (did, handle, pds, resolved_at) values (${did}, ${handle}, ${pds}, ${now})
      on conflict (did) do update set handle = coalesce(excluded.handle, ${kept}), pds = excluded.pds, resolved_at = excluded.resolved_at
      where excluded.resolved_at >= accounts.resolved_at`,
    sql`delete from ${identities} where actor in (${did}, ${handle})`,
    sql`delete from ${identities} where actor in (select handle from ${formerHandles} where did = ${did})`,
  ]
}

/** What there is of an account goes, if it is deleted. But that it was stays: what comes late is void. */
export function forgetDeleted(did: string): SQL[] {
  const deleted = sql`select ${accounts.did} from ${accounts} where ${accounts.did} = ${did} and ${accounts.status} = 'deleted'`
  const tables = [...new Set([...PLUGINS.values()].map(({ table }) => table))]
  return [...tables, recordRevs, accountRevs, formerHandles, listings].map(
    (table) => sql`delete from ${table} where did in (${deleted})`,
  )
}
