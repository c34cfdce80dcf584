import { LANGUAGES, type Language } from './language-table.ts'

const byId = new Map(LANGUAGES.map((language) => [language.id, language]))
const byExtension = index((language) => language.extensions)
const byFileName = index((language) => language.names)
const byAlias = index((language) => language.aliases)

/** The language of an id. */
export function languageById(id: string): Language | null {
  return byId.get(id) ?? null
}

/**
 * The language of a file: by its name, by the end of its name, or by the program that its first line names.
 *
 * @param firstLine without it, or with any longer text, the names alone decide
 */
export function findLanguage(path: string, firstLine = ''): Language | null {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const dot = name.lastIndexOf('.')
  const extension = dot === -1 ? '' : name.slice(dot + 1)
  // `Dockerfile.dev` and `Makefile.in` are what they are called before the dot.
  const start = name.slice(0, Math.max(name.indexOf('.'), 0))
  return byFileName.get(name) ?? byExtension.get(extension) ?? byFileName.get(start) ?? byInterpreter(firstLine)
}

/** The language that a fence of Markdown names. */
export function languageOfFence(info: string): Language | null {
  // `{.python}`, `python,ignore` and `python {1,3}` are in use.
  const word = /^[\s{.]*([^\s,{}:=]+)/.exec(info)?.[1]?.toLowerCase() ?? ''
  return byId.get(word) ?? byAlias.get(word) ?? byExtension.get(word) ?? byFileName.get(word) ?? null
}

/** Longer first lines are not looked at, in UTF-16 units. */
const LONGEST_SHEBANG = 200

function byInterpreter(firstLine: string): Language | null {
  if (!firstLine.startsWith('#!')) return null
  const words = firstLine.slice(2, LONGEST_SHEBANG).trim().split(/\s+/)
  const named = words.map((word) => word.slice(word.lastIndexOf('/') + 1))
  const program = named[0] === 'env' ? named.slice(1).find((word) => !/^-|=/.test(word)) : named[0]
  // `python3.12` is python.
  const bare = program?.replace(/[\d.]+$/, '').toLowerCase() ?? ''
  return byId.get(bare) ?? byAlias.get(bare) ?? byExtension.get(bare) ?? null
}

/** Of two languages that claim the same word, the first in the table has it. */
function index(words: (language: Language) => readonly string[]): Map<string, Language> {
  const found = new Map<string, Language>()
  for (const language of LANGUAGES) for (const word of words(language)) if (!found.has(word)) found.set(word, language)
  return found
}
