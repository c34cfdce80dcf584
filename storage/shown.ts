import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'

/**
 * What of the index is shown stands in columns that triggers keep (see migrations/), and lists have indexes of nothing else:
 * so they do not pass over what is hidden, however much it is. Nothing that the index answers is without {@link isShown}.
 */

/** Of an index: that it has such rows alone. */
export const IS_SHOWN: SQL = sql.raw('shown = 1')

/** Of a query, by the column `shown` of its table. With a parameter in place of the number no such index would be used. */
export function isShown(column: SQLiteColumn): SQL {
  return sql`${column} = 1`
}
