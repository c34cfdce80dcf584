import { eq, type SQL, sql } from 'drizzle-orm'
import { hasName } from '../directory/has-name.ts'
import { repositories } from '../directory/tables.ts'
import { notBlocked } from '../operator/blocks.ts'
import { accounts } from './tables.ts'

/** What of the index is shown: nothing that the index answers is without one of these two. */

/** Which rows of `accounts` are shown: those that their hosts serve, and that the operator has not blocked. */
export function isAccountVisible(): SQL {
  return sql`${isActive()} and ${notBlocked(accounts.did)}`
}

/** Which rows of `repositories`, with the row of their account joined to them. */
export function isRepositoryVisible(): SQL {
  return sql`${isActive()} and ${notBlocked(repositories.did, repositories.rkey)} and ${hasName()}`
}

function isActive(): SQL {
  return eq(accounts.status, 'active')
}
