import { concatBytes } from '../../git/bytes/concat.ts'
import type { Oid } from '../../git/bytes/oid.ts'
import type { BranchAddress, BranchWork, Submitter, WorkOutcome } from './answers.ts'
import { KEPT_CONFLICT_BYTES } from './limits.ts'
import { LARGE_ANSWER, migrateQueue } from './queue-schema.ts'
import { decodeValue, type Encodable, encodeValue } from './work-codec.ts'

/** Work that waits, as it was handed in. */
export interface QueuedWork {
  /** Its place in the order of arrival. */
  readonly seq: number
  readonly ticket: string
  readonly work: BranchWork
  readonly submitter: Submitter
  /** Milliseconds since 1970. */
  readonly handedIn: number
}

/** Work that is to be stored. */
export interface NewWork extends Omit<QueuedWork, 'seq' | 'work'> {
  readonly kind: BranchWork['kind']
  /** See {@link encodeWork}. */
  readonly content: Uint8Array
  /** The caller's, made so that no other caller has it. */
  readonly idempotencyKey: string | null
  readonly fingerprint: string
}

/** Where the branch was, and where it was to be, before and after one piece of work of a landing. */
export interface AttemptedWork {
  readonly seq: number
  readonly commit: Oid | null
  readonly tree: Oid | null
  readonly parent: Oid | null
}

/** A landing that was sent, or was about to be. */
export interface Attempt {
  readonly id: string
  /** Record key of its pack; null: it brings none. */
  readonly pack: string | null
  /** Seq of the ref before it; null: it never existed. */
  readonly fromSeq: number | null
  /** Where the branch is after it; null: it is deleted. */
  readonly tip: Oid | null
  readonly works: readonly AttemptedWork[]
}

/** Why nothing is landed now. */
export interface Pause {
  /** Milliseconds since 1970. */
  readonly until: number
  /** In words for those who wait. */
  readonly reason: string
  /** How often in a row it has been necessary. */
  readonly failures: number
}

/** Work of which it is known by now what has become of it. */
export interface SettledWork {
  readonly seq: number
  readonly outcome: WorkOutcome
}

/** What the audit is told of work that has landed. */
export interface AuditEntry {
  readonly ticket: string
  /** Id of the landing. */
  readonly landing: string
  /** Where the branch was after it; null: it was deleted. */
  readonly commit: Oid | null
  readonly kind: BranchWork['kind']
  readonly submitter: Submitter
  /** Milliseconds since 1970. */
  readonly landedAt: number
}

/** What may be taken out of the queue at once: one piece of work in any case. */
export interface BatchLimits {
  readonly works: number
  readonly bytes: number
}

/** SQLite takes rows of 2 MB. */
const ROW_BYTES = 1024 * 1024

type WorkRow = {
  seq: number
  ticket: string
  kind: BranchWork['kind']
  bytes: number
  handed_in: number
  submitter: string
  token: string | null
  label: string | null
}

type AttemptRow = { id: string; pack: string | null; from_seq: number | null; tip: string | null }
type AttemptedRow = { work: number; commit_oid: string | null; tree: string | null; parent: string | null }

/** Work as it is stored: equal work has equal bytes. */
export function encodeWork(work: BranchWork): Uint8Array {
  return encodeValue(work as unknown as Encodable)
}

/**
 * The rows of one branch's queue, in the SQLite of its Durable Object.
 *
 * Nothing here waits: what is called without an `await` in between is seen, and written to disk, at once.
 */
export class QueueStore {
  readonly #storage: DurableObjectStorage
  readonly #sql: SqlStorage
  readonly #keptConflictBytes: number

  constructor(storage: DurableObjectStorage, keptConflictBytes = KEPT_CONFLICT_BYTES) {
    this.#storage = storage
    this.#keptConflictBytes = keptConflictBytes
    this.#sql = storage.sql
    migrateQueue(this.#sql)
  }

  /** Which branch this is; null: nothing was ever handed in. */
  address(): BranchAddress | null {
    return this.#first<{ did: string; rkey: string; pds: string; ref: string }>(
      'select did, rkey, pds, ref from branch',
    )
  }

  setAddress({ did, rkey, pds, ref }: BranchAddress): void {
    this.#sql.exec('insert or replace into branch values (0, ?, ?, ?, ?)', did, rkey, pds, ref)
  }

  /** What was handed in under a key, or null. */
  findKey(idempotencyKey: string): { readonly ticket: string; readonly fingerprint: string } | null {
    return this.#first('select ticket, fingerprint from works where idempotency_key = ?', idempotencyKey)
  }

