/**
 * Modes of tree entries, as git writes them. Old tools wrote others (100664, a zero before 40000): a mode is read by
 * its file type bits and the owner's executable bit, and never compared whole.
 */
export const DIRECTORY_MODE = 0o040000
export const FILE_MODE = 0o100644
export const EXECUTABLE_MODE = 0o100755
export const SYMLINK_MODE = 0o120000
/** A submodule: the entry names a commit of another repository. */
export const GITLINK_MODE = 0o160000

const FILE_TYPE_BITS = 0o170000
const OWNER_EXECUTABLE = 0o100

export function isDirectory(mode: number): boolean {
  return (mode & FILE_TYPE_BITS) === DIRECTORY_MODE
}

export function isSymlink(mode: number): boolean {
  return (mode & FILE_TYPE_BITS) === SYMLINK_MODE
}

export function isGitlink(mode: number): boolean {
  return (mode & FILE_TYPE_BITS) === GITLINK_MODE
}

/** The mode that git shows and compares for any mode that a tree may hold. */
export function canonicalMode(mode: number): number {
  if (isDirectory(mode)) return DIRECTORY_MODE
  if (isSymlink(mode)) return SYMLINK_MODE
  if (isGitlink(mode)) return GITLINK_MODE
  return mode & OWNER_EXECUTABLE ? EXECUTABLE_MODE : FILE_MODE
}

/** Six octal digits, as in `git ls-tree`. */
export function formatMode(mode: number): string {
  return mode.toString(8).padStart(6, '0')
}
