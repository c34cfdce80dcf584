import { diffLines } from '../../../git/diff/diff-lines.ts'

/** Where two lines are compared word by word. Lines that are longer, in UTF-16 units, are changed as wholes. */
export const LONGEST_MARKED = 500

/** Of two lines that have less than this part of their words in common, one has not become the other. */
const LEAST_ALIKE = 0.4

/** Two lines as safe HTML, with what differs in them in `<mark>`. */
export interface MarkedPair {
  readonly old: string
  readonly new: string
}

/**
 * Marks the words that differ between two lines.
 *
 * @param old safe HTML of one line, as `highlightLines` gives it
 * @param fresh the same of the line that has taken its place
 * @returns null if they are too long, or too different for marks to say anything
 */
export function markWords(old: string, fresh: string): MarkedPair | null {
  const [oldText, newText] = [textOf(old), textOf(fresh)]
  if (oldText.length > LONGEST_MARKED || newText.length > LONGEST_MARKED) return null
  const [oldWords, newWords] = [wordsOf(oldText), wordsOf(newText)]
  if (likeness(oldWords, newWords) < LEAST_ALIKE) return null
  const numbers = new Map<string, number>()
  const [oldNumbers, newNumbers] = [numberWords(oldWords, numbers), numberWords(newWords, numbers)]
  const hunks = diffLines(oldNumbers, newNumbers, numbers.size)
  const [oldEnds, newEnds] = [wordEnds(oldWords), wordEnds(newWords)]
  return {
    old: markRanges(
      old,
      hunks.map(({ oldStart, oldEnd }) => [oldEnds[oldStart]!, oldEnds[oldEnd]!]),
    ),
    new: markRanges(
      fresh,
      hunks.map(({ newStart, newEnd }) => [newEnds[newStart]!, newEnds[newEnd]!]),
    ),
  }
}

/** How much of their words two lines have in common, from 0 to 1; blanks and single signs say little, and do not count. */
export function likeness(old: readonly string[], fresh: readonly string[]): number {
  const counts = new Map<string, number>()
  let [total, common] = [0, 0]
  for (const word of old) {
    if (!isTelling(word)) continue
    counts.set(word, (counts.get(word) ?? 0) + 1)
    total++
  }
  for (const word of fresh) {
    if (!isTelling(word)) continue
    total++
    const left = counts.get(word) ?? 0
    if (left === 0) continue
    counts.set(word, left - 1)
    common++
  }
  return total === 0 ? 1 : (2 * common) / total
}

function isTelling(word: string): boolean {
  return /[\p{L}\p{N}_]/u.test(word)
}

/** The words of a line, runs of blanks, and all other characters alone. */
export function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}_]+|\s+|./gsu) ?? []
}

function numberWords(words: readonly string[], numbers: Map<string, number>): Uint32Array {
  return Uint32Array.from(words, (word) => {
    const number = numbers.get(word) ?? numbers.size
    numbers.set(word, number)
    return number
  })
}

/** Where each word starts, and at the end the length of all. */
function wordEnds(words: readonly string[]): number[] {
  const ends = [0]
  for (const word of words) ends.push(ends.at(-1)! + word.length)
  return ends
}

const CHARACTERS: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&#x27;': "'",
}

/** An element's tag, an entity, or other text up to one. */
const TOKENS = /<[^>]*>|&[^;]*;|[^<&]+/g

/** The text that the HTML of a line shows. */
export function textOf(html: string): string {
  return html.replace(TOKENS, (token) => (token.startsWith('<') ? '' : (CHARACTERS[token] ?? token)))
}

/** Puts ranges of the shown text in `<mark>`, which is closed and opened again where an element begins or ends. */
function markRanges(html: string, ranges: readonly (readonly [number, number])[]): string {
  let out = ''
  let at = 0
  let next = 0
  for (const [token] of html.matchAll(TOKENS)) {
    if (token.startsWith('<')) {
      out += token
      continue
    }
    const length = (CHARACTERS[token] ?? token).length
    let done = 0
    while (done < length) {
      while (next < ranges.length && ranges[next]![1] <= at + done) next++
      const [start, end] = ranges[next] ?? [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
      const isMarked = start <= at + done
      const stop = Math.min(length, (isMarked ? end : start) - at)
      // An entity is one character, and never cut.
      const part = token.startsWith('&') ? token : token.slice(done, stop)
      out += isMarked ? `<mark>${part}</mark>` : part
      done = stop
    }
    at += length
  }
  return out
}
