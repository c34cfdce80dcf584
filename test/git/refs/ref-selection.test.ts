import { describe, expect, it } from 'vitest'
import { compareRefNames, findRef, firstRefFrom } from '../../../git/refs/ref-order.ts'
import {
  ALL_REFS,
  isEverything,
  isNothing,
  NO_REFS,
  nameRanges,
  type RefSelection,
  selectRefs,
} from '../../../git/refs/ref-selection.ts'
import { seededRandom } from '../packs.ts'

/** Letters that are next to each other, ends of the ranges of UTF-8's lengths, and both sides of the surrogates. */
const LETTERS = [
  'a',
  'b',
  '/',
  '-',
  '~',
  '\x7f',
  '\x80',
  '\u07ff',
  '\u0800',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '\u{10000}',
  '\u{10ffff}',
]

const bytes = (text: string) => Buffer.from(text)
const inOrder = (names: Iterable<string>) => [...new Set(names)].sort((a, b) => bytes(a).compare(bytes(b)))

function randomNames(random: (limit: number) => number, count: number): string[] {
  const name = () => Array.from({ length: 1 + random(5) }, () => LETTERS[random(LETTERS.length)]!).join('')
  return inOrder(Array.from({ length: count }, name))
}

describe('the order of names', () => {
  it('is that of their bytes', () => {
    const names = randomNames(seededRandom(1), 300)
    for (const a of names) {
      for (const b of names) expect(Math.sign(compareRefNames(a, b))).toBe(Math.sign(bytes(a).compare(bytes(b))))
    }
  })

  it('finds a name, or where it would be', () => {
    const random = seededRandom(2)
    const refs = randomNames(random, 200).map((name) => ({ name }))
    for (const name of randomNames(random, 200)) {
      const place = refs.findIndex((ref) => bytes(ref.name).compare(bytes(name)) >= 0)
      expect(firstRefFrom(refs, name)).toBe(place < 0 ? refs.length : place)
      expect(findRef(refs, name)?.name ?? null).toBe(refs.some((ref) => ref.name === name) ? name : null)
    }
  })
})

describe('a selection', () => {
  const matches = ({ names, prefixes }: RefSelection, name: string) =>
    names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix))

  it('picks out of a list what has one of its names or prefixes, once, in order', () => {
    const random = seededRandom(3)
    for (let trial = 0; trial < 200; trial++) {
      const refs = randomNames(random, 60).map((name) => ({ name }))
      const selection = {
        names: randomNames(random, random(5)),
        prefixes: randomNames(random, random(5)).map((name) => name.slice(0, 1 + random(2))),
      }
      // A prefix that ends in the middle of a character is no text.
      const whole = { ...selection, prefixes: selection.prefixes.map((prefix) => prefix.toWellFormed()) }
      const picked = selectRefs(refs, nameRanges(whole)).map(({ name }) => name)
      expect(picked).toEqual(refs.map(({ name }) => name).filter((name) => matches(whole, name)))
    }
  })

  it('is joined to ranges that do not touch', () => {
    expect(
      nameRanges({ names: ['refs/heads/a/b', 'HEAD'], prefixes: ['refs/heads/a', 'refs/heads/', 'refs/tags/v'] }),
    ).toEqual([
      { from: 'HEAD', to: 'HEAD\x01' },
      { from: 'refs/heads/', to: 'refs/heads0' },
      { from: 'refs/tags/v', to: 'refs/tags/w' },
    ])
    expect(nameRanges({ names: [], prefixes: ['a', 'b', 'a\u{10ffff}', '\u{10ffff}'] })).toEqual([
      { from: 'a', to: 'c' },
      { from: '\u{10ffff}', to: null },
    ])
  })

  it('may be of all or of none', () => {
    expect([isEverything(ALL_REFS), isNothing(ALL_REFS), nameRanges(ALL_REFS)]).toEqual([
      true,
      false,
      [{ from: '', to: null }],
    ])
    expect([isEverything(NO_REFS), isNothing(NO_REFS), nameRanges(NO_REFS)]).toEqual([false, true, []])
  })
})
