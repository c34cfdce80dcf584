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

/** Of what is wrong with a record, which a stranger may have worded, so much is kept. UTF-16 units. */
const MAX_FAULT = 1000

/** The newest event of one record. */
export interface RecordChange {
  readonly plugin: IndexPlugin
  readonly did: string
  readonly rkey: string
  readonly rev: string
  /** Null: it is to have no row. */
  readonly values: readonly RowValue[] | null
  /** Whether there is a record, and it is valid. */
  readonly isRecord: boolean
}

export interface ReadEvents {
  /** One for each record. */
  readonly changes: readonly RecordChange[]
  readonly dropped: readonly DroppedRecord[]
}

/**
 * What events say of records, whatever strangers have put into them. Collections that the index does not know are left out.
 *
 * @param now milliseconds since 1970
 */
export function readEvents(events: readonly RecordEvent[], now: number): ReadEvents {
  const dropped: DroppedRecord[] = []
  const newest = new Map<string, RecordEvent>()
  for (const event of events) {
    if (!PLUGINS.has(event.collection)) continue
    const fault = faultOf(event, now)
    if (fault !== null) {
      dropped.push(droppedRecord(event, fault))
      continue
    }
    const key = `${event.did}/${event.collection}/${event.rkey}`
    const other = newest.get(key)
    if (other === undefined || event.rev >= other.rev) newest.set(key, event)
  }
  const changes = [...newest.values()].map((event): RecordChange => {
    const plugin = PLUGINS.get(event.collection)!
    const { did, rkey, rev, value } = event
    if (value === null) return { plugin, did, rkey, rev, values: null, isRecord: false }
    const outcome = decode(plugin, { rkey, value, isParked: event.parked !== undefined })
    if (outcome.fault !== null) dropped.push(droppedRecord(event, outcome.fault))
    return { plugin, did, rkey, rev, values: outcome.values, isRecord: outcome.fault === null }
  })
  return { changes, dropped }
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
