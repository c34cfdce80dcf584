import type { ManifestPack } from '../manifest.ts'

/** A pack that was cut from one of the account. */
export interface SplitPart extends ManifestPack {
  /** Where it ends in the account's pack, in bytes. */
  readonly end: number
}

/** How far the cutting of a pack has come. */
export interface Split {
  /** What the ids of the parts begin with. */
  readonly stem: string
  /** Entries of the account's pack. */
  readonly entries: number
  /** Those that are done, in order. */
  readonly parts: readonly SplitPart[]
}

/**
 * The rows that say which packs of the account are being cut into several, so that whoever goes on with one does not
 * begin again. Nobody else knows of the parts until all are done. A part of `MirrorStore`, which makes the tables.
 */
export class PackSplits {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Null: it has not begun. */
  state(pack: string): Split | null {
    const [row] = this.#sql
      .exec<{ stem: string; entries: number }>('select stem, entries from splits where pack = ?', pack)
      .toArray()
    if (row === undefined) return null
    const parts = this.#sql
      .exec<{ id: string; size: number; objects: number; end: number }>(
        'select id, size, objects, end from split_parts where pack = ? order by number',
        pack,
      )
      .toArray()
    return { ...row, parts }
  }

  begin(pack: string, stem: string, entries: number): void {
    this.forget(pack)
    this.#sql.exec('insert into splits values (?, ?, ?)', pack, stem, entries)
  }

  addPart(pack: string, { id, size, objects, end }: SplitPart): void {
    this.#sql.exec(
      `insert into split_parts
       values (?1, (select count(*) from split_parts where pack = ?1), ?2, ?3, ?4, ?5)`,
      pack,
      id,
      size,
      objects,
      end,
    )
  }

  /** Whether a pack is a part of one that is being cut. */
  isPart(id: string): boolean {
    return this.#sql.exec('select 1 from split_parts where id = ?', id).toArray().length > 0
  }

  forget(pack: string): void {
    this.#sql.exec('delete from splits where pack = ?', pack)
    this.#sql.exec('delete from split_parts where pack = ?', pack)
  }
}
