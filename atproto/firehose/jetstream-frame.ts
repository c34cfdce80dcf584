import { isSupportedDid } from '../identity/syntax.ts'
import { type BoundedJson, HeavyJsonError, parseBoundedJson } from '../network/bounded-json.ts'
import { isObject } from '../network/json.ts'
import { isTid } from '../records/tid.ts'
import { type EventsFrame, type Frame, MAX_FRAME_BYTES, readCursor, readText, readTime, unreadable } from './frame.ts'
import { eventValue } from './record-json.ts'
import { checkRecordPath, isWantedCollection } from './record-path.ts'
import type { StreamEvent } from './stream-event.ts'

/**
 * One message of Jetstream's `/subscribe`. Nothing in it is signed.
 * https://github.com/bluesky-social/jetstream#consuming-jetstream
 */
export function decodeJetstreamFrame(text: string): Frame {
  const { value: message, values } = readMessage(text)
  if (!isObject(message)) return unreadable('a message that is no object')
  const cursor = readCursor(message.time_us)
  if (cursor === null) return unreadable('a message without a time')
  const origin = { cursor, time: Math.floor(cursor / 1000) }
  return { ...eventsFrame(origin, message.did, message.kind, message[String(message.kind)]), values }
}

/**
 * One message of `network.bsky.jetstream.subscribeEvents`: an envelope (`xrpc.v1.json`) around what the lexicon says.
 * https://github.com/bluesky-social/jetstream/blob/main/lexicons/network/bsky/jetstream/subscribeEvents.json
 *
 * @param now milliseconds since 1970, for messages that name no time
 */
export function decodeJetstreamV2Frame(text: string, now: number): Frame {
  const { value: envelope, values } = readMessage(text)
  if (!isObject(envelope)) return unreadable('a message that is no object')
  if (envelope.$type === 'error')
    return { kind: 'error', name: readText(envelope.error), message: readText(envelope.message) }
  const { payload } = envelope
  if (envelope.$type !== 'message' || !isObject(payload)) return unreadable('a message of no known kind')
  const kind = readText(payload.$type).split('#')[1]
  if (kind === 'info') return { kind: 'notice', name: readText(payload.name), message: readText(payload.message) }
  const cursor = readCursor(payload.seq)
  if (cursor === null) return unreadable('a message without a number')
  // Its `time` can be another than when the event came.
  const origin = { cursor, time: readTime(payload.witnessedAt ?? payload.time, now) }
  // A commit's fields stand beside its number; of the others the message of the firehose is inside.
  return { ...eventsFrame(origin, payload.did, kind, kind === 'commit' ? payload : payload[String(kind)]), values }
}

/** A record lies in its commit, which lies in the message, or beside the other fields of what is in the envelope. */
const BOUNDS = { recordsAt: 2 }

function readMessage(text: string): BoundedJson {
  try {
    if (text.length <= MAX_FRAME_BYTES) return parseBoundedJson(text, BOUNDS)
  } catch (fault) {
    if (!(fault instanceof HeavyJsonError)) throw fault
  }
  return { value: undefined, values: 0 }
}

function eventsFrame(
  origin: Pick<EventsFrame, 'cursor' | 'time'>,
  did: unknown,
  kind: unknown,
  body: unknown,
): Omit<EventsFrame, 'values'> {
  const nothing = { kind: 'events', ...origin, events: [], commit: null, dropped: 0 } as const
  if (typeof did !== 'string' || !isSupportedDid(did) || !isObject(body)) return nothing
  const about = { did, ...origin }
  const only = (event: StreamEvent) => ({ ...nothing, events: [event] })
  switch (kind) {
    case 'commit': {
      const { collection, rkey, rev, operation, record } = body
      if (typeof collection !== 'string' || !isWantedCollection(collection)) return nothing
      const names = checkRecordPath(collection, rkey)
      if (names === null || !isRev(rev)) return { ...nothing, dropped: 1 }
      const value = operation === 'delete' ? null : eventValue(() => record ?? 'no record')
      return only({ kind: 'record', ...about, ...names, rev, value, isProven: false })
    }
    case 'identity':
      return only({ kind: 'identity', ...about })
    case 'account': {
      const status = typeof body.status === 'string' ? readText(body.status) : null
      return only({ kind: 'account', ...about, isActive: body.active === true, status })
    }
    case 'sync':
      return isRev(body.rev) ? only({ kind: 'sync', ...about, rev: body.rev }) : nothing
    default:
      return nothing
  }
}

function isRev(rev: unknown): rev is string {
  return typeof rev === 'string' && isTid(rev)
}
