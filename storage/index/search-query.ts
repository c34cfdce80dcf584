import { normalizeHandle } from '../../atproto/identity/syntax.ts'

/** Words of a query that count, and characters of one: more of them would find nothing more. */
const MAX_WORDS = 8
const MAX_WORD_LENGTH = 64

/** What somebody typed, for the full-text index. */
export interface SearchQuery {
  /** FTS5 expression; null: there is nothing to look for in it. */
  readonly match: string | null
  /** Expressions of which {@link match} wants all. */
  readonly terms: readonly string[]
  /** Expression for names alone; null: what is looked for is not in names. */
  readonly nameMatch: string | null
  /** All of it, as the name of a repository could be. */
  readonly name: string
  /** All of it, as the start of a handle could be; null: none starts so. */
  readonly handlePrefix: string | null
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
  const inNames: string[] = []
  const terms = words.flatMap((word, i) => {
    const isLast = i === words.length - 1
    const own = termsOf(wordsOf(word), isLast)
    inNames.push(...own)
    // Of a handle only the first label is in the index.
    const label = word.includes('.') && normalizeHandle(word) !== null ? wordsOf(word.split('.')[0]!) : []
    return label.length === 0 ? own : [`(${allOf(own)} OR {owner} : (${allOf(termsOf(label, false))}))`]
  })
  const topicWords = topic === undefined ? [] : wordsOf(topic)
  if (topicWords.length > 0) terms.push(`{topics} : ("${topicWords.join(' ')}")`)
  const start = text.trim().replace(/^@/, '').toLowerCase()
  return {
    match: allOf(terms),
    terms,
    nameMatch: topicWords.length > 0 ? null : allOf(inNames),
    name: text.trim().slice(0, MAX_WORD_LENGTH * 2),
    handlePrefix: /^[a-z0-9][a-z0-9.-]{0,252}$/.test(start) ? start : null,
  }
}

function wordsOf(text: string): string[] {
  return (text.normalize('NFC').match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])
    .slice(0, MAX_WORDS)
    .map((word) => word.slice(0, MAX_WORD_LENGTH).toWellFormed())
}

function termsOf(words: readonly string[], isPrefix: boolean): string[] {
  return words.map((word, i) => `"${word}"${isPrefix && i === words.length - 1 ? '*' : ''}`)
}

function allOf(terms: readonly string[]): string | null {
  return terms.length === 0 ? null : terms.join(' AND ')
}
