import type { ManifestPack } from '../manifest.ts'
import type { PackRow } from './mirror-rows.ts'

/**
 * Files of packs that no manifest names any more stay in R2 for so long: a reader goes by the manifest that it began
 * with, and a slow client takes a clone by the hour. Milliseconds.
 */
export const GRACE_PERIOD = 6 * 60 * 60_000

/** A pack that readers see, as far as merging is concerned. */
export interface ReadyPack extends ManifestPack {
  /** It was found that it cannot be merged. */
  readonly isSettled: boolean
}

/** Ids as a JSON array: one parameter, however many there are. */
type IdList = string

const IN_LIST = 'in (select value from json_each(?))'

/**
 * The rows that say which packs of a mirror were merged, and what became of them. A part of `MirrorStore`, which makes
 * the tables.
 */
export class PackMerges {
  readonly #storage: DurableObjectStorage
  readonly #sql: SqlStorage

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#sql = storage.sql
  }

  /** The packs that readers see, oldest first. */
  ready(): ReadyPack[] {
    return this.#sql
      .exec<PackRow & { settled: number }>(
        "select id, size, objects, settled from packs where state = 'ready' order by position, id",
      )
      .toArray()
      .map(({ id, size, objects, settled }) => ({ id, size, objects, isSettled: settled === 1 }))
  }

  /**
   * Puts a pack that was made of others in their place. Their files stay in R2 for the {@link GRACE_PERIOD}.
   *
   * @returns false if one of them has gone meanwhile: then nothing is changed.
   */
  replace({ id, size, objects }: ManifestPack, parts: readonly string[]): boolean {
    const ids = JSON.stringify(parts)
    return this.#storage.transactionSync(() => {
      const { count, position } = this.#sql
        .exec<{ count: number; position: number | null }>(
          `select count(*) as count, max(position) as position from packs where state = 'ready' and id ${IN_LIST}`,
          ids,
        )
        .one()
      if (count < parts.length) return false
      this.supersede(ids)
      this.#sql.exec(`update or replace containers set container = ? where container ${IN_LIST}`, id, ids)
      this.#sql.exec(`insert into containers select id, ? from packs where made = 0 and id ${IN_LIST}`, id, ids)
      this.#sql.exec(`delete from packs where made = 1 and id ${IN_LIST}`, ids)
      this.#sql.exec(`update packs set state = 'merged', position = null where id ${IN_LIST}`, ids)
      this.#sql.exec(
        "insert into packs (id, size, objects, state, position, made) values (?, ?, ?, 'ready', ?, 1)",
        id,
        size,
        objects,
        position,
      )
      this.#sql.exec('update mirror set version = version + 1')
      return true
    })
  }

  /** Notes that packs cannot be merged. */
  settle(ids: readonly string[]): void {
    this.#sql.exec(`update packs set settled = 1 where id ${IN_LIST}`, JSON.stringify(ids))
  }

  /** The account's packs that are in these. */
  partsOf(ids: readonly string[]): string[] {
    return this.#related('part', 'container', ids)
  }

  /** The packs that the mirror has made and that these packs of the account are in. */
  containersOf(ids: readonly string[]): string[] {
    return this.#related('container', 'part', ids)
  }

  #related(wanted: string, known: string, ids: readonly string[]): string[] {
    return this.#sql
      .exec<{ id: string }>(
        `select distinct ${wanted} as id from containers where ${known} ${IN_LIST} order by ${wanted}`,
        JSON.stringify(ids),
      )
      .toArray()
      .map(({ id }) => id)
  }

  /** Has the files of those of some packs that readers see kept for the {@link GRACE_PERIOD}, and no longer. */
  supersede(ids: IdList): void {
    this.#sql.exec(
      `insert or replace into superseded select id, ? from packs where state = 'ready' and id ${IN_LIST}`,
      Date.now() + GRACE_PERIOD,
      ids,
    )
  }

  isSuperseded(id: string): boolean {
    return this.#sql.exec('select 1 from superseded where id = ?', id).toArray().length > 0
  }

  /** Packs whose files no reader needs any more. */
  supersededBefore(now: number): string[] {
    return this.#sql
      .exec<{ id: string }>('select id from superseded where due <= ?', now)
      .toArray()
      .map(({ id }) => id)
  }

  /** When the next pack's files may go, in milliseconds since 1970, or null if none wait for it. */
  nextSuperseded(): number | null {
    return this.#sql.exec<{ due: number | null }>('select min(due) as due from superseded').one().due
  }

  /** Notes that the files of superseded packs are gone. */
  forgetSuperseded(ids: readonly string[]): void {
    this.#sql.exec(`delete from superseded where id ${IN_LIST}`, JSON.stringify(ids))
  }
}
