import type { RefState } from '../../atproto/refs/ref-state.ts'
import type { ManifestBase, ManifestPack } from '../manifest.ts'
import {
  type HeadRow,
  headFromRow,
  type MirrorHead,
  type PackRow,
  type PackSource,
  type PackState,
  type RefRow,
  type RefSoundness,
  type RefTarget,
  refFromRow,
} from './mirror-rows.ts'
import { migrateMirror } from './mirror-schema.ts'
import { PackDownloads } from './pack-downloads.ts'
import { PackMerges } from './pack-merges.ts'
import { PackSplits } from './pack-splits.ts'
import { ShownRefs } from './shown-refs.ts'
import { Standing } from './standing.ts'

const TABLES = [
  ...['mirror', 'refs', 'packs', 'superseded', 'containers'],
  ...['downloads', 'download_parts', 'splits', 'split_parts'],
]

/** How often a wanted pack is left for the others, however many come. */
const LEFT_LIMIT = 16

/** The version as it is now, in SQL. */
const VERSION = '(select version from mirror)'

/**
 * The rows of one repository's mirror, in the SQLite of its Durable Object. Refs only ever move forward by their seq,
 * so that what a push has just landed and what a slower reading of the account says can be merged in any order.
 *
 * Nothing here waits: what is called without an `await` in between is seen, and written to disk, at once.
 */
export class MirrorStore {
  readonly merges: PackMerges
  readonly downloads: PackDownloads
  readonly splits: PackSplits
  readonly shown: ShownRefs
  readonly standing: Standing
  readonly #storage: DurableObjectStorage
  readonly #sql: SqlStorage

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#sql = storage.sql
    migrateMirror(this.#sql)
    this.merges = new PackMerges(storage)
    this.downloads = new PackDownloads(storage)
    this.splits = new PackSplits(storage.sql)
    this.shown = new ShownRefs(storage.sql)
    this.standing = new Standing(storage.sql)
  }

  /** Null: the account has not been read yet. */
  head(): MirrorHead | null {
    const [row] = this.#sql
      .exec<HeadRow>('select did, rkey, pds, record, head, version, checked_at from mirror')
      .toArray()
    return row === undefined ? null : headFromRow(row)
  }

  /** What readers get besides refs. Packs that have not been taken in are left out. */
  manifestBase({ did, rkey, record, version }: MirrorHead): ManifestBase {
    return {
      did,
      rkey,
      name: record.name,
      description: record.description ?? null,
      defaultBranch: record.defaultBranch,
      version,
      packs: this.packs('ready'),
    }
  }

  /** The refs with these names, deleted ones too. Names that never existed are left out. */
  refs(names: readonly string[]): { state: RefState; isBroken: boolean }[] {
    return this.#sql
      .exec<RefRow>('select * from refs where name in (select value from json_each(?))', JSON.stringify(names))
      .toArray()
      .map((row) => ({ state: refFromRow(row), isBroken: row.state === 'broken' }))
  }

  /**
   * Oldest first. Packs that are ready are in the order in which they came to be so, others in that of their ids, which
   * are times.
   */
  packs(state: PackState): ManifestPack[] {
    const order = state === 'ready' ? 'position, id' : 'id'
    return this.#sql
      .exec<PackRow>(`select id, size, objects from packs where state = ? order by ${order}`, state)
      .toArray()
  }

  /** Of the packs that the account has of the repository, also where they are not here yet; broken ones left out. */
  accountBytes(): number {
    return this.#sql.exec<{ bytes: number }>('select bytes from account_bytes').one().bytes
  }

  /** Null: the mirror has never heard of it. */
  packState(id: string): PackState | null {
    return this.#sql.exec<{ state: PackState }>('select state from packs where id = ?', id).toArray()[0]?.state ?? null
  }

  /** Id of the newest pack that the account has had for certain, or null. */
  newestPack(): string | null {
    const newest = "select id from packs where state <> 'gone' and made = 0 order by id desc limit 1"
    return this.#sql.exec<{ id: string }>(newest).toArray()[0]?.id ?? null
  }

  /** Whether all packs have been taken in and all refs checked. */
  isComplete(): boolean {
    const open = `select 1 from packs where state = 'wanted' union all select 1 from refs where state = 'unchecked' limit 1`
    return this.#sql.exec(open).toArray().length === 0
  }

  uncheckedRefs(): RefTarget[] {
    return this.#sql
      .exec<{ name: string; target: string }>("select name, target from refs where state = 'unchecked'")
      .toArray()
  }

