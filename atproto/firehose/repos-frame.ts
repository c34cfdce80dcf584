import { fromUint8Array } from '@atcute/car'
import { type Bytes, type CidLink, decode, decodeFirst, fromBytes, isBytes, isCidLink } from '@atcute/cbor'
import { toString as cidText } from '@atcute/cid'
import { isSupportedDid } from '../identity/syntax.ts'
import { isObject } from '../network/json.ts'
import { MAX_RECORD_DEPTH, MAX_RECORD_VALUES } from '../records/record-bounds.ts'
import { isTid } from '../records/tid.ts'
import { checkCborShape } from './cbor-shape.ts'
import {
  type CommitBlocks,
  type EventsFrame,
  type Frame,
  MAX_FRAME_BYTES,
  MAX_FRAME_VALUES,
  readCursor,
  readText,
  readTime,
  unreadable,
} from './frame.ts'
import { eventValue } from './record-json.ts'
import { isWantedPath, parseRecordPath } from './record-path.ts'
import type { RecordEvent, StreamEvent } from './stream-event.ts'

/** A commit of 200 writes in a large repository has some thousands. */
const MAX_BLOCKS = 50_000
const FRAME_BOUNDS = { maxDepth: MAX_RECORD_DEPTH, maxItems: MAX_FRAME_VALUES }
const RECORD_BOUNDS = { maxDepth: MAX_RECORD_DEPTH, maxItems: MAX_RECORD_VALUES }
/** Of a CAR: a version, a list of one root or a few. */
const CAR_HEADER_BOUNDS = { maxDepth: 4, maxItems: 100 }

/**
 * One message of `com.atproto.sync.subscribeRepos`: two values of CBOR, what it is and what it says. Nothing is proven by
 * it. What cannot be read of an account's commit, though it may concern us, becomes a `sync` event: it is to be listed.
 *
 * @param now milliseconds since 1970, for messages that name no time
 */
export function decodeReposFrame(bytes: Uint8Array, now: number): Frame {
  if (bytes.length > MAX_FRAME_BYTES) return unreadable(`a message of ${bytes.length} bytes`)
  try {
    checkCborShape(bytes, FRAME_BOUNDS)
    const [header, rest] = decodeFirst(bytes)
    checkCborShape(rest, FRAME_BOUNDS)
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
  const nothing: EventsFrame = { kind: 'events', ...origin, events: [], commit: null, dropped: 0, values: 0 }
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
    const reader = new RecordReader(about, commit)
    const events = [...last.values()].flatMap((operation) => reader.read(operation) ?? [])
    return { ...nothing, events, commit, dropped: last.size - events.length, values: reader.values }
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
  const car = fromBytes(body.blocks as Bytes) as Uint8Array<ArrayBuffer>
  // Behind its length, of which only the last byte is below 128.
  checkCborShape(car.subarray(car.findIndex((byte) => byte < 0x80) + 1), CAR_HEADER_BOUNDS)
  const blocks = new Map<string, Uint8Array>()
  for (const { cid, bytes } of fromUint8Array(car)) {
    if (blocks.size === MAX_BLOCKS) throw new Error('too many blocks')
    blocks.set(cidText(cid), bytes)
  }
  return { cid: (body.commit as CidLink).$link, blocks }
}

/** Reads the records of one commit. */
class RecordReader {
  readonly #about: About
  readonly #commit: CommitBlocks
  /** So far, with the blocks. */
  values: number

  constructor(about: About, commit: CommitBlocks) {
    this.#about = about
    this.#commit = commit
    this.values = commit.blocks.size
  }

  /** @returns null: there can be no such record. @throws where its block is missing, or there are too many values */
  read({ path, cid }: Operation): RecordEvent | null {
    const names = parseRecordPath(path)
    if (names === null) return null
    const { rev, blocks } = this.#commit
    const event = { kind: 'record', ...this.#about, ...names, rev, isProven: false } as const
    if (cid === null) return { ...event, value: null }
    const block = cid === undefined ? undefined : blocks.get(cid)
    if (block === undefined) throw new Error('a record without its block')
    const value = eventValue(() => this.#decode(block))
    if (this.values > MAX_FRAME_VALUES) throw new Error(`more than ${MAX_FRAME_VALUES} values`)
    return { ...event, value }
  }

  #decode(block: Uint8Array): unknown {
    this.values += checkCborShape(block, RECORD_BOUNDS)
    return decode(block as Uint8Array<ArrayBuffer>)
  }
}

function isRev(rev: unknown): rev is string {
  return typeof rev === 'string' && isTid(rev)
}
