import { describe, expect, it } from 'vitest'
import { decodeFrame } from '../../../atproto/firehose/decode-frame.ts'
import { decodeJetstreamFrame, decodeJetstreamV2Frame } from '../../../atproto/firehose/jetstream-frame.ts'

const NOW = 1_800_000_000_000
const DID = 'did:plc:abcdefghijklmnopqrstuvwx'
const REV = '3lzkoq5qq2s2a'
const RECORD = { $type: 'dev.skein.repo', name: 'app' }

const COMMIT = {
  rev: REV,
  operation: 'create',
  collection: 'dev.skein.repo',
  rkey: REV,
  record: RECORD,
  cid: 'bafyrei',
}

const v1 = (message: object) =>
  decodeJetstreamFrame(JSON.stringify({ did: DID, time_us: 1_725_516_665_234_703, ...message }))
const NSID = 'network.bsky.jetstream.subscribeEvents'
const v2 = (kind: string, payload: object) => {
  const common = { $type: `${NSID}#${kind}`, seq: 41, did: DID, time: '2026-12-01T00:00:00.000001Z' }
  return decodeJetstreamV2Frame(JSON.stringify({ $type: 'message', payload: { ...common, ...payload } }), NOW)
}

describe('a message of Jetstream', () => {
  const origin = { did: DID, cursor: 1_725_516_665_234_703, time: 1_725_516_665_234 }

  it('is a record that was written, or deleted', () => {
    const event = { kind: 'record', ...origin, collection: 'dev.skein.repo', rkey: REV, rev: REV, isProven: false }
    expect(v1({ kind: 'commit', commit: COMMIT })).toEqual({
      kind: 'events',
      cursor: origin.cursor,
      time: origin.time,
      events: [{ ...event, value: RECORD }],
      commit: null,
      dropped: 0,
      values: 12,
    })
    const { record: _, cid: __, ...deleted } = { ...COMMIT, operation: 'delete' }
    expect(v1({ kind: 'commit', commit: deleted })).toMatchObject({ events: [{ ...event, value: null }] })
  })

  it('is an identity or an account', () => {
    const identity = { did: DID, handle: 'alice.test', seq: 1, time: '2024-09-05T06:11:04.870Z' }
    expect(v1({ kind: 'identity', identity })).toMatchObject({ events: [{ kind: 'identity', ...origin }] })
    const account = { active: false, status: 'takendown', did: DID, seq: 1, time: '2024-09-05T06:11:04.870Z' }
    const event = { kind: 'account', ...origin, isActive: false, status: 'takendown' }
    expect(v1({ kind: 'account', account })).toMatchObject({ events: [event] })
    expect(v1({ kind: 'account', account: { active: true, did: DID } })).toMatchObject({
      events: [{ ...event, isActive: true, status: null }],
    })
  })

  it.each<[string, object]>([
    ['of another collection', { kind: 'commit', commit: { ...COMMIT, collection: 'app.bsky.feed.post' } }],
    [
      'of a collection that only looks like ours',
      { kind: 'commit', commit: { ...COMMIT, collection: 'dev.skeins.repo' } },
    ],
    ['of a kind that is not known', { kind: 'party', party: {} }],
    ['without what it announces', { kind: 'commit' }],
    ['of no account', { kind: 'commit', commit: COMMIT, did: 'did:example:alice' }],
  ])('%s says nothing, and moves on', (_, message) => {
    expect(v1(message)).toMatchObject({ kind: 'events', cursor: origin.cursor, events: [] })
  })

  it.each<[string, object]>([
    ['a key that can be none', { rkey: '../x' }],
    ['a key with a slash', { rkey: 'a/b' }],
    ['a collection that can be none', { collection: 'dev.skein.' }],
    ['a revision that can be none', { rev: 'zzz' }],
  ])('with %s is left out', (_, change) => {
    expect(v1({ kind: 'commit', commit: { ...COMMIT, ...change } })).toMatchObject({ events: [], dropped: 1 })
  })

  it('with a record that is none has a value that no one takes for one', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    const text = JSON.stringify({ did: DID, time_us: 1, kind: 'commit', commit: { ...COMMIT, record: 'RECORD' } })
    const empty = `[${'{},'.repeat(300_000)}{}]`
    for (const record of ['null', deep, empty]) {
      const frame = decodeJetstreamFrame(text.replace('"RECORD"', record))
      expect(frame).toMatchObject({ cursor: 1, events: [{ value: expect.any(String) }] })
    }
    const frame = v1({ kind: 'commit', commit: { ...COMMIT, record: undefined } })
    expect(frame).toMatchObject({ events: [{ value: expect.any(String) }] })
  })

  it('keeps a property that is named like the prototype where it is', () => {
    const text = `{"did":"${DID}","time_us":1,"kind":"commit","commit":{"rev":"${REV}","operation":"create","collection":"dev.skein.repo","rkey":"a","record":{"__proto__":{"name":"x"}}}}`
    const frame = decodeJetstreamFrame(text)
    expect(JSON.stringify(frame)).toContain('"value":{"__proto__":{"name":"x"}}')
  })

  it.each([
    '',
    '{',
    '[]',
    'null',
    '"x"',
    '{"did":1}',
    `{"did":"${DID}","time_us":1.5}`,
    `{"time_us":-1}`,
    `{"time_us":1e300}`,
  ])('%s cannot be read', (text) => {
    expect(decodeJetstreamFrame(text)).toMatchObject({ kind: 'unreadable' })
    expect(decodeJetstreamV2Frame(text, NOW)).toMatchObject({ kind: 'unreadable' })
  })

  it('of more values than any may hold cannot be read', () => {
    const text = `{"did":"${DID}","time_us":1,"kind":"commit","commit":[${'0,'.repeat(100_000)}0]}`
    expect(decodeJetstreamFrame(text)).toMatchObject({ kind: 'unreadable' })
    expect(decodeJetstreamV2Frame(text, NOW)).toMatchObject({ kind: 'unreadable' })
  })

  it('of bytes cannot be read, nor text of the firehose', () => {
    expect(decodeFrame('jetstream', new ArrayBuffer(3), NOW)).toMatchObject({ kind: 'unreadable' })
    expect(decodeFrame('jetstream-v2', new ArrayBuffer(3), NOW)).toMatchObject({ kind: 'unreadable' })
    expect(decodeFrame('repos', '{}', NOW)).toMatchObject({ kind: 'unreadable' })
  })
})

