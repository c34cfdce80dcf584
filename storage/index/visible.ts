import { eq, type SQL, sql } from 'drizzle-orm'
import { hasName } from '../directory/has-name.ts'
import { accounts } from './tables.ts'

/** What of the index is shown: nothing that the index answers is without one of these two. */

/** Which rows of `accounts` are shown: those that are served. */
export function isAccountVisible(): SQL {
  return eq(accounts.status, 'active')
}

/** Which rows of `repositories`, with the row of their account joined to them. */
export function isRepositoryVisible(): SQL {
  return sql`${isAccountVisible()} and ${hasName()}`
}
