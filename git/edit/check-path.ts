import { isDotGit, isDotGitModules } from '../object/dot-git.ts'
import { isSymlink } from '../object/file-mode.ts'
import { TreeEditError } from './tree-edit.ts'

/** Linux opens no longer path, and git's own clients come to grief with one. */
export const MAX_PATH_BYTES = 4096
/** The longest name that the common file systems take. */
export const MAX_NAME_BYTES = 255

const DOT = 0x2e
const SLASH = 0x2f

/** The names of a path that may or may not be in a tree. @throws {@link TreeEditError} if it is none. */
export function splitGivenPath(path: Uint8Array): Uint8Array[] {
  if (path.length === 0) throw new TreeEditError('path', path, 'is empty: name a file')
  if (path.length > MAX_PATH_BYTES) {
    throw new TreeEditError('path', path, `has ${path.length} bytes: a path may have at most ${MAX_PATH_BYTES}`)
  }
  if (path.includes(0)) throw new TreeEditError('path', path, 'has NUL in it: no path may')
  if (path[0] === SLASH)
    throw new TreeEditError('path', path, 'starts with a slash: give the path from the root without')
  if (path.at(-1) === SLASH) throw new TreeEditError('path', path, 'ends with a slash: leave it out')
  const names: Uint8Array[] = []
  for (let start = 0; start <= path.length; ) {
    const slash = path.indexOf(SLASH, start)
    const end = slash === -1 ? path.length : slash
    if (end === start) throw new TreeEditError('path', path, 'has two slashes in a row: one separates names')
    names.push(path.subarray(start, end))
    start = end + 1
  }
  return names
}

/** Whether what is written may have these names: what `git fsck` or a checkout would refuse may not. @throws {@link TreeEditError} */
export function checkNames(path: Uint8Array, names: readonly Uint8Array[]): void {
  for (const name of names) {
    if (name.length > MAX_NAME_BYTES) {
      throw new TreeEditError(
        'path',
        path,
        `has a name of ${name.length} bytes: one may have at most ${MAX_NAME_BYTES}`,
      )
    }
    if (name[0] === DOT && (name.length === 1 || (name.length === 2 && name[1] === DOT))) {
      throw new TreeEditError('path', path, 'has the name . or .. in it: give the path without')
    }
    if (isDotGit(name)) {
      throw new TreeEditError('path', path, 'has a name in it that some systems take for .git: choose another')
    }
  }
}

/** Whether a file of this mode may have this name. @throws {@link TreeEditError} */
export function checkFileName(path: Uint8Array, name: Uint8Array, mode: number): void {
  if (isSymlink(mode) && isDotGitModules(name)) {
    throw new TreeEditError('path', path, 'must not be a symbolic link: write .gitmodules as a file')
  }
}