describe('a message of Jetstream v2', () => {
  const origin = { did: DID, cursor: 41, time: Date.parse('2026-12-01T00:00:00.000Z') }

  it('is a record that was written, or deleted', () => {
    const event = { kind: 'record', ...origin, collection: 'dev.skein.repo', rkey: REV, rev: REV, isProven: false }
    expect(v2('commit', COMMIT)).toMatchObject({ kind: 'events', cursor: 41, events: [{ ...event, value: RECORD }] })
    expect(v2('commit', { ...COMMIT, operation: 'delete', record: undefined })).toMatchObject({
      events: [{ ...event, value: null }],
    })
  })

  it('was seen when its server says, whatever time it shows', () => {
    const witnessedAt = '2026-12-01T12:00:00.000001Z'
    expect(v2('commit', { ...COMMIT, witnessedAt })).toMatchObject({ time: Date.parse('2026-12-01T12:00:00Z') })
    expect(v2('commit', { ...COMMIT, time: 'yesterday' })).toMatchObject({ time: NOW })
  })

  it('is an identity, an account, or a repository that is to be listed', () => {
    expect(v2('identity', { identity: { did: DID, seq: 9, time: '' } })).toMatchObject({
      events: [{ kind: 'identity', ...origin }],
    })
    expect(v2('account', { account: { did: DID, active: false, status: 'deleted', seq: 9, time: '' } })).toMatchObject({
      events: [{ kind: 'account', ...origin, isActive: false, status: 'deleted' }],
    })
    expect(v2('sync', { sync: { did: DID, rev: REV, blocks: { $bytes: '' }, seq: 9, time: '' } })).toMatchObject({
      events: [{ kind: 'sync', ...origin, rev: REV }],
    })
  })

  it('is a word about the stream', () => {
    expect(v2('info', { name: 'OutdatedCursor', message: 'resumed from 7' })).toEqual({
      kind: 'notice',
      name: 'OutdatedCursor',
      message: 'resumed from 7',
    })
    const error = { $type: 'error', error: 'ConsumerTooSlow', message: 'x'.repeat(10_000) }
    expect(decodeJetstreamV2Frame(JSON.stringify(error), NOW)).toEqual({
      kind: 'error',
      name: 'ConsumerTooSlow',
      message: 'x'.repeat(300),
    })
  })
})
