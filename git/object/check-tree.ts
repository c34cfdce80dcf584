import { isDotGit, isDotGitModules } from './dot-git.ts'
import { isDirectory, isSymlink } from './file-mode.ts'
import { MalformedObjectError } from './malformed-object-error.ts'
import { compareEntries, TreeReader } from './tree.ts'

const DOT = 0x2e
const SLASH = 0x2f
/** The shortest name that any of the forms of `.git` has. */
const SHORTEST_DOT_GIT = 4

/**
 * Whether a pushed tree may be kept: what `git fsck` counts as an error, and no more. Odd modes are taken, since old
 * tools wrote them.
 *
 * @returns the reason to refuse it, in git's words where git has them, or null.
 */
export function checkTree(bytes: Uint8Array): string | null {
  try {
    return checkEntries(bytes)
  } catch (error) {
    if (error instanceof MalformedObjectError) return error.message
    throw error
  }
}

interface Entry {
  readonly name: Uint8Array
  readonly mode: number
}

function checkEntries(bytes: Uint8Array): string | null {
  const reader = new TreeReader(bytes)
  let previous: Entry | null = null
  const files: Entry[] = []
  while (reader.next()) {
    const entry = { name: reader.name, mode: reader.mode }
    const reason = checkName(entry)
    if (reason !== null) return reason
    if (previous !== null && isSame(previous, entry)) return 'tree contains duplicate file entries'
    if (previous !== null && compareEntries(previous, entry) > 0) return 'tree is not properly sorted'
    if (isDuplicate(files, entry)) return 'tree contains duplicate file entries'
    previous = entry
  }
  return null
}

function checkName({ name, mode }: Entry): string | null {
  if (name.includes(SLASH)) return 'tree contains full pathnames'
  if (name[0] === DOT && name.length === 1) return 'tree contains the name .'
  if (name[0] === DOT && name[1] === DOT && name.length === 2) return 'tree contains the name ..'
  if (name.length < SHORTEST_DOT_GIT) return null
  if (isDotGit(name)) return 'tree contains the name .git'
  if (isSymlink(mode) && isDotGitModules(name)) return 'tree has .gitmodules as a symbolic link'
  return null
}

/**
 * A file `a` and a directory `a` need not be neighbours: `a.b` sorts between them. All that does starts with `a`, so
 * the files that the present name starts with are kept, innermost last, and no others.
 */
function isDuplicate(files: Entry[], entry: Entry): boolean {
  while (files.length > 0 && !startsWith(entry.name, files.at(-1)!.name)) files.pop()
  const last = files.at(-1)
  if (last !== undefined && last.name.length === entry.name.length) return true
  if (!isDirectory(entry.mode)) files.push(entry)
  return false
}

function isSame(a: Entry, b: Entry): boolean {
  return a.name.length === b.name.length && startsWith(a.name, b.name)
}

function startsWith(name: Uint8Array, start: Uint8Array): boolean {
  if (name.length < start.length) return false
  for (let i = 0; i < start.length; i++) if (name[i] !== start[i]) return false
  return true
}
