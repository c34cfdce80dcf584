import { compareRefNames, firstRefFrom, type Named } from './ref-order.ts'

/** Which refs somebody asks for: those with one of these names, and those whose names start with one of these prefixes. */
export interface RefSelection {
  readonly names: readonly string[]
  readonly prefixes: readonly string[]
}

export const ALL_REFS: RefSelection = { names: [], prefixes: [''] }
export const NO_REFS: RefSelection = { names: [], prefixes: [] }

export function isEverything({ prefixes }: RefSelection): boolean {
  return prefixes.includes('')
}

export function isNothing({ names, prefixes }: RefSelection): boolean {
  return names.length === 0 && prefixes.length === 0
}

/** The names that are not before `from` and before `to`, by the bytes of them. */
export interface NameRange {
  readonly from: string
  /** Null: there is no end. */
  readonly to: string | null
}

/** Where the selected names lie: ranges in order, none of which touches another, so that each name is met once. */
export function nameRanges({ names, prefixes }: RefSelection): NameRange[] {
  const ranges = [...names.map(rangeOfName), ...prefixes.map(rangeOfPrefix)]
  ranges.sort((a, b) => compareRefNames(a.from, b.from))
  const joined: { from: string; to: string | null }[] = []
  for (const range of ranges) {
    const last = joined.at(-1)
    if (last === undefined || isBefore(last.to, range.from)) joined.push({ ...range })
    else if (isBefore(last.to, range.to)) last.to = range.to
  }
  return joined
}

/** The selected ones of a list that is sorted by the bytes of its names: each range is looked up, not each ref. */
export function selectRefs<T extends Named>(refs: readonly T[], ranges: readonly NameRange[]): T[] {
  const selected: T[] = []
  for (const { from, to } of ranges) {
    const start = firstRefFrom(refs, from)
    const end = to === null ? refs.length : firstRefFrom(refs, to, start)
    for (let at = start; at < end; at++) selected.push(refs[at]!)
  }
  return selected
}

/** The first character that a name may have: no other name lies between a name and the same with this behind it. */
const LEAST = '\x01'
const LAST_CODE_POINT = 0x10ffff
const BEFORE_SURROGATES = 0xd7ff
const AFTER_SURROGATES = 0xe000

function rangeOfName(name: string): NameRange {
  return { from: name, to: name + LEAST }
}

/** All that starts with `prefix` is before the prefix with its last code point raised by one. */
function rangeOfPrefix(prefix: string): NameRange {
  const codes = Array.from(prefix, (character) => character.codePointAt(0)!)
  while (codes.at(-1) === LAST_CODE_POINT) codes.pop()
  const last = codes.pop()
  if (last === undefined) return { from: prefix, to: null }
  return { from: prefix, to: String.fromCodePoint(...codes, last === BEFORE_SURROGATES ? AFTER_SURROGATES : last + 1) }
}

function isBefore(end: string | null, other: string | null): boolean {
  return end !== null && (other === null || compareRefNames(end, other) < 0)
}
