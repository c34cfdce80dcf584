import { expect, test } from 'vitest'
import { unifiedHunks } from '../../../../git/diff/unified.ts'
import { diffSections, unifiedRows } from '../../../../workers/web/render/diff-html.ts'
import { markWords, textOf } from '../../../../workers/web/render/word-marks.ts'
import { Random } from '../../../git/random.ts'

const encoder = new TextEncoder()
const bytes = (lines: readonly string[]) => encoder.encode(lines.map((line) => `${line}\n`).join(''))

test('words that differ are marked, through elements and entities', () => {
  expect(markWords('let <i>a</i> = &quot;x&lt;y&quot;', 'let <i>ab</i> = &quot;x&lt;z&quot;')).toEqual({
    old: 'let <i><mark>a</mark></i> = &quot;x&lt;<mark>y</mark>&quot;',
    new: 'let <i><mark>ab</mark></i> = &quot;x&lt;<mark>z</mark>&quot;',
  })
  expect(markWords('a b c d', 'a &lt; b c d')).toEqual({
    old: 'a b c d',
    new: 'a <mark>&lt;</mark><mark> </mark>b c d',
  })
})

test('lines that have nothing in common, or are too long, are changed as wholes', () => {
  expect(markWords('one two three', 'four five six')).toBeNull()
  expect(markWords(`a ${'b'.repeat(500)}`, 'a b')).toBeNull()
})

test('a line stands beside the one that has taken its place', () => {
  const old = ['start', 'let first = read(one)', 'end']
  const fresh = ['start', '// about it', '', 'let first = read(two)', 'end']
  const [section] = diffSections(bytes(old), bytes(fresh), null)
  expect(section!.rows.map((row) => [row.isChanged, row.old?.number ?? null, row.new?.number ?? null])).toEqual([
    [false, 1, 1],
    [true, null, 2],
    [true, null, 3],
    [true, 2, 4],
    [false, 3, 5],
  ])
  expect(unifiedRows(section!).map(({ kind, html }) => [kind, html])).toEqual([
    ['common', 'start'],
    ['deleted', 'let first = read(<mark>one</mark>)'],
    ['added', '// about it'],
    ['added', ''],
    ['added', 'let first = read(<mark>two</mark>)'],
    ['common', 'end'],
  ])
})

test('line breaks that have changed are seen, and so is one that is missing', () => {
  const [section] = diffSections(encoder.encode('a\r\nb\r\n'), encoder.encode('a\nb'), null)
  expect(unifiedRows(section!).map(({ html, isUnended }) => [textOf(html), isUnended])).toEqual([
    ['a␍', false],
    ['b␍', false],
    ['a', false],
    ['b', true],
  ])
})

test('a file that is new, one that is gone, one that is the same', () => {
  const [added] = diffSections(encoder.encode(''), bytes(['a']), null)
  expect([added!.old, added!.new, added!.rows.length]).toEqual([{ start: 0, count: 0 }, { start: 1, count: 1 }, 1])
  expect(unifiedRows(diffSections(bytes(['a']), encoder.encode(''), null)[0]!)[0]!.kind).toBe('deleted')
  expect(diffSections(bytes(['a']), bytes(['a']), null)).toEqual([])
})

test('the unified view is what git shows, for any two texts', () => {
  const numbers = new Random(61)
  const random = (end: number) => numbers.below(end)
  const line = () => ['a', 'b', 'let x = 1', 'let y = 2', '}', ''][random(6)]!
  for (let trial = 0; trial < 200; trial++) {
    const old = Array.from({ length: random(40) }, line)
    const fresh = old.flatMap((one) =>
      random(6) === 0 ? [] : random(6) === 0 ? [one, line()] : [random(8) === 0 ? line() : one],
    )
    const sign = { common: ' ', deleted: '-', added: '+' }
    const range = ({ start, count }: { start: number; count: number }) =>
      count === 1 ? `${start}` : `${start},${count}`
    const shown = diffSections(bytes(old), bytes(fresh), null).map(
      (section) =>
        `@@ -${range(section.old)} +${range(section.new)} @@\n` +
        unifiedRows(section)
          .map(({ kind, html }) => `${sign[kind]}${textOf(html)}\n`)
          .join(''),
    )
    expect(shown.join('')).toBe(new TextDecoder().decode(unifiedHunks(bytes(old), bytes(fresh))))
  }
})
