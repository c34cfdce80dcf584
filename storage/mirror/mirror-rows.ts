import type { RepoRecord } from '../../atproto/records/record-types.ts'
import type { RefState } from '../../atproto/refs/ref-state.ts'

/**
 * `wanted`: the account has it, the mirror does not yet. `ready`: its files are in R2. `broken`: it could not be taken
 * in, for good. `gone`: the account has it no more, or never had it although a ref names it. `merged`: it is in a pack
 * that the mirror has made, or in several.
 */
export type PackState = 'wanted' | 'ready' | 'broken' | 'gone' | 'merged'

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

/** A ref and its target, at the time when it was looked at. */
export interface RefTarget {
  readonly name: string
  readonly target: string
}

export interface HeadRow extends Record<string, SqlStorageValue> {
  did: string
  rkey: string
  pds: string
  record: string
  head: number | null
  version: number
  checked_at: number
}

export interface RefRow extends Record<string, SqlStorageValue> {
  name: string
  target: string | null
  peeled: string | null
  seq: number
  pack: string | null
  shard: number | null
  shard_seq: number | null
  state: RefSoundness
}

export interface PackRow extends Record<string, SqlStorageValue> {
  id: string
  size: number
  objects: number
}

export function headFromRow({ did, rkey, pds, record, head, version, checked_at: checkedAt }: HeadRow): MirrorHead {
  return { did, rkey, pds, record: JSON.parse(record) as RepoRecord, head, version, checkedAt }
}

export function refFromRow({ name, target, peeled, seq, pack, shard, shard_seq: shardSeq }: RefRow): RefState {
  const at =
    shard === null ? ({ kind: 'loose' } as const) : ({ kind: 'packed', shard, shardSeq: shardSeq ?? 0 } as const)
  return { name, target, peeled, seq, pack, at }
}
