import { getTableName, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { IndexPlugin } from './plugins/plugin.ts'
import { recordRevs } from './tables.ts'

/** A column by its bare name, as the target of an insert needs it. */
const bare = ({ name }: SQLiteColumn): SQL => sql`${sql.identifier(name)}`
const list = (columns: readonly SQL[]): SQL => sql.join([...columns], sql`, `)

/**
 * Puts rows of a collection. A row that is there as it should be is left, so that nothing is indexed anew for it.
 *
 * @param source a select of `did`, `rkey` and the values of the plugin's columns, with a `where`
 */
export function putRows({ table, columns }: IndexPlugin, source: SQL): SQL {
  const own = sql.identifier(getTableName(table))
  const updates = columns.map((column) => sql`${bare(column)} = excluded.${bare(column)}`)
  const changes = columns.map((column) => sql`${own}.${bare(column)} is not excluded.${bare(column)}`)
  return sql`insert into ${own} (${list([table.did, table.rkey, ...columns].map(bare))}) ${source} on conflict (did, rkey) do update set ${list(updates)} where ${sql.join(changes, sql` or `)}`
}

/** Values of a row in JSON: `did`, `rkey` and `rev` come first. */
export const FIRST_VALUE = 3

/** Elements of a JSON array of rows, as columns. */
export function rowValues({ columns }: IndexPlugin): SQL {
  return list(columns.map((_, i) => sql`e.value->>${sql.raw(`${FIRST_VALUE + i}`)}`))
}

/**
 * The rows of events whose revs are the newest that were heard of their records, `record_revs` having been brought up to
 * date with them.
 *
 * @param rows JSON of rows
 */
export function currentRows(plugin: IndexPlugin, rows: string): SQL {
  return sql`select e.value->>0, e.value->>1, ${rowValues(plugin)} ${fromCurrent(plugin, rows)}`
}

/** Removes what events say is gone, or is not valid any more. @param keys JSON of rows without values */
export function removeRows(plugin: IndexPlugin, keys: string): SQL {
  const { table } = plugin
  const own = sql.identifier(getTableName(table))
  return sql`delete from ${own} where rowid in (select c.rowid from json_each(${keys}) e cross join ${recordRevs} r cross join ${own} c ${isCurrent(plugin)} and c.did = r.did and c.rkey = r.rkey)`
}

function fromCurrent(plugin: IndexPlugin, rows: string): SQL {
  // The order of the join is told: there are no statistics, and the JSON is always the small side.
  return sql`from json_each(${rows}) e cross join ${recordRevs} r ${isCurrent(plugin)}`
}

function isCurrent({ collection }: IndexPlugin): SQL {
  return sql`where r.did = e.value->>0 and r.collection = ${collection} and r.rkey = e.value->>1 and r.rev = e.value->>2`
}
