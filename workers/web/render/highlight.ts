import { LruCache } from '../../../git/bytes/lru-cache.ts'
import { findLanguage, languageById } from './find-language.ts'
import { GRAMMARS } from './grammars.ts'
import hljs from './highlight-core.js'
import { escapeHtml, visibleText } from './text.ts'

/** What is highlighted at most: beyond, a text is plain. Strangers' text is the input of the grammars' regular expressions. */
export interface HighlightLimits {
  /** UTF-16 units of the text. */
  readonly length: number
  readonly lines: number
  /** UTF-16 units of any line. */
  readonly lineLength: number
  /** UTF-16 units of the HTML: what spans many lines is opened again in each. */
  readonly html: number
}

export const HIGHLIGHT_LIMITS: HighlightLimits = {
  length: 256 * 1024,
  lines: 10_000,
  lineLength: 1_000,
  html: 8 * 1024 * 1024,
}

/**
 * UTF-16 units that a grammar sees at once, a longer line aside. Some take time with the square of what they see, and none
 * can be stopped: so they are given a text in pieces, and the time is this times the text.
 */
const PIECE_LENGTH = 2048

/** A text as safe HTML. */
export interface HighlightedText {
  /** One for each line, without line breaks; in each, all elements are closed. */
  readonly lines: readonly string[]
  /** That it is highlighted as; null if it is plain. */
  readonly language: string | null
  /** What to say about why a text of a known language is plain; null if there is nothing to say. */
  readonly plainBecause: string | null
}

/** The id of a file's language, by its path and first line; null if it is not known. */
export function languageOf(path: string, firstLine?: string): string | null {
  return findLanguage(path, firstLine)?.id ?? null
}

/**
 * Texts that were highlighted before, by grammar and content, the HTML counted in UTF-16 units: a push makes pages of all
 * files to be drawn anew, and of these it has changed a few.
 */
const KEPT_LENGTH = 2 * 1024 * 1024
const keptLines = new LruCache<string, readonly string[]>(KEPT_LENGTH, (lines) => lengthOf(lines) + 1)
/** A larger one would drive out all others. */
const KEPT_TEXT = 64 * 1024

/** Highlights a text, by highlight.js (its classes begin with `hljs-`). Characters that cannot be seen are made visible. */
export function highlightLines(
  text: string,
  language: string | null,
  limits: HighlightLimits = HIGHLIGHT_LIMITS,
): HighlightedText {
  const shown = visibleText(text)
  const lines = splitLines(shown)
  const grammar = language === null ? null : (languageById(language)?.grammar ?? null)
  const plain = (plainBecause: string | null) => ({ lines: lines.map(escapeHtml), language: null, plainBecause })
  if (grammar === null || lines.length === 0) return plain(null)
  if (shown.length > limits.length) return plain(`it has more than ${limits.length} characters`)
  if (lines.length > limits.lines) return plain(`it has more than ${limits.lines} lines`)
  if (lines.some((line) => line.length > limits.lineLength)) {
    return plain(`it has lines of more than ${limits.lineLength} characters`)
  }
  const name = shown.length > KEPT_TEXT ? null : `${grammar}\n${shown}`
  const kept = name === null || limits !== HIGHLIGHT_LIMITS ? undefined : keptLines.get(name)
  if (kept !== undefined) return { lines: kept, language, plainBecause: null }
  register(grammar)
  const pieces = splitPieces(lines).join(BETWEEN)
  const { value } = hljs.highlight(pieces, { language: inPieces(grammar), ignoreIllegals: true })
  const html = value.replaceAll(BETWEEN, '\n')
  // What a grammar that fails leaves out is missed here.
  if (html.replace(/<[^>]*>/g, '') !== escapeAsHighlighted(lines.join('\n')))
    return plain('its grammar could not read it')
  const highlighted = splitHtml(html, limits.html)
  if (highlighted === null) return plain('it is nested too deeply')
  if (name !== null && limits === HIGHLIGHT_LIMITS) keptLines.set(name, highlighted)
  return { lines: highlighted, language, plainBecause: null }
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, { length }) => sum + length, 0)
}

/** Stands between pieces, in the place of a line break. No text has it: it has been made visible. */
const BETWEEN = '\0'

function splitPieces(lines: readonly string[]): string[] {
  const pieces: string[] = []
  for (let start = 0; start < lines.length; ) {
    let end = start
    let blank = start
    for (let length = 0; end < lines.length; end++) {
      length += lines[end]!.length + 1
      if (length > PIECE_LENGTH && end > start) break
      // Where something new begins, little is lost by what a grammar would have seen of the text before.
      if (lines[end] === '' && length > PIECE_LENGTH / 2) blank = end
    }
    const next = end === lines.length || blank === start ? end : blank
    pieces.push(lines.slice(start, next).join('\n'))
    start = next
  }
  return pieces
}

/** highlight.js escapes so. */
function escapeAsHighlighted(text: string): string {
  return escapeHtml(text).replaceAll('&#39;', '&#x27;')
}

/** A language whose every piece is one of the grammar, which goes on in each where it was at the end of the last. */
function inPieces(grammar: string): string {
  const name = `pieces of ${grammar}`
  if (hljs.getLanguage(name) === undefined) {
    hljs.registerLanguage(name, () => ({ contains: [{ begin: /[^\0]+/, subLanguage: grammar }] }))
  }
  return name
}

/** The lines of a text; the line break at its end begins no further one. */
function splitLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/**
 * Cuts highlight.js's HTML at its line breaks, where open elements are closed and opened again.
 *
 * @returns null where that would be longer than `most`
 */
function splitHtml(html: string, most: number): string[] | null {
  const lines: string[] = []
  const open: string[] = []
  let line = ''
  let length = 0
  for (const [token] of html.matchAll(/<span[^>]*>|<\/span>|\n|[^<\n]+/g)) {
    if (token === '\n') {
      lines.push(line + '</span>'.repeat(Math.max(open.length - 1, 0)))
      length += lines.at(-1)!.length
      if (length > most) return null
      line = open.join('')
      continue
    }
    // The outermost elements are those of the pieces, which nobody asks for.
    if (token === '</span>') line += open.pop() === '' ? '' : token
    else if (token.startsWith('<span')) line += open[open.push(open.length === 0 ? '' : token) - 1]
    else line += token
  }
  lines.push(line)
  return lines
}

/** Grammars are built when they are first needed, with those of the languages that they embed. */
function register(grammar: string): void {
  const define = GRAMMARS[grammar]
  if (define === undefined || hljs.getLanguage(grammar) !== undefined) return
  const embedded = new Set<string>()
  hljs.registerLanguage(grammar, (api) => {
    const definition = define(api)
    collectEmbedded(definition, embedded, new Set())
    return definition
  })
  for (const other of embedded) register(other)
}

function collectEmbedded(mode: unknown, found: Set<string>, seen: Set<unknown>): void {
  if (typeof mode !== 'object' || mode === null || mode instanceof RegExp || seen.has(mode)) return
  seen.add(mode)
  for (const [key, value] of Object.entries(mode)) {
    if (key === 'subLanguage') for (const name of [value].flat()) found.add(String(name))
    else collectEmbedded(value, found, seen)
  }
}
