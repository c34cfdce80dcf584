import { encode, toBytes } from '@atcute/cbor'
import { describe, expect, it } from 'vitest'
import { checkCborShape } from '../../../atproto/firehose/cbor-shape.ts'
import { decodeReposFrame } from '../../../atproto/firehose/repos-frame.ts'
import { type CommitOp, commitFrame, encodeMessage, messageOf } from './frames.ts'

const NOW = 1_800_000_000_000
const DID = 'did:plc:abcdefghijklmnopqrstuvwx'
const REV = '3lzkoq5qq2s2a'

const commitOf = (ops: readonly CommitOp[], change: object = {}) => commitFrame(DID, REV, ops, change)
const RECORD = encode({ $type: 'dev.skein.repo', name: 'app' })
const WRITE: CommitOp = { action: 'create', path: `dev.skein.repo/${REV}`, record: RECORD }
const SYNC = { kind: 'sync', did: DID, rev: REV, cursor: 7, time: Date.parse('2026-12-01T00:00:00Z') }

describe('a commit', () => {
  it('that writes a record twice has it once, as it is at the end', async () => {
    const again = encode({ $type: 'dev.skein.repo', name: 'again' })
    const deleted: CommitOp = { action: 'delete', path: WRITE.path }
    const events = async (ops: readonly CommitOp[]) => {
      const frame = decodeReposFrame(await commitOf(ops), NOW)
      return frame.kind === 'events' ? frame.events.map((event) => event.kind === 'record' && event.value) : null
    }
    expect(await events([WRITE, { ...WRITE, action: 'update', record: again }])).toMatchObject([{ name: 'again' }])
    expect(await events([WRITE, deleted])).toEqual([null])
    expect(await events([deleted, WRITE])).toMatchObject([{ name: 'app' }])
  })

  it('that deletes one key and creates the next has both', async () => {
    const path = (seq: number) => `dev.skein.ref/${REV}:abc:${seq}`
    const frame = await commitOf([
      { action: 'delete', path: path(7) },
      { action: 'create', path: path(8), record: RECORD },
    ])
    expect(decodeReposFrame(frame, NOW)).toMatchObject({
      events: [
        { rkey: `${REV}:abc:7`, value: null },
        { rkey: `${REV}:abc:8`, value: { name: 'app' } },
      ],
    })
  })

  it.each<[string, object]>([
    [
      'does more than a commit may',
      { ops: Array.from({ length: 201 }, () => ({ action: 'delete', path: WRITE.path, cid: null })) },
    ],
    ['is too big', { tooBig: true, ops: [], blocks: toBytes(new Uint8Array(0)) }],
    ['has no blocks', { blocks: toBytes(new Uint8Array(0)) }],
    ['has blocks that are none', { blocks: toBytes(new Uint8Array([1, 2, 3])) }],
    ['has no list of what it does', { ops: 5 }],
    ['names no block', { ops: [{ action: 'create', path: WRITE.path, cid: null }] }],
  ])('that %s has the account listed', async (_, change) => {
    expect(decodeReposFrame(await commitOf([WRITE], change), NOW)).toMatchObject({ cursor: 7, events: [SYNC] })
  })

  it('of other collections is not looked at', async () => {
    const other = { blocks: toBytes(new Uint8Array([1])), ops: [{ action: 'create', path: 'app.bsky.feed.post/1' }] }
    expect(decodeReposFrame(await commitOf([], other), NOW)).toMatchObject({ cursor: 7, events: [], commit: null })
  })

  it.each([
    'dev.skein.repo',
    'dev.skein.repo/',
    'dev.skein.repo/a/b',
    'dev.skein.repo/..',
    'dev.skein.repo/a b',
    'dev.skein./a',
    'dev.skein.re po/a',
    `dev.skein.repo/${'a'.repeat(513)}`,
  ])('leaves out the path %s, and not the others', async (path) => {
    const frame = decodeReposFrame(await commitOf([{ ...WRITE, path }, WRITE]), NOW)
    expect(frame).toMatchObject({ events: [{ rkey: REV }], dropped: 1 })
  })

  it.each<[string, Uint8Array<ArrayBuffer>]>([
    ['that is nested too deep', new Uint8Array([...Array.from({ length: 100 }, () => 0x81), 0])],
    ['of lists in lists that announce millions', nestedLists(500)],
    ['that ends early', RECORD.slice(0, 10)],
    ['that is no CBOR', new Uint8Array([0xff, 0xff])],
    ['with something behind it', new Uint8Array([...RECORD, 0])],
    ['with an undefined', new Uint8Array([0xf7])],
    ['of a megabyte of empty maps', emptyMaps(1_000_000)],
    ['of more than any may hold', emptyMaps(60_001)],
  ])('with a record %s has it refused by whoever validates it', async (_, record) => {
    const frame = decodeReposFrame(await commitOf([{ ...WRITE, record }]), NOW)
    expect(frame).toMatchObject({ events: [{ kind: 'record', value: expect.stringContaining('unreadable') }] })
  })

  it('with records that are too much together has the account listed', async () => {
    const ops = [1, 2].map((n) => ({ ...WRITE, path: `${WRITE.path}${n}`, record: emptyMaps(60_000) }))
    expect(decodeReposFrame(await commitOf(ops.slice(1)), NOW)).toMatchObject({
      events: [{ kind: 'record' }],
      values: 60_001,
    })
    expect(decodeReposFrame(await commitOf(ops), NOW)).toMatchObject({ events: [SYNC], values: 0 })
  })

  it('whose blocks begin with lists that announce millions has the account listed', async () => {
    const header = nestedLists(500)
    const length = [0x80 | (header.length & 0x7f), 0x80 | ((header.length >> 7) & 0x7f), header.length >> 14]
    const blocks = toBytes(new Uint8Array([...length, ...header]))
    expect(decodeReposFrame(await commitOf([WRITE], { blocks }), NOW)).toMatchObject({ events: [SYNC] })
  })

  it('has the wildest of records as they are', async () => {
    const value = {
      long: 'x'.repeat(1_000_000),
      control: '\u0000\u202e\ud800'.slice(0, 2),
      year: '9999-12-31T23:59:59Z',
    }
    const frame = decodeReposFrame(await commitOf([{ ...WRITE, record: encode(value) }]), NOW)
    expect(frame).toMatchObject({ events: [{ value }] })
  })
})

