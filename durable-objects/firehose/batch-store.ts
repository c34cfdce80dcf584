import { migrateFirehose } from './firehose-schema.ts'

/** A batch that was sent, as it stands in the object's SQLite. */
export interface PendingBatch {
  readonly number: number
  /** What is read from this cursor has all of it; null: there was none. */
  readonly before: number | null
  /** Milliseconds since 1970. */
  readonly sentAt: number
}

/** All accounts are to be listed: the stream does not tell what has happened. */
export interface ReconcileWant {
  readonly reason: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Where an upstream has been read to, and what of it is not applied yet. */
export class BatchStore {
  readonly #storage: DurableObjectStorage
  readonly #sql: SqlStorage

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#sql = storage.sql
    migrateFirehose(this.#sql)
  }

  /** Null: none is followed. */
  upstream(): string | null {
    return this.#row()?.upstream ?? null
  }

  /** @param position where to begin; null: at what happens now. @param now milliseconds since 1970 */
  begin(upstream: string, position: number | null, now: number): void {
    this.#sql.exec(
      'insert into following (id, upstream, position, reached_at) values (0, ?, ?, ?) on conflict do nothing',
      upstream,
      position,
      now,
    )
  }

  /** When it was last connected, as far as was noted, or else begun to be followed. Milliseconds since 1970. */
  reachedAt(): number {
    return this.#row()?.reached_at ?? 0
  }

  noteReached(now: number): void {
    this.#sql.exec('update following set reached_at = ?', now)
  }

  position(): number | null {
    return this.#row()?.position ?? null
  }

  setPosition(position: number | null): void {
    this.#sql.exec('update following set position = ?', position)
  }

  /** Where all would be read from that is not applied. */
  resumePosition(): number | null {
    const oldest = this.oldest()
    return oldest === null ? this.position() : oldest.before
  }

  /** Writes a batch down before it is sent. @param position up to which all is in batches with it. @returns its number */
  addBatch(position: number | null, now: number): number {
    return this.#storage.transactionSync(() => {
      const { number } = this.#sql
        .exec<{ number: number }>(
          'insert into batches (before, sent_at) values (?, ?) returning number',
          this.position(),
          now,
        )
        .one()
      this.setPosition(position)
      return number
    })
  }

  oldest(): PendingBatch | null {
    const [row] = this.#sql
      .exec<{ number: number; before: number | null; sent_at: number }>(
        'select number, before, sent_at from batches order by number limit 1',
      )
      .toArray()
    return row === undefined ? null : { number: row.number, before: row.before, sentAt: row.sent_at }
  }

  pendingCount(): number {
    return this.#sql.exec<{ count: number }>('select count(*) as count from batches').one().count
  }

  /** Forgets batches: they are applied. @returns how many of them were waited for */
  removeBatches(numbers: readonly number[]): number {
    return this.#sql.exec(
      'delete from batches where number in (select value from json_each(?))',
      JSON.stringify(numbers),
    ).rowsWritten
  }

  /** The numbers of what was sent mean nothing any more. */
  removeAllBatches(): void {
    this.#sql.exec('delete from batches')
  }

  /**
   * Goes back to before a batch: it, and all after it, are to be read again.
   *
   * @param number default: the oldest
   * @returns false: there is no such batch
   */
  rewind(number?: number): boolean {
    return this.#storage.transactionSync(() => {
      const [from] = this.#sql
        .exec<{ number: number; before: number | null }>(
          'select number, before from batches where ?1 is null or number = ?1 order by number limit 1',
          number ?? null,
        )
        .toArray()
      if (from === undefined) return false
      this.#sql.exec('delete from batches where number >= ?', from.number)
      this.setPosition(from.before)
      return true
    })
  }

  reconcile(): ReconcileWant | null {
    const row = this.#row()
    return row?.reconcile == null ? null : { reason: row.reconcile, at: row.reconcile_at! }
  }

  /** The times of two wants differ. @param now milliseconds since 1970 */
  wantReconcile(reason: string, now: number): void {
    this.#sql.exec(
      'update following set reconcile = ?, reconcile_at = max(?, ifnull(reconcile_at, 0) + 1)',
      reason,
      now,
    )
  }

  /** It has begun. @param at of the want that led to it: a later one stays */
  doneReconcile(at: number): void {
    this.#sql.exec('update following set reconcile = null where reconcile_at = ?', at)
  }

  #row(): FollowingRow | null {
    return this.#sql.exec<FollowingRow>('select * from following').toArray()[0] ?? null
  }
}

type FollowingRow = {
  upstream: string
  position: number | null
  reconcile: string | null
  reconcile_at: number | null
  reached_at: number
}
