import MarkdownIt from 'markdown-it'
import footnotes from 'markdown-it-footnote'
import { languageOfFence } from './find-language.ts'
import { highlightLines } from './highlight.ts'
import { githubRules } from './markdown-rules.ts'
import type { Place } from './place.ts'
import { NestingError, sanitise } from './sanitise.ts'
import { escapeHtml, visibleText } from './text.ts'

/** What is drawn at most: beyond, a document is shown as it is written. */
export interface MarkdownLimits {
  /** UTF-16 units of the document. GitHub stops at the same size. */
  readonly length: number
  /** Elements inside each other: browsers stop at 512. */
  readonly nesting: number
  /** What may be a footnote or a reference to one; with more, none is. Each costs as much as the document is long. */
  readonly footnotes: number
}

export const MARKDOWN_LIMITS: MarkdownLimits = { length: 512 * 1024, nesting: 200, footnotes: 1_000 }

/**
 * Draws Markdown as GitHub does: tables, task lists, alerts, footnotes, links to headings, strike-through, bare addresses,
 * harmless HTML, highlighted code. The document is a stranger's, the HTML is safe.
 */
export function renderMarkdown(source: string, place: Place, limits: MarkdownLimits = MARKDOWN_LIMITS): string {
  if (source.length > limits.length) return asWritten(source, `it has more than ${limits.length} characters`)
  const text = fenceFrontMatter(source)
  const drawer = hasMore(text, '[^', limits.footnotes) ? withoutFootnotes : withFootnotes
  try {
    return sanitise(drawer.render(text, {}), place, limits.nesting)
  } catch (error) {
    if (error instanceof NestingError) return asWritten(source, `it has ${error.message}`)
    throw error
  }
}

function asWritten(source: string, because: string): string {
  return `<p class="plain-because">Shown as it is written: ${because}.</p><pre>${escapeHtml(visibleText(source))}</pre>`
}

const withoutFootnotes = createDrawer()
// GitHub has no notes that are written where they are referred to.
const withFootnotes = createDrawer().use(footnotes).disable('footnote_inline')

function createDrawer() {
  const md = new MarkdownIt({ html: true, linkify: true, highlight: highlightFence })
  // Only addresses with a scheme: `README.md` is none, though there is a domain `md`.
  md.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })
  return md.use(githubRules)
}

function highlightFence(code: string, info: string): string {
  const language = languageOfFence(info)
  const { lines } = highlightLines(code, language?.id ?? null)
  const name = language === null ? '' : ` class="language-${language.id}"`
  return `<pre><code${name}>${lines.join('\n')}\n</code></pre>`
}

/** The fields before a document, between lines of three hyphens, are shown as what they are: YAML. */
function fenceFrontMatter(source: string): string {
  const text = source.startsWith('\ufeff') ? source.slice(1) : source
  if (!/^---\r?\n/.test(text)) return text
  const start = text.indexOf('\n') + 1
  const end = /^---[ \t]*\r?$/m.exec(text.slice(start))
  if (end === null || !/^[\w-]+:/.test(text.slice(start))) return text
  const body = text.slice(start, start + end.index)
  return `~~~~~~yaml\n${body}~~~~~~\n\n${text.slice(start + end.index + end[0].length)}`
}

function hasMore(text: string, part: string, most: number): boolean {
  let count = 0
  for (let at = text.indexOf(part); at !== -1 && count <= most; at = text.indexOf(part, at + part.length)) count++
  return count > most
}
