import type { RefEntry, RefRecord, RefsRecord } from '../records/record-types.ts'
import type { RefState } from './ref-state.ts'

/** The number of the shard whose seq guards all shards: see {@link StoredRefs.head}. */
export const HEAD_SHARD = 0

export interface Shard {
  readonly shard: number
  readonly seq: number
  readonly record: RefsRecord
}

/** The refs of a repository, put together from its records. */
export interface StoredRefs {
  /** By full name; deleted refs are there with no target. */
  readonly refs: Map<string, RefState>
  /** Which landing wrote each ref's record, where it says. Only a writer after a fault needs to know. */
  readonly landings: Map<string, string>
  /**
   * Seq of the head shard, or null if there is none. It grows whenever a name gets its first loose record or another
   * shard changes: so whoever relies on a name having no loose record can tell that this is no longer so.
   */
  readonly head: number | null
}

/**
 * The highest seq of a name wins, and at equal seq the loose record. The other
 * records of a name are entries that a loose one has overtaken, or what a host that is lenient about deletes has left.
 */
export function mergeRefs(loose: readonly RefRecord[], shards: readonly Shard[]): StoredRefs {
  const refs = new Map<string, RefState>()
  const landings = new Map<string, string>()
  const offer = (state: RefState, landing: string | undefined) => {
    const known = refs.get(state.name)
    if (known && known.seq >= state.seq) return
    refs.set(state.name, state)
    if (landing === undefined) landings.delete(state.name)
    else landings.set(state.name, landing)
  }
  // The loose ones first: a packed entry with the same seq does not replace them.
  for (const record of loose) offer(refState(record, { kind: 'loose' }), record.landing)
  const current = newestShards(shards)
  for (const { shard, seq, record } of current.values()) {
    for (const entry of record.entries) offer(refState(entry, { kind: 'packed', shard, shardSeq: seq }), record.landing)
  }
  return { refs, landings, head: current.get(HEAD_SHARD)?.seq ?? null }
}

export function refState(entry: RefEntry, at: RefState['at']): RefState {
  const { name, target, peeled, seq, pack } = entry
  return { name, target, peeled: peeled ?? null, seq, pack: pack ?? null, at }
}

function newestShards(shards: readonly Shard[]): Map<number, Shard> {
  const newest = new Map<number, Shard>()
  for (const shard of shards) {
    const known = newest.get(shard.shard)
    if (!known || known.seq < shard.seq) newest.set(shard.shard, shard)
  }
  return newest
}
