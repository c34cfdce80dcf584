import { expect, it } from 'vitest'
import { decodeValue, type Encodable, encodeValue } from '../../../durable-objects/branch-queue/work-codec.ts'

const bytes = (...values: number[]) => Uint8Array.from(values)

it.each<[string, Encodable]>([
  ['a plain value', { a: 1, b: 'text', c: null, d: [true, false] }],
  ['bytes', bytes(0, 255, 128)],
  ['bytes deep inside, empty ones too', { path: bytes(1), list: [{ content: bytes(), x: 1 }, bytes(2, 3)] }],
  ['text of all kinds', { message: 'ünïcode 日本語 \0 \n "quoted" \u{1f980}' }],
  ['half of a surrogate pair', '\ud800'],
  ['half a mebibyte', { content: new Uint8Array(512 * 1024).fill(7) }],
])('keeps %s', (_, value) => {
  expect(decodeValue(encodeValue(value))).toEqual(value)
})

it('makes the same bytes of the same value, whatever the order of its keys', () => {
  const one = encodeValue({ kind: 'write', path: bytes(1), content: bytes(2) })
  expect(encodeValue({ content: bytes(2), path: bytes(1), kind: 'write' })).toEqual(one)
  expect(encodeValue({ content: bytes(1), path: bytes(2), kind: 'write' })).not.toEqual(one)
  expect(encodeValue({ kind: 'write', path: bytes(1), content: bytes(2), mode: undefined })).toEqual(one)
})

it('reads what lies in the middle of a buffer', () => {
  const encoded = encodeValue({ a: bytes(9) })
  const shifted = new Uint8Array(encoded.length + 3)
  shifted.set(encoded, 3)
  expect(decodeValue(shifted.subarray(3))).toEqual({ a: bytes(9) })
})
