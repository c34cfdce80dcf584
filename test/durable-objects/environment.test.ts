import { describe, expect, test } from 'vitest'
import {
  mayMirror,
  mayPush,
  readEvictAfter,
  readOperatorToken,
  readSizeCaps,
} from '../../durable-objects/environment.ts'
import { roomOf } from '../../durable-objects/size-caps.ts'

const A = 'did:plc:abcdefghijklmnopqrstuvwx'
const B = 'did:web:bob.example'

describe('who is mirrored, and who may push', () => {
  test.each([undefined, '', '  '])('is everybody where the list is %j', (list) => {
    const settings = list === undefined ? {} : { MIRROR_FOR: list, PUSH_FOR: list }
    expect([mayMirror(settings, A), mayPush(settings, A)]).toEqual([true, true])
  })

  test('is whoever is on the lists; only what is mirrored is written to', () => {
    const settings = { MIRROR_FOR: ` ${A}\n`, PUSH_FOR: `${A}  ${B}` }
    expect([mayMirror(settings, A), mayPush(settings, A)]).toEqual([true, true])
    expect([mayMirror(settings, B), mayPush(settings, B)]).toEqual([false, false])
    expect(mayPush({ PUSH_FOR: B }, A)).toBe(false)
  })

  test('is nobody where a list cannot be read, which is said by its name', () => {
    expect(() => mayMirror({ MIRROR_FOR: `${A},${B}` }, A)).toThrow(/MIRROR_FOR must be DIDs/)
    expect(() => mayPush({ PUSH_FOR: 'alice.test' }, A)).toThrow(/PUSH_FOR must be DIDs.*alice\.test/)
  })
})

test('caps, days and the operator’s token are read, or said to be wrong by their names', () => {
  expect(readSizeCaps({})).toEqual({ repository: null, account: null })
  expect(readSizeCaps({ MAX_REPOSITORY_BYTES: '10' })).toEqual({ repository: 10, account: null })
  expect(() => readSizeCaps({ MAX_ACCOUNT_BYTES: '1 GB' })).toThrow(/MAX_ACCOUNT_BYTES/)
  expect(readEvictAfter({})).toBe(null)
  expect(readEvictAfter({ EVICT_AFTER_DAYS: '2' })).toBe(2 * 24 * 60 * 60_000)
  expect(() => readEvictAfter({ EVICT_AFTER_DAYS: '0' })).toThrow(/EVICT_AFTER_DAYS/)
  expect(readOperatorToken({ OPERATOR_TOKEN: '' })).toBe(null)
  expect(readOperatorToken({ OPERATOR_TOKEN: 'x'.repeat(32) })).toBe('x'.repeat(32))
  expect(() => readOperatorToken({ OPERATOR_TOKEN: 'short-secret' })).toThrow(/^(?!.*short-secret).*OPERATOR_TOKEN/)
})

test('the room is what the nearer cap leaves', () => {
  const sizes = { repository: 60, others: 30 }
  expect(roomOf({ repository: null, account: null }, sizes)).toBe(null)
  expect(roomOf({ repository: 100, account: null }, sizes)).toMatchObject({ bytes: 40 })
  expect(roomOf({ repository: 100, account: 95 }, sizes)).toMatchObject({
    bytes: 5,
    message: expect.stringMatching(/95 bytes.*MAX_ACCOUNT_BYTES.*90/),
  })
  expect(roomOf({ repository: 50, account: 95 }, sizes)).toMatchObject({
    bytes: -10,
    message: expect.stringMatching(/50 bytes.*MAX_REPOSITORY_BYTES.*60/),
  })
})
