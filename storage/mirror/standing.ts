/** What an object knows of its repository beside the mirror. */
export interface StandingState {
  /** Why the operator has blocked it, or its account; may be empty. Null: neither is. */
  readonly blocked: string | null
  /** When D1 was last asked for that, in milliseconds since 1970, as all times here. */
  readonly askedAt: number
  /** When somebody last read or wrote it, to {@link USE_NOTED_EVERY}. */
  readonly usedAt: number
  /** Bytes of the account's other mirrors, as D1 said. */
  readonly othersBytes: number
  /** What D1 was last told; null: nothing. */
  readonly told: { readonly bytes: number; readonly usedAt: number } | null
  /** It was larger than may be, and was dropped; null: it was not. */
  readonly refused: { readonly bytes: number; readonly at: number } | null
}

interface Row extends Record<string, SqlStorageValue> {
  blocked: string | null
  asked_at: number
  used_at: number
  others_bytes: number
  told_bytes: number | null
  told_used_at: number | null
  refused_bytes: number | null
  refused_at: number | null
}

/** Noting a use is a write: so it is not noted more often. Milliseconds. */
const USE_NOTED_EVERY = 60 * 60_000

/**
 * How the operator stands to one repository, and how it is used, in the SQLite of its `Repository` object. It outlives
 * the mirror. What is asked with every request is kept in memory: it costs no read.
 */
export class Standing {
  readonly #sql: SqlStorage
  #state: StandingState | null

  constructor(sql: SqlStorage) {
    this.#sql = sql
    const [row] = sql.exec<Row>('select * from standing').toArray()
    this.#state = row === undefined ? null : stateOf(row)
  }

  /** Null: D1 has not been asked yet, or there was no mirror since. */
  get state(): StandingState | null {
    return this.#state
  }

  /** Takes over a change; without a state before, what it does not say is nothing, and no time. */
  set(change: Partial<StandingState>): void {
    this.#state = { ...(this.#state ?? NEW), ...change }
    const { blocked, askedAt, usedAt, othersBytes, told, refused } = this.#state
    this.#sql.exec(
      'insert or replace into standing values (0, ?, ?, ?, ?, ?, ?, ?, ?)',
      blocked,
      askedAt,
      usedAt,
      othersBytes,
      told?.bytes ?? null,
      told?.usedAt ?? null,
      refused?.bytes ?? null,
      refused?.at ?? null,
    )
  }

  /** Notes that somebody reads or writes the repository. */
  use(now: number): void {
    if (this.#state !== null && now - this.#state.usedAt >= USE_NOTED_EVERY) this.set({ usedAt: now })
  }

  /** Has D1 asked again before the repository is read anew. */
  forget(): void {
    this.#state = null
    this.#sql.exec('delete from standing')
  }
}

const NEW: StandingState = { blocked: null, askedAt: 0, usedAt: 0, othersBytes: 0, told: null, refused: null }

function stateOf(row: Row): StandingState {
  const { told_bytes, told_used_at, refused_bytes, refused_at } = row
  return {
    blocked: row.blocked,
    askedAt: row.asked_at,
    usedAt: row.used_at,
    othersBytes: row.others_bytes,
    told: told_bytes === null || told_used_at === null ? null : { bytes: told_bytes, usedAt: told_used_at },
    refused: refused_bytes === null || refused_at === null ? null : { bytes: refused_bytes, at: refused_at },
  }
}
