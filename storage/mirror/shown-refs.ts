import type { NameRange } from '../../git/refs/ref-selection.ts'
import type { ManifestRef, RefChange } from '../manifest.ts'

/** A reader that lacks more than this many changes gets all refs: the rows of deleted ones are counted too. */
const CHANGES_LIMIT = 2_000
/** Deleted refs and broken ones are shown to nobody. */
const SHOWN = "target is not null and state <> 'broken'"
const COLUMNS = 'name, target, peeled'

type ShownRow = { name: string; target: string; peeled: string | null }

/**
 * The refs of a mirror as readers are shown them: what a reading costs goes by what is asked for, not by how many refs
 * there are. A part of `MirrorStore`, which makes the tables. Lists are sorted by the bytes of the names.
 */
export class ShownRefs {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  all(): ManifestRef[] {
    return this.#sql.exec<ShownRow>(`select ${COLUMNS} from refs where ${SHOWN} order by name`).toArray()
  }

  /** @param ranges in order, none of which touches another */
  within(ranges: readonly NameRange[]): ManifestRef[] {
    return ranges.flatMap((range) => {
      const { where, bindings } = inRange(range)
      const query = `select ${COLUMNS} from refs where ${where} and ${SHOWN} order by name`
      return this.#sql.exec<ShownRow>(query, ...bindings).toArray()
    })
  }

  /** How many refs there are in some ranges, deleted ones too: an upper bound that is cheap to have. */
  countWithin(ranges: readonly NameRange[]): number {
    return ranges.reduce((sum, range) => {
      const { where, bindings } = inRange(range)
      return (
        sum +
        this.#sql.exec<{ count: number }>(`select count(*) as count from refs where ${where}`, ...bindings).one().count
      )
    }, 0)
  }

  /** Whether there are more refs than this, deleted ones counted too. It reads no more rows than it has to. */
  outnumber(count: number): boolean {
    return this.#sql.exec('select 1 from refs order by name limit 1 offset ?', count).toArray().length > 0
  }

  /** What has changed since a version, or null if that is not known, or too much. */
  changedSince(version: number): RefChange[] | null {
    const isKnown = 'select 1 from mirror where changes_from <= ?1 and version >= ?1'
    if (this.#sql.exec(isKnown, version).toArray().length === 0) return null
    // By the index: SQLite would rather read all rows in the order of their names than sort a few.
    const changed = 'refs indexed by refs_by_change where changed > ?'
    const { count } = this.#sql
      .exec<{ count: number }>(
        `select count(*) as count from (select 1 from ${changed} limit ${CHANGES_LIMIT + 1})`,
        version,
      )
      .one()
    if (count > CHANGES_LIMIT) return null
    return this.#sql
      .exec<ShownRow & { shown: number }>(
        `select ${COLUMNS}, (${SHOWN}) as shown from ${changed} order by name`,
        version,
      )
      .toArray()
      .map(({ name, target, peeled, shown }) => (shown === 1 ? { name, target, peeled } : { name, target: null }))
  }

  /** Annotated tags that point in the end at one of these objects; null: at any. */
  annotated(peeled: readonly string[] | null): ManifestRef[] {
    const annotated = `select ${COLUMNS} from refs indexed by annotated_refs where peeled is not null and ${SHOWN}`
    const cursor =
      peeled === null
        ? this.#sql.exec<ShownRow>(annotated)
        : this.#sql.exec<ShownRow>(
            `${annotated} and peeled in (select value from json_each(?))`,
            JSON.stringify(peeled),
          )
    return cursor.toArray()
  }
}

function inRange({ from, to }: NameRange): { where: string; bindings: string[] } {
  return to === null
    ? { where: 'name >= ?', bindings: [from] }
    : { where: 'name >= ? and name < ?', bindings: [from, to] }
}