  /** Names of the refs that readers see for certain. */
  soundRefNames(): string[] {
    return this.#sql
      .exec<{ name: string }>("select name from refs where target is not null and state = 'sound'")
      .toArray()
      .map(({ name }) => name)
  }

  /** Notes what has become of refs that were looked at. One that has moved meanwhile is left as it is. */
  settleRefs(checked: readonly (RefTarget & { readonly isBroken: boolean })[]): void {
    this.#storage.transactionSync(() => {
      if (checked.some(({ isBroken }) => isBroken)) this.#bump()
      for (const { name, target, isBroken } of checked) {
        this.#sql.exec(
          `update refs set ${isBroken ? `state = 'broken', changed = ${VERSION}` : "state = 'sound'"}
           where name = ? and target = ? and state = 'unchecked'`,
          name,
          target,
        )
      }
    })
  }

  /** Notes what the repository is; the version grows if that is news. */
  setHead(head: Omit<MirrorHead, 'version'>): void {
    const before = this.head()
    const record = JSON.stringify(head.record)
    const isNews = before === null || JSON.stringify(before.record) !== record
    // From the clock, so that a repository that was forgotten and came back never repeats a version.
    const version = before === null ? head.checkedAt : before.version + (isNews ? 1 : 0)
    const shardHead = before?.head == null || (head.head ?? 0) > before.head ? head.head : before.head
    this.#sql.exec(
      `insert into mirror (id, did, rkey, pds, record, head, version, changes_from, checked_at, swept_at)
       values (0, ?, ?, ?, ?, ?, ?6, ?6, ?7, ?7)
       on conflict (id) do update set did = excluded.did, rkey = excluded.rkey, pds = excluded.pds,
         record = excluded.record, head = excluded.head, version = excluded.version, checked_at = excluded.checked_at`,
      head.did,
      head.rkey,
      head.pds,
      record,
      shardHead,
      version,
      head.checkedAt,
    )
  }

  /** Whether R2 has not been looked through for leftovers for so many milliseconds; if so, it counts as done now. */
  isSweepDue(now: number, interval: number): boolean {
    return this.#sql.exec('update mirror set swept_at = ? where swept_at <= ?', now, now - interval).rowsWritten > 0
  }

  /** Moves refs forward. One whose seq is not ahead of what is here stays. @returns how many moved. */
  advanceRefs(states: Iterable<RefState>, soundness: Exclude<RefSoundness, 'broken'>): number {
    return this.#storage.transactionSync(() => {
      let moved = 0
      let isAnyGone = false
      for (const state of states) {
        if (!this.#advanceRef(state, state.target === null ? 'sound' : soundness)) continue
        moved++
        isAnyGone ||= state.target === null
      }
      if (moved === 0) return 0
      this.#bump()
      // It may have stood in the way of another.
      if (isAnyGone) this.#checkBrokenAgain()
      return moved
    })
  }

  /** The change is noted for the version to come. */
  #advanceRef({ name, target, peeled, seq, pack, at }: RefState, soundness: RefSoundness): boolean {
    const packed = at.kind === 'packed' ? at : null
    const cursor = this.#sql.exec(
      `insert into refs (name, target, peeled, seq, pack, shard, shard_seq, state, changed)
       values (?, ?, ?, ?, ?, ?, ?, ?, coalesce(${VERSION}, 0) + 1)
       on conflict (name) do update set target = excluded.target, peeled = excluded.peeled, seq = excluded.seq,
         pack = excluded.pack, shard = excluded.shard, shard_seq = excluded.shard_seq, state = excluded.state,
         changed = excluded.changed
       where excluded.seq > refs.seq`,
      name,
      target,
      peeled,
      seq,
      pack,
      packed?.shard ?? null,
      packed?.shardSeq ?? null,
      soundness,
    )
    return cursor.rowsWritten > 0
  }

  /**
   * Notes that the account has a pack, unless it is here or known to be broken. What has been done with one whose record
   * says something else now is of no use.
   */
  wantPack({ id, size, objects }: ManifestPack, source: PackSource): void {
    if (this.packState(id) === 'wanted' && !this.isSource(id, source)) this.#downloaded(id)
    this.#sql.exec(
      `insert into packs (id, size, objects, source, state) values (?, ?, ?, ?, 'wanted')
       on conflict (id) do update set size = excluded.size, objects = excluded.objects, source = excluded.source,
         state = 'wanted'
       where state in ('wanted', 'gone')`,
      id,
      size,
      objects,
      JSON.stringify(source),
    )
  }

  /**
   * The same of a pack whose files are lost, or those of a pack that it is in: it is taken in once more, and comes where
   * it was in the order.
   */
  wantAgain({ id, size, objects }: ManifestPack, source: PackSource): void {
    this.#storage.transactionSync(() => {
      this.#sql.exec(
        // Not `or replace`: that would take the old row away past the triggers.
        `insert into packs (id, size, objects, source, state, position) values (?1, ?2, ?3, ?4, 'wanted',
           (select min(position) from packs
            where id = ?1 or id in (select container from containers where part = ?1)))
         on conflict (id) do update set size = excluded.size, objects = excluded.objects, source = excluded.source,
           state = 'wanted', position = excluded.position, made = 0, settled = 0, tried = 0, left_at = 0`,
        id,
        size,
        objects,
        JSON.stringify(source),
      )
      this.#sql.exec('delete from containers where part = ?', id)
      this.#bump()
    })
  }

  /**
   * The wanted pack that is to be taken in next: the oldest of those that have been left for the others least often, so
   * that all are tried in a round before one is again. `isLastTry` if it has been left, and no pack has come since that may
   * have what it lacks, or it has been left often. Null: none is wanted.
   */
  nextWanted(): (ManifestPack & { readonly isLastTry: boolean }) | null {
    const [row] = this.#sql
      .exec<PackRow & { tried: number; isInVain: number }>(
        `select id, size, objects, tried, coalesce(left_at = (select brought from mirror), 0) as isInVain
         from packs where state = 'wanted' order by tried, id limit 1`,
      )
      .toArray()
    if (row === undefined) return null
    const { tried, isInVain, ...pack } = row
    return { ...pack, isLastTry: tried > 0 && (isInVain === 1 || tried >= LEFT_LIMIT) }
  }

  /** Notes that a wanted pack is left for the others. */
  leaveForOthers(id: string): void {
    this.#sql.exec(
      `update packs set tried = tried + 1, left_at = (select brought from mirror) where id = ? and state = 'wanted'`,
      id,
    )
  }

  /** Has those that were left tried again, in the next round: a pack has come that may have what they lack. */
  tryLeftAgain(): void {
    this.#sql.exec('update mirror set brought = brought + 1')
  }

  /** Where a wanted pack's bytes are; null if it is not wanted any more. */
  source(id: string): PackSource | null {
    const [row] = this.#sql
      .exec<{ source: string }>("select source from packs where id = ? and state = 'wanted'", id)
      .toArray()
    return row === undefined ? null : (JSON.parse(row.source) as PackSource)
  }

  /** Whether a pack is wanted, and its bytes are where they were: its record may have changed, or be gone. */
  isSource(id: string, source: PackSource): boolean {
    return JSON.stringify(this.source(id)) === JSON.stringify(source)
  }

  /**
   * Makes a pack whose files are all in R2 visible to readers, in place of those that it was made from. Refs that were
   * broken are to be checked again: it may hold what they have lacked.
   *
   * @param source where its bytes were
   * @returns false if it is not wanted any more, or not with these bytes: then nothing is changed.
   */
  takeIn(pack: ManifestPack, source: PackSource): boolean {
    return this.#storage.transactionSync(() => {
      if (!this.isSource(pack.id, source)) return false
      this.#show(pack)
      this.#downloaded(pack.id)
      this.markGone(source.replaces)
      this.#checkBrokenAgain()
      return true
    })
  }

  /**
   * The same of a pack that was cut into several, of which all files are in R2: they come where it was in the order, or at
   * the end.
   *
   * @returns false if it is not wanted any more, or not with these bytes: then nothing is changed.
   */
  takeInParts(pack: string, parts: readonly ManifestPack[], source: PackSource): boolean {
    return this.#storage.transactionSync(() => {
      if (!this.isSource(pack, source)) return false
      const row = this.#sql
        .exec<{ position: number }>(
          `select coalesce(position, (select coalesce(max(position), 0) + 1 from packs)) as position
           from packs where id = ?`,
          pack,
        )
        .one()
      // Of packs that are read again together, those of later ids come after it.
      this.#sql.exec(
        'update packs set position = position + ?1 where position > ?2 or (position = ?2 and id > ?3)',
        parts.length,
        row.position,
        pack,
      )
      for (const [i, { id, size, objects }] of parts.entries()) {
        this.#sql.exec(
          "insert into packs (id, size, objects, state, position, made) values (?, ?, ?, 'ready', ?, 1)",
          id,
          size,
          objects,
          row.position + i,
        )
        this.#sql.exec('insert into containers values (?, ?)', pack, id)
      }
      this.#sql.exec("update packs set state = 'merged', position = null, source = null where id = ?", pack)
      this.#downloaded(pack)
      this.markGone(source.replaces)
      this.#checkBrokenAgain()
      this.#bump()
      return true
    })
  }

  /** Forgets how a pack came here. */
  #downloaded(id: string): void {
    this.downloads.forget(id)
    this.splits.forget(id)
  }

  /**
   * Makes a pack that was pushed, and whose files are all in R2, visible to readers, unless it is merged already. It may
   * hold what broken refs, and packs that were left for others, have lacked.
   */
  addPack(pack: ManifestPack): void {
    this.#storage.transactionSync(() => {
      this.#show(pack)
      this.tryLeftAgain()
      this.#checkBrokenAgain()
    })
  }

  #show({ id, size, objects }: ManifestPack): void {
    this.#sql.exec(
      `insert into packs (id, size, objects, state, position)
       values (?, ?, ?, 'ready', (select coalesce(max(position), 0) + 1 from packs where state = 'ready'))
       on conflict (id) do update set size = excluded.size, objects = excluded.objects, source = null, state = 'ready',
         position = coalesce(packs.position, excluded.position)
       where state <> 'merged'`,
      id,
      size,
      objects,
    )
    this.#bump()
  }

  /** Notes that a pack cannot be taken in. */
  breakPack(id: string): void {
    this.#storage.transactionSync(() => {
      this.#sql.exec("update packs set state = 'broken', source = null where id = ?", id)
      this.#downloaded(id)
    })
  }

  /**
   * Notes that the account does not have these packs, also where the mirror has not heard of them. Those that the mirror
   * has made itself it forgets.
   */
  markGone(ids: readonly string[]): void {
    if (ids.length === 0) return
    this.#storage.transactionSync(() => {
      const gone = JSON.stringify(ids)
      this.merges.supersede(gone)
      this.#sql.exec(
        `insert into packs (id, size, objects, state)
         select value, 0, 0, 'gone' from json_each(?) where value not in (select id from packs where made = 1)
         on conflict (id) do update set state = 'gone', source = null, position = null`,
        gone,
      )
      const isGone = 'in (select value from json_each(?1))'
      this.#sql.exec(`delete from packs where made = 1 and id ${isGone}`, gone)
      this.#sql.exec(`delete from containers where part ${isGone} or container ${isGone}`, gone)
      for (const id of ids) this.#downloaded(id)
      this.#bump()
    })
  }

  /**
   * Notes that an ingest begins: should it be killed, nobody else could tell.
   *
   * @returns how many have begun since one came further, this one included.
   */
  noteIngest(): number {
    const [row] = this.#sql
      .exec<{ failures: number }>(
        'update mirror set ingest_failures = ingest_failures + 1 returning ingest_failures as failures',
      )
      .toArray()
    return row?.failures ?? 0
  }

  /** How many ingests have begun since one came further. */
  failedIngests(): number {
    const [row] = this.#sql.exec<{ failures: number }>('select ingest_failures as failures from mirror').toArray()
    return row?.failures ?? 0
  }

  /** Until when an ingest is to wait, unless somebody waits for it, in milliseconds since 1970. */
  ingestDue(): number {
    return this.#sql.exec<{ due: number }>('select ingest_due as due from mirror').toArray()[0]?.due ?? 0
  }

  setIngestDue(time: number): void {
    this.#sql.exec('update mirror set ingest_due = ?', time)
  }

  /** Notes that an ingest has come further: what failed before was not in vain. */
  noteProgress(): void {
    this.#sql.exec('update mirror set ingest_failures = 0, ingest_due = 0 where ingest_failures > 0')
  }

  /** Notes that what is here was heard of by a stream in part: what it has not said is not known. */
  noteHeard(): void {
    this.#sql.exec('update mirror set heard = heard + 1')
  }

  /** How often that was since all of the account was listed. */
  timesHeard(): number {
    return this.#sql.exec<{ heard: number }>('select heard from mirror').toArray()[0]?.heard ?? 0
  }

  /** Notes that all of the account has been listed. @param heard {@link timesHeard} before */
  noteListed(heard: number): void {
    this.#sql.exec('update mirror set heard = 0 where heard = ?', heard)
  }

  /** Forgets the repository. */
  clear(): void {
    this.#storage.transactionSync(() => {
      for (const table of TABLES) this.#sql.exec(`delete from ${table}`)
    })
  }

  #checkBrokenAgain(): void {
    this.#sql.exec(`update refs set state = 'unchecked', changed = ${VERSION} where state = 'broken'`)
  }

  #bump(): void {
    this.#sql.exec('update mirror set version = version + 1')
  }
}
