import type { LinkState } from '../../git/graph/link-files.ts'
import type { ManifestPack } from '../manifest.ts'

/** A pack that was cut from one of the account. */
export interface SplitPart extends ManifestPack {
  /** Where it ends in the account's pack, in bytes. */
  readonly end: number
  /** Bytes of its index. */
  readonly indexBytes: number
  /** Bases of its deltas that it does not have. */
  readonly bases: number
}

/** How far the cutting of a pack has come. */
export interface Split {
  /** What the ids of the parts begin with. */
  readonly stem: string
  /** Entries of the account's pack. */
  readonly entries: number
  /** Those that are done, in order. */
  readonly parts: readonly SplitPart[]
  /** How far these are linked; null: not at all. */
  readonly links: LinkState | null
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
      .exec<{ stem: string; entries: number; links: string | null }>(
        'select stem, entries, links from splits where pack = ?',
        pack,
      )
      .toArray()
    if (row === undefined) return null
    const parts = this.#sql
      .exec<{ id: string; size: number; objects: number; end: number; indexBytes: number; bases: number }>(
        `select id, size, objects, end, index_bytes as indexBytes, bases from split_parts where pack = ?
         order by number`,
        pack,
      )
      .toArray()
    const links = row.links === null ? null : (JSON.parse(row.links) as LinkState)
    return { stem: row.stem, entries: row.entries, parts, links }
  }

  begin(pack: string, stem: string, entries: number): void {
    this.forget(pack)
    this.#sql.exec('insert into splits (pack, stem, entries) values (?, ?, ?)', pack, stem, entries)
  }

  addPart(pack: string, { id, size, objects, end, indexBytes, bases }: SplitPart): void {
    this.#sql.exec(
      `insert into split_parts (pack, number, id, size, objects, end, index_bytes, bases)
       values (?1, (select count(*) from split_parts where pack = ?1), ?2, ?3, ?4, ?5, ?6, ?7)`,
      pack,
      id,
      size,
      objects,
      end,
      indexBytes,
      bases,
    )
  }

  /** Notes how far the parts are linked. */
  setLinks(pack: string, links: LinkState): void {
    this.#sql.exec('update splits set links = ? where pack = ?', JSON.stringify(links), pack)
  }

  /** Whether files with this id are of a part of a pack that is being cut, or of what its parts' links are kept in. */
  isPart(id: string): boolean {
    const either = 'select 1 from split_parts where id = ?1 union all select 1 from splits where stem = ?1'
    return this.#sql.exec(either, id).toArray().length > 0
  }

  forget(pack: string): void {
    this.#sql.exec('delete from splits where pack = ?', pack)
    this.#sql.exec('delete from split_parts where pack = ?', pack)
  }
}