  /** How much waits. */
  waiting(): { readonly works: number; readonly bytes: number } {
    return this.#first(
      'select count(*) as works, coalesce(sum(bytes), 0) as bytes from works where settled_at is null',
    )!
  }

  add({ ticket, kind, content, submitter, handedIn, idempotencyKey, fingerprint }: NewWork): void {
    this.#storage.transactionSync(() => {
      const { seq } = this.#first<{ seq: number }>(
        `insert into works (ticket, kind, bytes, handed_in, submitter, token, label, idempotency_key, fingerprint)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?) returning seq`,
        ...[ticket, kind, content.length, handedIn, submitter.did, submitter.tokenId, submitter.tokenLabel],
        ...[idempotencyKey, fingerprint],
      )!
      this.#putContent(seq, content)
    })
  }

  /** What became of work, or how many come before it; null: there is no such ticket (any more). */
  look(ticket: string): { readonly outcome: WorkOutcome } | { readonly outcome: null; readonly ahead: number } | null {
    const row = this.#first<{ seq: number; settled_at: number | null }>(
      'select seq, settled_at from works where ticket = ?',
      ticket,
    )
    if (row === null) return null
    if (row.settled_at !== null) return { outcome: this.#outcome(row.seq) }
    const { ahead } = this.#first<{ ahead: number }>(
      'select count(*) as ahead from works where settled_at is null and seq < ?',
      row.seq,
    )!
    return { outcome: null, ahead }
  }

  /** Whether work was handed in by this one: the same account, and the same token. */
  isFrom(ticket: string, { did, tokenId }: Submitter): boolean {
    const query = 'select 1 from works where ticket = ? and submitter = ? and token is ?'
    return this.#first(query, ticket, did, tokenId) !== null
  }

  hasWaiting(): boolean {
    return this.#first('select 1 from works where settled_at is null limit 1') !== null
  }

  /** The first that wait, in their order. */
  nextBatch(limits: BatchLimits): QueuedWork[] {
    const rows = this.#sql.exec<WorkRow>(
      `select seq, ticket, kind, bytes, handed_in, submitter, token, label from works
       where settled_at is null order by seq limit ?`,
      limits.works,
    )
    const batch: WorkRow[] = []
    let bytes = 0
    for (const row of rows) {
      bytes += row.bytes
      if (batch.length > 0 && bytes > limits.bytes) break
      batch.push(row)
    }
    return batch.map((row) => ({
      seq: row.seq,
      ticket: row.ticket,
      work: decodeValue(this.#content(row.seq)) as unknown as BranchWork,
      submitter: submitterOf(row),
      handedIn: row.handed_in,
    }))
  }

  /** Those that have work in them of which it is not known what became of it, newest first. */
  attempts(): Attempt[] {
    const rows = this.#sql
      .exec<AttemptRow>('select id, pack, from_seq, tip from attempts order by made_at desc, id desc')
      .toArray()
    return rows.map(({ id, pack, from_seq, tip }) => ({ id, pack, fromSeq: from_seq, tip, works: this.#attempted(id) }))
  }

  /** Works that have been sent since a time, and of which it is not known what became of them: they may land yet. */
  sentSince(time: number): Set<number> {
    const query = 'select work from attempt_works join attempts on id = attempt where made_at >= ?'
    return new Set(
      this.#sql
        .exec<{ work: number }>(query, time)
        .toArray()
        .map(({ work }) => work),
    )
  }

  addAttempt({ id, pack, fromSeq, tip, works }: Attempt, now: number): void {
    this.#storage.transactionSync(() => {
      this.#sql.exec('insert into attempts values (?, ?, ?, ?, ?)', id, pack, fromSeq, tip, now)
      for (const { seq, commit, tree, parent } of works) {
        this.#sql.exec('insert into attempt_works values (?, ?, ?, ?, ?)', id, seq, commit, tree, parent)
      }
    })
  }

  /** It is certain that it is not in the account, and never will be. */
  dropAttempt(id: string): void {
    this.#storage.transactionSync(() => {
      this.#sql.exec('delete from attempt_works where attempt = ?', id)
      this.#sql.exec('delete from attempts where id = ?', id)
    })
  }

  /**
   * Stores what has become of work in place of the work, and what the audit is to hear of it. What is settled already
   * stays as it is.
   *
   * @returns the tickets of the others
   */
  settle(works: readonly SettledWork[], now: number): string[] {
    return this.#storage.transactionSync(() => {
      const tickets = works.flatMap(({ seq, outcome }) => this.#settle(seq, outcome, now))
      this.#dropSettledAttempts()
      this.#dropOldConflicts()
      return tickets
    })
  }

  pause(): Pause | null {
    return this.#first<{ until: number; reason: string; failures: number }>('select until, reason, failures from pause')
  }

  setPause(pause: Pause | null): void {
    this.#sql.exec('delete from pause')
    if (pause !== null)
      this.#sql.exec('insert into pause values (0, ?, ?, ?)', pause.until, pause.reason, pause.failures)
  }

  /** What the audit is to be told next, the oldest first. */
  nextAudit(limit: number): { readonly seq: number; readonly entry: AuditEntry }[] {
    const rows = this.#sql
      .exec<{ seq: number; entry: string }>('select seq, entry from audit order by seq limit ?', limit)
      .toArray()
    return rows.map(({ seq, entry }) => ({ seq, entry: JSON.parse(entry) as AuditEntry }))
  }

  dropAudit(upTo: number): void {
    this.#sql.exec('delete from audit where seq <= ?', upTo)
  }

  /** When the oldest of what is settled was settled, or null. */
  oldestSettled(): number | null {
    return this.#first<{ time: number | null }>(
      'select min(settled_at) as time from works where settled_at is not null',
    )!.time
  }

  /** Forgets what was settled up to a time. */
  forgetSettled(upTo: number): void {
    this.#storage.transactionSync(() => {
      const old = 'select seq from works where settled_at <= ?'
      this.#sql.exec(`delete from contents where work in (${old})`, upTo)
      this.#sql.exec('delete from works where settled_at <= ?', upTo)
    })
  }

  #settle(seq: number, outcome: WorkOutcome, now: number): string[] {
    const row = this.#first<WorkRow>(
      `update works set settled_at = ? where seq = ? and settled_at is null
       returning seq, ticket, kind, bytes, handed_in, submitter, token, label`,
      now,
      seq,
    )
    if (row === null) return []
    const { ticket, kind } = row
    this.#putOutcome(seq, outcome)
    if (outcome.state === 'landed') {
      const { commit, landing } = outcome
      const submitter = submitterOf(row)
      const entry: AuditEntry = { ticket, landing: landing.id, commit, kind, submitter, landedAt: now }
      this.#sql.exec('insert into audit (entry) values (?)', JSON.stringify(entry))
    }
    return [ticket]
  }

  #putOutcome(seq: number, outcome: WorkOutcome): void {
    const content = encodeValue(outcome as unknown as Encodable)
    this.#sql.exec('update works set bytes = ? where seq = ?', content.length, seq)
    this.#putContent(seq, content)
  }

  #outcome(seq: number): WorkOutcome {
    return decodeValue(this.#content(seq)) as unknown as WorkOutcome
  }

  /** Only conflicts make answers large: what is left of one is its message. */
  #dropOldConflicts(): void {
    const large = this.#sql
      .exec<{ seq: number; bytes: number }>(
        `select seq, bytes from works where settled_at is not null and bytes > ${LARGE_ANSWER} order by seq`,
      )
      .toArray()
    let kept = large.reduce((sum, { bytes }) => sum + bytes, 0)
    for (const { seq, bytes } of large) {
      if (kept <= this.#keptConflictBytes) return
      this.#putOutcome(seq, withoutConflicts(this.#outcome(seq)))
      kept -= bytes
    }
  }

  #dropSettledAttempts(): void {
    const open = 'select attempt from attempt_works join works on seq = work where settled_at is null'
    this.#sql.exec(`delete from attempts where id not in (${open})`)
    this.#sql.exec('delete from attempt_works where attempt not in (select id from attempts)')
  }

  #attempted(id: string): AttemptedWork[] {
    const rows = this.#sql
      .exec<AttemptedRow>(
        'select work, commit_oid, tree, parent from attempt_works where attempt = ? order by work',
        id,
      )
      .toArray()
    return rows.map(({ work, commit_oid, tree, parent }) => ({ seq: work, commit: commit_oid, tree, parent }))
  }

  #putContent(work: number, content: Uint8Array): void {
    this.#sql.exec('delete from contents where work = ?', work)
    for (let number = 0; number * ROW_BYTES < content.length; number++) {
      const bytes = content.slice(number * ROW_BYTES, (number + 1) * ROW_BYTES)
      this.#sql.exec('insert into contents values (?, ?, ?)', work, number, bytes)
    }
  }

  #content(work: number): Uint8Array {
    const rows = this.#sql.exec<{ bytes: ArrayBuffer }>(
      'select bytes from contents where work = ? order by number',
      work,
    )
    return concatBytes(rows.toArray().map(({ bytes }) => new Uint8Array(bytes)))
  }

  #first<T extends Record<string, SqlStorageValue>>(query: string, ...bindings: SqlStorageValue[]): T | null {
    return this.#sql.exec<T>(query, ...bindings).toArray()[0] ?? null
  }
}

function withoutConflicts(outcome: WorkOutcome): WorkOutcome {
  if (outcome.state !== 'refused' || outcome.refusal.reason !== 'merge-conflict') return outcome
  return { ...outcome, refusal: { ...outcome.refusal, conflicts: [] } }
}

function submitterOf({ submitter, token, label }: WorkRow): Submitter {
  return { did: submitter, tokenId: token, tokenLabel: label }
}
