import type { SQLWrapper } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'

/**
 * Runs statements one after the other, all or none, in one request. What drizzle's own `batch` takes too, and raw SQL with
 * parameters, which that does not.
 *
 * @param db as `drizzle` makes it
 * @returns what each gives, its columns by their names in SQL
 */
export async function runBatch(db: DrizzleD1Database, statements: readonly SQLWrapper[]): Promise<D1Result[]> {
  if (statements.length === 0) return []
  const { $client } = db as DrizzleD1Database & { readonly $client: D1Database }
  return $client.batch(
    statements.map((statement) => {
      const { sql, params } = db.run(statement).getQuery()
      return $client.prepare(sql).bind(...params)
    }),
  )
}
