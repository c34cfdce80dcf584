import type { RecordEvent } from '../../atproto/firehose/stream-event.ts'
import { isSupportedDid } from '../../atproto/identity/syntax.ts'
import { InvalidRecordError } from '../../atproto/records/record-error.ts'
import { CLOCK_SKEW, isTid, tidTime } from '../../atproto/records/tid.ts'
import { CondensedValue, type DecodedRecord } from './condensed-value.ts'
import { droppedRecord } from './dropped-records.ts'
import type { DroppedRecord } from './index-types.ts'
import type { GivenRecord, IndexPlugin, RowValue } from './plugins/plugin.ts'
import { PLUGINS } from './plugins/plugins.ts'

/** https://atproto.com/specs/record-key */
const RECORD_KEY = /^[A-Za-z0-9._:~-]{1,512}$/

/** For how long it is known which event of a record was the newest: longer than any upstream's backlog. Milliseconds. */
export const REVS_KEPT_FOR = 3 * 24 * 60 * 60_000

/** Of what is wrong with a record, which a stranger may have worded, so much is kept. UTF-16 units. */
const MAX_FAULT = 1000

/** The newest event of one record, which is proven. */
export interface RecordChange {
  readonly plugin: IndexPlugin
  readonly did: string
  readonly rkey: string
  readonly rev: string
  /** When the account wrote it, by the rev: milliseconds since 1970. */
  readonly revTime: number
  /** Null: it is to have no row. */
  readonly values: readonly RowValue[] | null
  /** Whether there is a record, and it is valid. */
  readonly isRecord: boolean
}

/** What an event says of a record, and only the account can confirm. */
export interface RecordDoubt {
  readonly did: string
  readonly collection: string
  readonly rkey: string
  readonly rev: string
  /** Whether there would be a record, and a valid one. */
  readonly isRecord: boolean
}

export interface ReadEvents {
  /** One for each record. */
  readonly changes: readonly RecordChange[]
  readonly doubts: readonly RecordDoubt[]
  /** Of what is proven. */
  readonly dropped: readonly DroppedRecord[]
}

/**
 * What events say of records, whatever strangers have put into them. Collections that the index does not know are left out.
 * Also what is proven is in doubt where it is so old that it is not known any more what came after it: anyone can repeat what
 * an account has signed.
 *
 * @param now milliseconds since 1970
 */
export function readEvents(events: readonly RecordEvent[], now: number): ReadEvents {
  const dropped: DroppedRecord[] = []
  const doubts: RecordDoubt[] = []
  const newest = new Map<string, RecordEvent>()
  for (const event of events) {
    const { did, collection, rkey, rev, isProven } = event
    if (!PLUGINS.has(collection)) continue
    const fault = faultOf(event, now)
    if (fault !== null) {
      if (isProven) dropped.push(droppedRecord(event, fault))
      continue
    }
    if (!isProven || now - revTime(rev) > REVS_KEPT_FOR) {
      doubts.push({ did, collection, rkey, rev, isRecord: event.value !== null && decodeEvent(event).fault === null })
      continue
    }
    const key = `${did}/${collection}/${rkey}`
    const other = newest.get(key)
    if (other === undefined || rev >= other.rev) newest.set(key, event)
  }
  const changes = [...newest.values()].map((event): RecordChange => {
    const { did, collection, rkey, rev, value } = event
    const change = { plugin: PLUGINS.get(collection)!, did, rkey, rev, revTime: revTime(rev) }
    if (value === null) return { ...change, values: null, isRecord: false }
    const { values, fault } = decodeEvent(event)
    if (fault !== null) dropped.push(droppedRecord(event, fault))
    return { ...change, values, isRecord: fault === null }
  })
  return { changes, doubts, dropped }
}

/** Milliseconds since 1970. */
function revTime(rev: string): number {
  return Math.floor(tidTime(rev) / 1000)
}

function decodeEvent({ collection, rkey, value, parked }: RecordEvent) {
  return decode(PLUGINS.get(collection)!, { rkey, value, isParked: parked !== undefined })
}

/** What a plugin makes of a record, or has made of it. */
export function decode(plugin: IndexPlugin, record: GivenRecord): DecodedRecord {
  if (record.value instanceof CondensedValue) return record.value.decoded
  try {
    return { values: plugin.decode(record), fault: null }
  } catch (error) {
    if (!(error instanceof InvalidRecordError)) throw error
    return { values: null, fault: error.message.slice(0, MAX_FAULT) }
  }
}

/** Why a record's key cannot be one, or null. */
export function keyFault(rkey: string): string | null {
  return RECORD_KEY.test(rkey) ? null : 'the record key is none'
}

function faultOf({ did, rkey, rev }: RecordEvent, now: number): string | null {
  if (!isSupportedDid(did)) return 'the DID is none that is supported'
  if (!isTid(rev)) return 'the rev is no TID'
  // It would be newer than all that follows.
  if (tidTime(rev) > (now + CLOCK_SKEW) * 1000) return 'the rev lies in the future'
  return keyFault(rkey)
}
