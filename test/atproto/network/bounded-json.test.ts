import { describe, expect, it } from 'vitest'
import { HeavyJsonError, parseBoundedJson } from '../../../atproto/network/bounded-json.ts'
import { MAX_RECORD_DEPTH, MAX_RECORD_VALUES } from '../../../atproto/records/record-bounds.ts'
import { Random } from '../../git/random.ts'

const empties = (count: number) => `[${Array(count).fill('{}').join()}]`
const page = (...values: string[]) => `{"records":[${values.map((value) => `{"uri":"u","value":${value}}`).join()}]}`
const readPage = (text: string) => parseBoundedJson(text, { recordsAt: 3 })

describe('JSON of strangers', () => {
  it('is what JSON.parse makes of it', () => {
    const odd = [
      '',
      '{',
      '[]]',
      '[}',
      '"',
      '"\\',
      'nul',
      '[1,]',
      '"a\\"',
      '"\\\\"',
      '{"a":"}"}',
      '"[[["',
      '{"a":"\\"[,{"}',
    ]
    const random = new Random(3)
    const texts = Array.from({ length: 300 }, () =>
      Array.from({ length: random.below(12) }, () => random.pick(['{', '}', '[', ']', '"', '\\', ',', ':', '1'])).join(
        '',
      ),
    )
    for (const text of [...odd, ...texts]) {
      let expected: unknown
      try {
        expected = JSON.parse(text)
      } catch {
        // It is none.
      }
      expect([text, parseBoundedJson(text).value]).toEqual([text, expected])
      expect([text, parseBoundedJson(text, { recordsAt: 1 }).value]).toEqual([text, expected])
    }
  })

  it('is refused where it is a little text with many values', () => {
    expect(() => parseBoundedJson(empties(500_000))).toThrow(HeavyJsonError)
    expect(() => parseBoundedJson(`[${'0,'.repeat(200_000)}0]`)).toThrow('holds more than 100000 values')
    expect(parseBoundedJson(JSON.stringify(['{},[],'.repeat(100_000)])).values).toBe(1)
  })

  it('is not read as far as it goes where it has no end', () => {
    for (const text of [`{"records":[{"value":[${'{},'.repeat(500_000)}`, `${'['.repeat(500_000)}`]) {
      expect(readPage(text).value).toBeUndefined()
    }
  })

  it('has null in place of a record that holds too much, and all others', () => {
    const deep = '['.repeat(MAX_RECORD_DEPTH + 1) + ']'.repeat(MAX_RECORD_DEPTH + 1)
    const text = page('{"a":1}', empties(MAX_RECORD_VALUES), deep, '"x"', deep.slice(1, -1), '{"b":"]"}')
    const { records } = readPage(text).value as { records: { value: unknown }[] }
    expect(records.map(({ value }) => value)).toEqual([
      { a: 1 },
      null,
      null,
      'x',
      JSON.parse(deep.slice(1, -1)),
      { b: ']' },
    ])
  })

  it('is refused where its records together hold too much', () => {
    const half = empties(MAX_RECORD_VALUES / 2 - 1)
    expect(readPage(page(half)).values).toBeGreaterThan(MAX_RECORD_VALUES - 10)
    expect(() => readPage(page(half, half))).toThrow(HeavyJsonError)
  })
})
