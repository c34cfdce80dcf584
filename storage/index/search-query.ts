import { normalizeHandle } from '../../atproto/identity/syntax.ts'

/** Words of a query that count, and characters of one: more of them would find nothing more. */
const MAX_WORDS = 8
const MAX_WORD_LENGTH = 64
/** Starts of words that the index has as it has words. Letters. */
const INDEXED_START = 6
/** Letters that the index is known to have, which make one word of it. Of others a long word is looked for as it is. */
const KNOWN_LETTERS =
  /^[0-9A-Za-z\u00c0-\u024f\u0386-\u03ff\u0400-\u0527\u05d0-\u05ea\u0621-\u064a\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fcb\uac00-\ud7a3]+$/

/** What somebody typed, for the full-text index. */
export interface SearchQuery {
  /** FTS5 expression; null: there is nothing to look for in it. */
  readonly match: string | null
  /** Expressions of which {@link match} wants all. */
  readonly terms: readonly string[]
  /** Of the last word, if that is a start that the index does not have. */
  readonly longStart: LongStart | null
  /** The same in {@link nameMatch}. */
  readonly longNameStart: LongStart | null
  /** Expression for names alone; null: what is looked for is not in names. */
  readonly nameMatch: string | null
  /** All of it, as the name of a repository could be. */
  readonly name: string
  /** All of it, as the start of a handle could be; null: none starts so. */
  readonly handlePrefix: string | null
}

/** The start of a word, of more letters than the index has of any: to find it, all words that begin so are read. */
export interface LongStart {
  /** As it stands in expressions. */
  readonly term: string
  /** Instead: that word alone. */
  readonly word: string
  /** Instead: the start of it that the index has. */
  readonly indexed: string
}

/**
 * Reads a query: all words are looked for, the last one as the start of a word. Whatever is typed, the expression is one:
 * words are quoted, and have letters, marks and digits alone.
 *
 * @param topic that repositories are to have, too
 */
export function parseSearch(text: string, topic?: string): SearchQuery {
  const words = text
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, MAX_WORDS)
  const inNames: (string | null)[] = []
  let start = ''
  const terms = words.flatMap((word, i) => {
    const isLast = i === words.length - 1
    const parts = wordsOf(word)
    const own = termsOf(parts, isLast)
    const plain = parts.map(withoutMarks)
    if (isLast) start = parts.at(-1) ?? ''
    inNames.push(...(plain.every(isInNames) ? termsOf(plain, isLast) : [null]))
    // Of a handle only the first label is in the index.
    const label = word.includes('.') && normalizeHandle(word) !== null ? wordsOf(word.split('.')[0]!) : []
    return label.length === 0 ? own : [`(${allOf(own)} OR {owner} : (${allOf(termsOf(label, false))}))`]
  })
  const topicWords = topic === undefined ? [] : wordsOf(topic)
  if (topicWords.length > 0) terms.push(`{topics} : ("${topicWords.join(' ')}")`)
  const handle = text.trim().replace(/^@/, '').toLowerCase()
  return {
    match: allOf(terms),
    terms,
    longStart: longStartOf(start),
    longNameStart: longStartOf(withoutMarks(start)),
    nameMatch: topicWords.length > 0 || !inNames.every((term) => term !== null) ? null : allOf(inNames),
    name: text.trim().slice(0, MAX_WORD_LENGTH * 2),
    handlePrefix: /^[a-z0-9][a-z0-9.-]{0,252}$/.test(handle) ? handle : null,
  }
}

function wordsOf(text: string): string[] {
  return (text.normalize('NFC').match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])
    .slice(0, MAX_WORDS)
    .map((word) => word.slice(0, MAX_WORD_LENGTH).toWellFormed())
}

/** As the index has words. */
function withoutMarks(word: string): string {
  return word.normalize('NFD').replace(/\p{M}+/gu, '')
}

/**
 * Names of repositories are ASCII. What is not may be several words to the index, as marks of Hindi are, or letters that it
 * does not know: a phrase, which the index of names takes for a fault.
 */
function isInNames(word: string): boolean {
  return /^[A-Za-z0-9]+$/.test(word)
}

function termsOf(words: readonly string[], isPrefix: boolean): string[] {
  return words.map((word, i) => `"${word}"${isPrefix && i === words.length - 1 && mayBeStart(word) ? '*' : ''}`)
}

/** What the index takes for more words than one could end with a long start, of which nobody would know. */
function mayBeStart(word: string): boolean {
  return [...word].length <= INDEXED_START || KNOWN_LETTERS.test(word)
}

function longStartOf(word: string): LongStart | null {
  if (word.length <= INDEXED_START || !KNOWN_LETTERS.test(word)) return null
  return { term: `"${word}"*`, word: `"${word}"`, indexed: `"${word.slice(0, INDEXED_START)}"*` }
}

function allOf(terms: readonly string[]): string | null {
  return terms.length === 0 ? null : terms.join(' AND ')
}