/** A list of empty maps: a byte each, and some sixty when they are decoded. */
function emptyMaps(count: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array([0x9a, count >> 24, count >> 16, count >> 8, count, ...new Uint8Array(count).fill(0xa0)])
}

/** A few bytes each, that together would have the decoder make room for billions of items. */
function nestedLists(depth: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(depth * 5 + 60_000)
  for (let n = 0; n < depth; n++) bytes.set([0x9a, 0, 0, 0xe0, 0], n * 5)
  return bytes
}

describe('a message', () => {
  it('of a whole repository, an identity and an account', () => {
    const about = { did: DID, seq: 7, time: '2026-12-01T00:00:00Z' }
    expect(decodeReposFrame(messageOf('#sync', { ...about, rev: REV }), NOW)).toMatchObject({ events: [SYNC] })
    expect(decodeReposFrame(messageOf('#sync', { ...about, rev: 'x' }), NOW)).toMatchObject({ events: [], cursor: 7 })
    expect(decodeReposFrame(messageOf('#identity', about), NOW)).toMatchObject({ events: [{ kind: 'identity' }] })
    const account = { ...about, active: false, status: 'deleted' }
    expect(decodeReposFrame(messageOf('#account', account), NOW)).toMatchObject({
      events: [{ kind: 'account', isActive: false, status: 'deleted' }],
    })
    expect(decodeReposFrame(messageOf('#account', { ...account, active: 1, status: 4 }), NOW)).toMatchObject({
      events: [{ isActive: false, status: null }],
    })
  })

  it.each(['#tombstone', '#handle', '#unheard', ''])('of the kind %s says nothing, and moves on', (type) => {
    const frame = decodeReposFrame(messageOf(type, { did: DID, seq: 7, time: 'x' }), NOW)
    expect(frame).toMatchObject({ kind: 'events', cursor: 7, time: NOW, events: [] })
  })

  it('about the stream', () => {
    expect(decodeReposFrame(messageOf('#info', { name: 'OutdatedCursor', message: 'm' }), NOW)).toEqual({
      kind: 'notice',
      name: 'OutdatedCursor',
      message: 'm',
    })
    const error = encodeMessage({ header: { op: -1 }, body: { error: 'FutureCursor', message: 'm' } })
    expect(decodeReposFrame(error, NOW)).toEqual({ kind: 'error', name: 'FutureCursor', message: 'm' })
  })

  it.each<[string, Uint8Array]>([
    ['of nothing', new Uint8Array(0)],
    ['of one value', encode({ op: 1, t: '#commit' })],
    ['of lists', encodeMessage({ header: [] as never, body: [] as never })],
    ['without a number', messageOf('#identity', { did: DID })],
    ['with a negative number', messageOf('#identity', { did: DID, seq: -1 })],
    ['of another operation', encodeMessage({ header: { op: 2, t: '#commit' }, body: { seq: 1 } })],
    ['of lists that announce millions', nestedLists(500)],
    ['of millions of empty maps', emptyMaps(5_000_000)],
    ['of more than any may have', new Uint8Array(6_000_001)],
  ])('%s cannot be read', (_, bytes) => {
    expect(decodeReposFrame(bytes, NOW)).toMatchObject({ kind: 'unreadable', reason: expect.any(String) })
  })
})

describe('the shape of CBOR', () => {
  it('is that of what an encoder makes', () => {
    const value = { a: [1, -1, 2 ** 40, 1.5, null, true, 'é', toBytes(new Uint8Array(300))], b: { c: {}, d: [] } }
    expect(checkCborShape(encode(value), { maxDepth: 8, maxItems: 16 })).toBe(16)
    expect(() => checkCborShape(encode(value), { maxDepth: 1, maxItems: 16 })).toThrow('nested deeper than 1')
    expect(() => checkCborShape(encode(value), { maxDepth: 8, maxItems: 15 })).toThrow('has more than 15 items')
  })
})
