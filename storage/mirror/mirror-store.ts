import type { RepoRecord } from '../../atproto/records/record-types.ts'
import type { RefState } from '../../atproto/refs/ref-state.ts'
import type { Manifest, ManifestPack } from '../manifest.ts'
import { migrateMirror } from './mirror-schema.ts'

/** A pack that the account has and the mirror wants or holds. */
export interface MirrorPack extends ManifestPack {
  /** `broken`: it could not be taken in, for good. */
  readonly state: 'wanted' | 'ready' | 'broken'
}

/** A pack that readers see, as far as merging is concerned. */
export interface ReadyPack extends ManifestPack {
  /** It was found that it cannot be merged. */
  readonly isSettled: boolean
}

/**
 * Files of packs that no manifest names any more stay in R2 for so long: a reader goes by the manifest that it began
 * with, and a slow client takes a clone by the hour. Milliseconds.
 */
export const GRACE_PERIOD = 6 * 60 * 60_000

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

  /**
   * Oldest first. Those that are ready are in the order in which they came to be so: what a pack's deltas stand on was
   * there when it was taken in.
   */
  packs(state: MirrorPack['state']): MirrorPack[] {
    return this.#sql
      .exec<PackRow>(
        `select id, size, objects, state from packs where state = ? order by iif(state = 'ready', position, 0), id`,
        state,
      )
      .toArray()
  }

  /** The packs that readers see, oldest first. */
  readyPacks(): ReadyPack[] {
    return this.#sql
      .exec<{ id: string; size: number; objects: number; settled: number }>(
        "select id, size, objects, settled from packs where state = 'ready' order by position, id",
      )
      .toArray()
      .map(({ id, size, objects, settled }) => ({ id, size, objects, isSettled: settled === 1 }))
  }

  /** Whether the mirror has heard of a pack of the account, be it as a part of a pack that it has made since. */
  hasPack(id: string): boolean {
    const known = 'select 1 from packs where id = ?1 union all select 1 from contained where id = ?1'
    return this.#sql.exec(known, id).toArray().length > 0
  }

  /** Whether a pack's files in R2 are read, or may still be. */
  needsFiles(id: string): boolean {
    const needed = 'select 1 from packs where id = ?1 union all select 1 from superseded where id = ?1'
    return this.#sql.exec(needed, id).toArray().length > 0
  }

  /** Id of the newest pack of the account that the mirror has heard of, or null. */
  newestPack(): string | null {
    const newest = `select max(
      coalesce((select max(id) from packs where made = 0), ''), coalesce((select max(id) from contained), '')) as id`
    return this.#sql.exec<{ id: string }>(newest).one().id || null
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
      `insert into packs (id, size, objects, source, state) values (?, ?, ?, ?, 'wanted') on conflict (id) do nothing`,
      pack.id,
      pack.size,
      pack.objects,
      JSON.stringify(source),
    )
  }

  /** The same of a pack whose files are lost: it is taken in once more, and comes where it was in the order. */
  wantAgain({ id, size, objects }: ManifestPack, source: PackSource): void {
    this.#storage.transactionSync(() => {
      const whereItWas = 'select position from packs where id = ?1 or id = (select pack from contained where id = ?1)'
      this.#sql.exec(
        `insert or replace into packs (id, size, objects, source, state, position)
         values (?1, ?2, ?3, ?4, 'wanted', (${whereItWas}))`,
        id,
        size,
        objects,
        JSON.stringify(source),
      )
      this.#sql.exec('delete from contained where id = ?', id)
    })
  }

  /** The account's packs that these of the mirror hold: themselves, or what they were made of. */
  accountPacks(ids: readonly string[]): string[] {
    return this.#sql
      .exec<{ id: string }>(
        `with asked as (select value as id from json_each(?))
         select id from packs where made = 0 and id in asked union select id from contained where pack in asked`,
        JSON.stringify(ids),
      )
      .toArray()
      .map(({ id }) => id)
  }

  /** Where a wanted pack's bytes are. */
  source(id: string): PackSource {
    const { source } = this.#sql.exec<{ source: string }>('select source from packs where id = ?', id).one()
    return JSON.parse(source) as PackSource
  }

  /** Makes a pack whose files are all in R2 visible to readers. It may hold what broken refs have lacked. */
  addPack({ id, size, objects }: ManifestPack): void {
    this.#storage.transactionSync(() => {
      // A slow reading of the account may come after a merge.
      if (this.#sql.exec('select 1 from contained where id = ?', id).toArray().length > 0) return
      this.#sql.exec(
        `insert into packs (id, size, objects, state, position)
         values (?, ?, ?, 'ready', (select coalesce(max(position), 0) + 1 from packs))
         on conflict (id) do update set size = excluded.size, objects = excluded.objects, state = excluded.state,
           source = null, position = coalesce(packs.position, excluded.position)`,
        id,
        size,
        objects,
      )
      this.#bump()
    })
  }

  /**
   * Puts a pack that was made of others in their place. Their files stay in R2 for the {@link GRACE_PERIOD}.
   *
   * @returns false if one of them has gone meanwhile: then nothing is changed.
   */
  replacePacks({ id, size, objects }: ManifestPack, merged: readonly string[]): boolean {
    return this.#storage.transactionSync(() => {
      const ids = JSON.stringify(merged)
      const { count, position } = this.#sql
        .exec<{ count: number; position: number | null }>(
          `select count(*) as count, max(position) as position from packs
           where state = 'ready' and id in (select value from json_each(?))`,
          ids,
        )
        .one()
      if (count < merged.length) return false
      this.#sql.exec('update contained set pack = ? where pack in (select value from json_each(?))', id, ids)
      this.#sql.exec(
        `insert or replace into contained
         select id, ? from packs where made = 0 and id in (select value from json_each(?))`,
        id,
        ids,
      )
      this.#dropReady(ids)
      this.#sql.exec(
        "insert into packs (id, size, objects, state, position, made) values (?, ?, ?, 'ready', ?, 1)",
        id,
        size,
        objects,
        position,
      )
      this.#bump()
      return true
    })
  }

  /** Notes that packs cannot be merged. */
  settlePacks(ids: readonly string[]): void {
    this.#sql.exec('update packs set settled = 1 where id in (select value from json_each(?))', JSON.stringify(ids))
  }

  breakPack(id: string): void {
    this.#sql.exec("update packs set state = 'broken', source = null where id = ?", id)
  }

  /** Drops packs. The files of those that readers saw stay for the {@link GRACE_PERIOD}. */
  removePacks(ids: readonly string[]): void {
    if (ids.length === 0) return
    this.#storage.transactionSync(() => {
      this.#dropReady(JSON.stringify(ids))
      this.#sql.exec('delete from packs where id in (select value from json_each(?))', JSON.stringify(ids))
      this.#bump()
    })
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
    this.#sql.exec('delete from superseded where id in (select value from json_each(?))', JSON.stringify(ids))
  }

  /** Forgets the repository.  */
  clear(): void {
    this.#storage.transactionSync(() => {
      for (const table of ['mirror', 'refs', 'packs', 'contained', 'superseded']) this.#sql.exec(`delete from ${table}`)
    })
  }

  /** @param ids a JSON array */
  #dropReady(ids: string): void {
    this.#sql.exec(
      `insert or ignore into superseded
       select id, ? from packs where state = 'ready' and id in (select value from json_each(?))`,
      Date.now() + GRACE_PERIOD,
      ids,
    )
    this.#sql.exec("delete from packs where state = 'ready' and id in (select value from json_each(?))", ids)
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
