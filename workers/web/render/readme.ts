/** How a text file is shown besides as source: Markdown is drawn, all other kinds stay plain text. */
export type ProseKind = 'markdown' | 'text'

const MARKDOWN = /\.(?:md|markdown|mdown|mkdn?|mdwn)$/i

/** Names of READMEs from the most wanted one, as far as they go beyond `README`. */
const ENDINGS = [
  '.md',
  '.markdown',
  '.mdown',
  '.mkd',
  '.mkdn',
  '.mdwn',
  '.rst',
  '.org',
  '.adoc',
  '.asciidoc',
  '.txt',
  '',
]

/**
 * Which file of a directory is its README.
 *
 * @param names those of files and links in the directory, not of directories
 */
export function findReadme(names: Iterable<string>): { readonly name: string; readonly kind: ProseKind } | null {
  let best: string | null = null
  let rank = ENDINGS.length
  for (const name of names) {
    const ending = /^readme(\.\w+)?$/i.exec(name)
    if (ending === null) continue
    const found = ENDINGS.indexOf((ending[1] ?? '').toLowerCase())
    // Of two that differ in case alone, the first in git's order: capitals stand before small letters.
    if (found === -1 || found >= rank) continue
    best = name
    rank = found
  }
  return best === null ? null : { name: best, kind: proseKind(best) }
}

/** How a file of prose is shown. Other markup languages than Markdown are read as they are written. */
export function proseKind(path: string): ProseKind {
  return MARKDOWN.test(path) ? 'markdown' : 'text'
}
