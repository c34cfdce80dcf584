import { findLanguage } from './find-language.ts'
import { LANGUAGES } from './language-table.ts'

/** One language of a repository. */
export interface LanguageShare {
  /** For a class: `language-color-<id>`; null for all that are too small to be named. */
  readonly id: string | null
  readonly name: string
  readonly bytes: number
  /** Of all bytes that are counted, from 0 to 1. */
  readonly share: number
}

/** A file of a tree: its path, and its size in bytes. */
export interface SizedFile {
  readonly path: string
  readonly size: number
}

/** Languages that are named, the largest ones. The others are one more entry. */
const NAMED = 8

/**
 * What others have written or a program has: it says nothing of what a repository is written in. After Linguist's
 * list of vendored and generated files.
 */
const NOT_COUNTED = [
  /(?:^|\/)(?:node_modules|bower_components|vendor|vendored|third[-_]party|deps|extern(?:al)?s?|dist|\.yarn|\.git[a-z]*)\//i,
  /(?:^|\/)(?:docs?|documentation|javadoc|fixtures|testdata|__snapshots__|migrations\/meta)\//i,
  /[.-]min\.(?:js|css)$/i,
  /\.(?:generated|pb|g|designer)\.\w+$|_pb2?\.(?:py|rb|js)$/i,
  /(?:^|\/)(?:jquery|bootstrap|react|angular)[-.][\w.-]*\.(?:js|css)$/i,
]

/** The languages that a tree's files are written in, the largest first. Data and prose are not counted. */
export function languageShares(files: Iterable<SizedFile>): LanguageShare[] {
  const sizes = new Map<string, number>()
  let total = 0
  for (const { path, size } of files) {
    const language = findLanguage(path)
    if (language === null || !language.isCounted || size <= 0 || NOT_COUNTED.some((pattern) => pattern.test(path)))
      continue
    sizes.set(language.id, (sizes.get(language.id) ?? 0) + size)
    total += size
  }
  const names = new Map(LANGUAGES.map(({ id, name }) => [id, name]))
  const all = [...sizes]
    .map(([id, bytes]) => ({ id, name: names.get(id)!, bytes, share: bytes / total }))
    .sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1))
  const others = all.slice(NAMED)
  if (others.length < 2) return all
  const bytes = others.reduce((sum, other) => sum + other.bytes, 0)
  return [...all.slice(0, NAMED), { id: null, name: 'Other', bytes, share: bytes / total }]
}

/** Rules that give each `language-color-<id>` its `--language-color`. */
export function languageColors(): string {
  return LANGUAGES.map(({ id, color }) => `.language-color-${id}{--language-color:${color}}`).join('\n')
}
