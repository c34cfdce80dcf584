import { getTableColumns, type SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'

/** A value of a row. Texts are well-formed and have no NUL: SQLite would cut or spoil them. */
export type RowValue = string | number | null

/** A record as the account says it is. */
export interface GivenRecord {
  readonly rkey: string
  /** JSON, not checked. */
  readonly value: unknown
  /** The `bytes` of a pack were taken out of it, and lie elsewhere. */
  readonly isParked: boolean
}

/** One collection of the index: what its records are in D1. */
export interface IndexPlugin {
  readonly collection: string
  /** Has `did` and `rkey` as a unique key. Several collections may share one, if their record keys differ. */
  readonly table: SQLiteTable & { readonly did: SQLiteColumn; readonly rkey: SQLiteColumn }
  /** Columns that hold the values of {@link decode}, in that order. */
  readonly columns: readonly SQLiteColumn[]
  /** Which rows of a shared table are this collection's. */
  readonly own?: SQL
  /**
   * The values of a record's row, a function of the record alone; null: it has none.
   *
   * @throws {@link InvalidRecordError} where the record is not valid: it has no row then, too
   */
  decode(record: GivenRecord): readonly RowValue[] | null
}

/** Columns of a table by their names in TypeScript, with what a row says in them. */
type Row<T extends SQLiteTable, C extends keyof T['$inferInsert']> = Readonly<Required<Pick<T['$inferInsert'], C>>>

/** A plugin whose rows are given by the names of columns. */
export function definePlugin<
  T extends SQLiteTable & { readonly did: SQLiteColumn; readonly rkey: SQLiteColumn },
  C extends keyof T['$inferInsert'] & string,
>(options: {
  readonly collection: string
  readonly table: T
  readonly columns: readonly C[]
  readonly own?: SQL
  readonly decode: (record: GivenRecord) => Row<T, C> | null
}): IndexPlugin {
  const { collection, table, columns, own, decode } = options
  const all: Record<string, SQLiteColumn> = getTableColumns(table)
  return {
    collection,
    table,
    columns: columns.map((name) => all[name]!),
    ...(own === undefined ? {} : { own }),
    decode(record) {
      const row = decode(record)
      return row && columns.map((name) => row[name] as RowValue)
    },
  }
}
