import type { RepoRecord } from '../../atproto/records/record-types.ts'
import type { RefState } from '../../atproto/refs/ref-state.ts'
import type { Manifest, ManifestPack } from '../manifest.ts'
import { migrateMirror } from './mirror-schema.ts'

/** A pack that the account has and the mirror wants or holds. */
export interface MirrorPack extends ManifestPack {
  /** `broken`: it could not be taken in, for good. */
  readonly state: 'wanted' | 'ready' | 'broken'
}

/** What the account's record says of a wanted pack. */
export interface PackSource {
  /** Blobs of the account, in order; null: the bytes were in the record, and are in R2 already. */
  readonly blobs: readonly { readonly cid: string; readonly size: number }[] | null
  /** Ids of the packs that it was made from. */
  readonly replaces: readonly string[]
}

/** What is known of the repository itself. */
export interface MirrorHead {
  readonly did: string
  readonly rkey: string
  readonly pds: string
  readonly record: RepoRecord
  /** Seq of the account's shard 0 of packed refs, or null (see `Landing.head`). */
  readonly head: number | null
  readonly version: number
  /** When the account was last read, in milliseconds since 1970. */
  readonly checkedAt: number
}

/**
 * What is known of a ref's target. A push is checked before it lands; what strangers write into their records is
 * `unchecked` until all packs are there, and `broken` if what it needs is in none of them.
 */
export type RefSoundness = 'unchecked' | 'sound' | 'broken'

interface RefRow extends Record<string, SqlStorageValue> {
  name: string
  target: string | null
  peeled: string | null
  seq: number
  pack: string | null
  shard: number | null
  shard_seq: number | null
}

interface PackRow extends Record<string, SqlStorageValue> {
  id: string
  size: number
  objects: number
  source: string | null
  state: MirrorPack['state']
}

/**
 * The rows of one repository's mirror, in the SQLite of its Durable Object. Refs only ever move forward by their seq,
 * so that what a push has just landed and what a slower reading of the account says can be merged in any order.
 */
export class MirrorStore {
  readonly #storage: DurableObjectStorage
  readonly #sql: SqlStorage

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#sql = storage.sql
    migrateMirror(this.#sql)
  }

  /** Null: the account has not been read yet. */
  head(): MirrorHead | null {
    const [row] = this.#sql
      .exec<{
        did: string
        rkey: string
        pds: string
        record: string
        head: number | null
        version: number
        checked_at: number
      }>('select * from mirror')
      .toArray()
    if (row === undefined) return null
    const { did, rkey, pds, record, head, version } = row
    return { did, rkey, pds, record: JSON.parse(record) as RepoRecord, head, version, checkedAt: row.checked_at }
  }

  /**
   * What readers get; null if the account has not been read yet. Deleted and broken refs are left out, and packs that
   * have not been taken in.
   */
  manifest(): Manifest | null {
    const head = this.head()
    if (head === null) return null
    const refs = this.#sql
      .exec<RefRow>("select * from refs where target is not null and state <> 'broken' order by name")
      .toArray()
      .map(({ name, target, peeled }) => ({ name, target: target!, peeled }))
    return {
      did: head.did,
      rkey: head.rkey,
      name: head.record.name,
      description: head.record.description ?? null,
      defaultBranch: head.record.defaultBranch,
      version: head.version,
      refs,
      packs: this.packs('ready').map(({ id, size, objects }) => ({ id, size, objects })),
    }
  }

  /** The refs with these names, deleted ones too. Names that never existed are left out. */
  refStates(names: readonly string[]): RefState[] {
    return this.#sql
      .exec<RefRow>('select * from refs where name in (select value from json_each(?))', JSON.stringify(names))
      .toArray()
      .map(refState)
  }

  /** Oldest first. */
  packs(state: MirrorPack['state']): MirrorPack[] {
    return this.#sql
      .exec<PackRow>('select id, size, objects, state from packs where state = ? order by id', state)
      .toArray()
  }

  hasPack(id: string): boolean {
    return this.#sql.exec('select 1 from packs where id = ?', id).toArray().length > 0
  }

  /** Id of the newest pack that the mirror has heard of, or null. */
  newestPack(): string | null {
    return this.#sql.exec<{ id: string | null }>('select max(id) as id from packs').one().id
  }

  /** Whether all packs have been taken in and all refs checked. */
  isComplete(): boolean {
    const open = `select 1 from packs where state = 'wanted' union all select 1 from refs where state = 'unchecked' limit 1`
    return this.#sql.exec(open).toArray().length === 0
  }

  uncheckedRefs(): { readonly name: string; readonly target: string }[] {
    return this.#sql
      .exec<{ name: string; target: string }>("select name, target from refs where state = 'unchecked'")
      .toArray()
  }

