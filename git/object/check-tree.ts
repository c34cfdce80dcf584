import { isDotGit, isDotGitModules } from './dot-git.ts'
import { isDirectory, isSymlink } from './file-mode.ts'
import { MalformedObjectError } from './malformed-object-error.ts'
import { TreeReader } from './tree.ts'

const DOT = 0x2e
const SLASH = 0x2f
const BACKSLASH = 0x5c
const TILDE = 0x7e
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

// Trees are checked by the thousand: names are compared where they lie, and nothing is made of them.
function checkEntries(bytes: Uint8Array): string | null {
  const reader = new TreeReader(bytes)
  const files = new OpenFiles(bytes)
  let previousStart = 0
  let previousLength = 0
  let previousMode = 0
  while (reader.next()) {
    const { nameStart: start, nameEnd: end, mode } = reader
    const reason = checkName(bytes, start, end, mode)
    if (reason !== null) return reason
    const length = end - start
    const shared = sharedLength(bytes, previousStart, start, Math.min(previousLength, length))
    if (shared === length && shared === previousLength) return 'tree contains duplicate file entries'
    const previousEnd = shared < previousLength ? bytes[previousStart + shared]! : endOfName(previousMode)
    if (previousEnd > (shared < length ? bytes[start + shared]! : endOfName(mode))) return 'tree is not properly sorted'
    if (files.meet(start, end, mode)) return 'tree contains duplicate file entries'
    previousStart = start
    previousLength = length
    previousMode = mode
  }
  return null
}

function checkName(bytes: Uint8Array, start: number, end: number, mode: number): string | null {
  const first = bytes[start]!
  let isOdd = first === DOT || first >= 0x80
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte === SLASH) return 'tree contains full pathnames'
    if (byte === TILDE || byte === BACKSLASH) isOdd = true
  }
  if (!isOdd) return null
  const length = end - start
  if (first === DOT && length === 1) return 'tree contains the name .'
  if (first === DOT && length === 2 && bytes[start + 1] === DOT) return 'tree contains the name ..'
  if (length < SHORTEST_DOT_GIT) return null
  const name = bytes.subarray(start, end)
  if (isDotGit(name)) return 'tree contains the name .git'
  if (isSymlink(mode) && isDotGitModules(name)) return 'tree has .gitmodules as a symbolic link'
  return null
}

/** What the order of trees takes to stand after a name: a directory's counts as if it ended in a slash. */
function endOfName(mode: number): number {
  return isDirectory(mode) ? SLASH : 0
}

/** How many bytes from `a` and from `b` on are the same, at most `limit`. */
function sharedLength(bytes: Uint8Array, a: number, b: number, limit: number): number {
  let length = 0
  while (length < limit && bytes[a + length] === bytes[b + length]) length++
  return length
}

/**
 * A file `a` and a directory `a` need not be neighbours: `a.b` sorts between them. All that does starts with `a`, so
 * the files that the present name starts with are kept, innermost last, and no others.
 */
class OpenFiles {
  readonly #bytes: Uint8Array
  /** Start and end of each name, `#open` of them. */
  readonly #starts: number[] = []
  readonly #ends: number[] = []
  #open = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** @returns whether a file has this very name. */
  meet(start: number, end: number, mode: number): boolean {
    for (; this.#open > 0; this.#open--) {
      const fileStart = this.#starts[this.#open - 1]!
      const length = this.#ends[this.#open - 1]! - fileStart
      if (length > end - start || sharedLength(this.#bytes, fileStart, start, length) < length) continue
      if (length === end - start) return true
      break
    }
    if (isDirectory(mode)) return false
    this.#starts[this.#open] = start
    this.#ends[this.#open++] = end
    return false
  }
}
