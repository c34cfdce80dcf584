import { fromUint8Array } from '@atcute/car'
import { type Bytes, type CidLink, decode, decodeFirst, fromBytes, isBytes, isCidLink } from '@atcute/cbor'
import { toString as cidText } from '@atcute/cid'
import { isSupportedDid } from '../identity/syntax.ts'
import { isObject } from '../network/json.ts'
import { isTid } from '../records/tid.ts'
import { checkCborShape } from './cbor-shape.ts'
import {
  type CommitBlocks,
  type EventsFrame,
  type Frame,
  MAX_FRAME_BYTES,
  readCursor,
  readText,
  readTime,
  unreadable,
} from './frame.ts'
import { eventValue, MAX_RECORD_DEPTH } from './record-json.ts'
import { isWantedPath, parseRecordPath } from './record-path.ts'
import type { RecordEvent, StreamEvent } from './stream-event.ts'

/** A commit of 200 writes in a large repository has some thousands. */
const MAX_BLOCKS = 50_000

/**
 * One message of `com.atproto.sync.subscribeRepos`: two values of CBOR, what it is and what it says. Nothing is proven by
 * it. What cannot be read of an account's commit, though it may concern us, becomes a `sync` event: it is to be listed.
 *
 * @param now milliseconds since 1970, for messages that name no time
 */
export function decodeReposFrame(bytes: Uint8Array, now: number): Frame {
  if (bytes.length > MAX_FRAME_BYTES) return unreadable(`a message of ${bytes.length} bytes`)
  try {
    checkCborShape(bytes, MAX_RECORD_DEPTH)
    const [header, rest] = decodeFirst(bytes)
    checkCborShape(rest, MAX_RECORD_DEPTH)
    const body: unknown = decode(rest)
    if (!isObject(header) || !isObject(body)) return unreadable('a message that is no object')
    return readFrame(header, body, now)
  } catch (fault) {
    return unreadable(fault)
  }
}

function readFrame(header: Record<string, unknown>, body: Record<string, unknown>, now: number): Frame {
  if (header.op === -1) return { kind: 'error', name: readText(body.error), message: readText(body.message) }
  if (header.op !== 1) return unreadable('a message of no known kind')
  if (header.t === '#info') return { kind: 'notice', name: readText(body.name), message: readText(body.message) }
  const cursor = readCursor(body.seq)
  if (cursor === null) return unreadable('a message without a number')
  const origin = { cursor, time: readTime(body.time, now) }
  const nothing: EventsFrame = { kind: 'events', ...origin, events: [], commit: null, dropped: 0 }
  const did = header.t === '#commit' ? body.repo : body.did
  if (typeof did !== 'string' || !isSupportedDid(did)) return nothing
  const about = { did, ...origin }
  switch (header.t) {
    case '#commit':
      return readCommit(nothing, about, body)
    case '#sync':
      return isRev(body.rev) ? { ...nothing, events: [{ kind: 'sync', ...about, rev: body.rev }] } : nothing
    case '#identity':
      return { ...nothing, events: [{ kind: 'identity', ...about }] }
    case '#account': {
      const status = typeof body.status === 'string' ? readText(body.status) : null
      return { ...nothing, events: [{ kind: 'account', ...about, isActive: body.active === true, status }] }
    }
    default:
      return nothing
  }
}

/** Of a commit, as the lexicon has it. */
const MAX_OPERATIONS = 200

type About = Pick<RecordEvent, 'did' | 'cursor' | 'time'>

interface Operation {
  readonly path: string
  /** Of the record; null: it was deleted; undefined: it is not told. */
  readonly cid: string | null | undefined
}

function readCommit(nothing: EventsFrame, about: About, body: Record<string, unknown>): EventsFrame {
  const { rev, ops } = body
  if (!isRev(rev)) return nothing
  const listIt: StreamEvent = { kind: 'sync', ...about, rev }
  if (body.tooBig === true || !Array.isArray(ops) || ops.length > MAX_OPERATIONS)
    return { ...nothing, events: [listIt] }
  const wanted = ops.flatMap((op: unknown) => wantedOperation(op) ?? [])
  if (wanted.length === 0) return nothing
  // A record that is written twice in one commit is what it is at the end: no reader has seen it in between.
  const last = new Map(wanted.map((operation) => [operation.path, operation]))
  try {
    const claims = new Map([...last].flatMap(([path, { cid }]) => (cid === undefined ? [] : [[path, cid]])))
    const commit = { did: about.did, rev, ...readBlocks(body), claims }
    const events = [...last.values()].flatMap((operation) => recordEvent(about, operation, commit) ?? [])
    return { ...nothing, events, commit, dropped: last.size - events.length }
  } catch {
    return { ...nothing, events: [listIt] }
  }
}

function wantedOperation(op: unknown): Operation | null {
  if (!isObject(op) || typeof op.path !== 'string' || !isWantedPath(op.path)) return null
  if (op.action === 'delete') return { path: op.path, cid: null }
  return { path: op.path, cid: isCidLink(op.cid) ? op.cid.$link : undefined }
}

/** @throws where they are none */
function readBlocks(body: Record<string, unknown>): Pick<CommitBlocks, 'cid' | 'blocks'> {
  if (!isBytes(body.blocks) || !isCidLink(body.commit)) throw new Error('a commit without blocks')
  const blocks = new Map<string, Uint8Array>()
  for (const { cid, bytes } of fromUint8Array(fromBytes(body.blocks as Bytes) as Uint8Array<ArrayBuffer>)) {
    if (blocks.size === MAX_BLOCKS) throw new Error('too many blocks')
    blocks.set(cidText(cid), bytes)
  }
  return { cid: (body.commit as CidLink).$link, blocks }
}

/** @returns null: there can be no such record. @throws where its block is missing */
function recordEvent(about: About, { path, cid }: Operation, commit: CommitBlocks): RecordEvent | null {
  const names = parseRecordPath(path)
  if (names === null) return null
  const event = { kind: 'record', ...about, ...names, rev: commit.rev, isProven: false } as const
  if (cid === null) return { ...event, value: null }
  const block = cid === undefined ? undefined : commit.blocks.get(cid)
  if (block === undefined) throw new Error('a record without its block')
  return { ...event, value: eventValue(() => decodeRecord(block)) }
}

function decodeRecord(block: Uint8Array): unknown {
  checkCborShape(block, MAX_RECORD_DEPTH)
  return decode(block as Uint8Array<ArrayBuffer>)
}

function isRev(rev: unknown): rev is string {
  return typeof rev === 'string' && isTid(rev)
}