  /** Notes what has become of the unchecked refs: those named are broken, the others sound. */
  settleRefs(broken: readonly string[]): void {
    this.#storage.transactionSync(() => {
      this.#sql.exec(
        `update refs set state = iif(name in (select value from json_each(?)), 'broken', 'sound')
         where state = 'unchecked'`,
        JSON.stringify(broken),
      )
      if (broken.length > 0) this.#bump()
    })
  }

  /** Notes what the repository is; the version grows if that is news. */
  setHead(head: Omit<MirrorHead, 'version'>): void {
    this.#storage.transactionSync(() => {
      const before = this.head()
      const record = JSON.stringify(head.record)
      const isNews = before === null || JSON.stringify(before.record) !== record
      const shardHead = before?.head == null || (head.head ?? 0) > before.head ? head.head : before.head
      this.#sql.exec(
        'insert or replace into mirror values (0, ?, ?, ?, ?, ?, ?, ?, ?)',
        head.did,
        head.rkey,
        head.pds,
        record,
        shardHead,
        // From the clock, so that a repository that was forgotten and came back never repeats a version.
        before === null ? Date.now() : before.version + (isNews ? 1 : 0),
        head.checkedAt,
        this.#sweptAt() ?? head.checkedAt,
      )
    })
  }

  /** Whether R2 has not been looked through for leftovers for so many milliseconds; if so, it counts as done now. */
  isSweepDue(now: number, interval: number): boolean {
    const sweptAt = this.#sweptAt()
    if (sweptAt === null || now - sweptAt < interval) return false
    this.#sql.exec('update mirror set swept_at = ?', now)
    return true
  }

  /** Moves refs forward. One whose seq is not ahead of what is here stays. @returns how many moved. */
  advanceRefs(states: Iterable<RefState>, soundness: Exclude<RefSoundness, 'broken'>): number {
    return this.#storage.transactionSync(() => {
      let moved = 0
      for (const state of states) {
        const packed = state.at.kind === 'packed' ? state.at : null
        const cursor = this.#sql.exec(
          `insert into refs values (?, ?, ?, ?, ?, ?, ?, ?)
           on conflict (name) do update set target = excluded.target, peeled = excluded.peeled, seq = excluded.seq,
             pack = excluded.pack, shard = excluded.shard, shard_seq = excluded.shard_seq, state = excluded.state
           where excluded.seq > refs.seq`,
          state.name,
          state.target,
          state.peeled,
          state.seq,
          state.pack,
          packed?.shard ?? null,
          packed?.shardSeq ?? null,
          state.target === null ? 'sound' : soundness,
        )
        moved += cursor.rowsWritten > 0 ? 1 : 0
      }
      if (moved > 0) this.#bump()
      return moved
    })
  }

  /** Notes a pack as wanted, unless it is here. */
  wantPack(pack: ManifestPack, source: PackSource): void {
    this.#sql.exec(
      "insert into packs values (?, ?, ?, ?, 'wanted') on conflict (id) do nothing",
      pack.id,
      pack.size,
      pack.objects,
      JSON.stringify(source),
    )
  }

  /** The same of a pack whose files are lost: it is taken in once more. */
  wantAgain(pack: ManifestPack, source: PackSource): void {
    this.#sql.exec(
      "insert or replace into packs values (?, ?, ?, ?, 'wanted')",
      pack.id,
      pack.size,
      pack.objects,
      JSON.stringify(source),
    )
  }

  /** Where a wanted pack's bytes are. */
  source(id: string): PackSource {
    const { source } = this.#sql.exec<{ source: string }>('select source from packs where id = ?', id).one()
    return JSON.parse(source) as PackSource
  }

  /** Makes a pack whose files are all in R2 visible to readers. It may hold what broken refs have lacked. */
  addPack(pack: ManifestPack): void {
    this.#storage.transactionSync(() => {
      this.#sql.exec("insert or replace into packs values (?, ?, ?, null, 'ready')", pack.id, pack.size, pack.objects)
      this.#bump()
    })
  }

  breakPack(id: string): void {
    this.#sql.exec("update packs set state = 'broken', source = null where id = ?", id)
  }

  removePacks(ids: readonly string[]): void {
    if (ids.length === 0) return
    this.#storage.transactionSync(() => {
      this.#sql.exec('delete from packs where id in (select value from json_each(?))', JSON.stringify(ids))
      this.#bump()
    })
  }

  /** Forgets the repository.  */
  clear(): void {
    this.#storage.transactionSync(() => {
      for (const table of ['mirror', 'refs', 'packs']) this.#sql.exec(`delete from ${table}`)
    })
  }

  #sweptAt(): number | null {
    return this.#sql.exec<{ swept_at: number }>('select swept_at from mirror').toArray()[0]?.swept_at ?? null
  }

  #bump(): void {
    this.#sql.exec('update mirror set version = version + 1')
  }
}

function refState(row: RefRow): RefState {
  const { name, target, peeled, seq, pack } = row
  const at =
    row.shard === null
      ? ({ kind: 'loose' } as const)
      : ({ kind: 'packed', shard: row.shard, shardSeq: row.shard_seq ?? 0 } as const)
  return { name, target, peeled, seq, pack, at }
}
