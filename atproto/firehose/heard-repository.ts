import { PACK_COLLECTION, REF_COLLECTION, REFS_COLLECTION, REPO_COLLECTION } from '../records/collections.ts'
import { decodePackRecord, decodeParkedPackRecord } from '../records/pack-record.ts'
import { InvalidRecordError } from '../records/record-error.ts'
import { parsePackKey, parseRefKey, parseRefsKey } from '../records/record-keys.ts'
import type { PackRecord } from '../records/record-types.ts'
import { decodeRefRecord, decodeRefsRecord } from '../records/ref-record.ts'
import { refState } from '../refs/merge.ts'
import type { RefState } from '../refs/ref-state.ts'
import type { RecordEvent, StreamEvent } from './stream-event.ts'

/** A pack that an account has written. */
export interface HeardPack {
  /** Whole record key. */
  readonly rkey: string
  /** Without `bytes`. */
  readonly record: PackRecord
  /** Where in R2 its bytes lie that were in the record; null: they are in blobs. */
  readonly parked: string | null
}

/** What a stream has said of one repository. */
export interface HeardRepository {
  readonly did: string
  /** Record key of `dev.skein.repo`. */
  readonly rkey: string
  readonly packs: readonly HeardPack[]
  readonly refs: readonly RefState[]
  /** Whether the record of the repository itself was written or deleted. */
  readonly isRecordNews: boolean
  /** Whether all of it is proven and spelled out. Else it is a reason to read the account. */
  readonly isProven: boolean
}

interface Gathered {
  readonly did: string
  readonly rkey: string
  readonly packs: HeardPack[]
  readonly refs: RefState[]
  isRecordNews: boolean
  isProven: boolean
}

/**
 * What events say of each repository. What is no valid record is left out. So are deletions, but of a repository: a ref
 * that is deleted is a record of its own, and a pack that goes has been replaced by another.
 */
export function heardRepositories(events: readonly StreamEvent[]): HeardRepository[] {
  const byKey = new Map<string, Gathered>()
  for (const event of events) {
    if (event.kind !== 'record') continue
    const rkey = repositoryOf(event)
    if (rkey === null) continue
    const key = `${event.did}/${rkey}`
    const heard = byKey.get(key) ?? {
      did: event.did,
      rkey,
      packs: [],
      refs: [],
      isRecordNews: false,
      isProven: true,
    }
    if (addTo(heard, event)) byKey.set(key, heard)
  }
  return [...byKey.values()]
}

/** Whether it says something. */
function addTo(heard: Gathered, event: RecordEvent): boolean {
  if (event.collection === REPO_COLLECTION) {
    heard.isRecordNews = true
    heard.isProven &&= event.isProven
    return true
  }
  if (event.value === null) return false
  heard.isProven &&= event.isProven
  try {
    return addRecord(heard, event)
  } catch (error) {
    if (error instanceof InvalidRecordError) return false
    throw error
  }
}

function addRecord(heard: Gathered, { collection, rkey, value, parked }: RecordEvent): boolean {
  switch (collection) {
    case PACK_COLLECTION: {
      const { bytes, ...record } = parked === undefined ? decodePackRecord(value) : decodeParkedPackRecord(value)
      // Nobody has kept its bytes for us.
      if (bytes !== undefined || parked === null) heard.isProven = false
      else heard.packs.push({ rkey, record, parked: parked ?? null })
      return true
    }
    case REF_COLLECTION:
      heard.refs.push(refState(decodeRefRecord(rkey, value), { kind: 'loose' }))
      return true
    case REFS_COLLECTION: {
      const { shard, seq } = parseRefsKey(rkey)!
      const { entries } = decodeRefsRecord(rkey, value, () => undefined)
      for (const entry of entries) heard.refs.push(refState(entry, { kind: 'packed', shard, shardSeq: seq }))
      return entries.length > 0
    }
    default:
      return false
  }
}

/** The record key of the repository that a record belongs to; null: to none. */
function repositoryOf({ collection, rkey }: RecordEvent): string | null {
  switch (collection) {
    case REPO_COLLECTION:
      return rkey
    case PACK_COLLECTION:
      return parsePackKey(rkey)?.repo ?? null
    case REF_COLLECTION:
      return parseRefKey(rkey)?.repo ?? null
    case REFS_COLLECTION:
      return parseRefsKey(rkey)?.repo ?? null
    default:
      return null
  }
}
