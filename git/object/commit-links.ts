import { OID_BYTES, parseOidBytes } from '../bytes/oid.ts'
import { MalformedObjectError } from './malformed-object-error.ts'
import { COMMIT } from './object-type.ts'

const LF = 0x0a
const SPACE = 0x20
const OID_DIGITS = OID_BYTES * 2
const TREE_KEY = new TextEncoder().encode('tree')
const PARENT_KEY = new TextEncoder().encode('parent')
const COMMITTER_KEY = new TextEncoder().encode('committer')
const NOTHING = new Uint8Array(0)

/** Hears of the ids in a commit; `oid` is lent. */
export interface CommitLinkVisitor {
  tree(oid: Uint8Array): void
  parent(oid: Uint8Array): void
}

/**
 * What a commit points at, without making anything of the rest: commits are read by the thousand. It is malformed if
 * {@link parseCommit} says so.
 *
 * @returns the committer line after its key, as a view; empty where there is none.
 * @throws {@link MalformedObjectError}
 */
export function readCommitLinks(bytes: Uint8Array, visitor: CommitLinkVisitor): Uint8Array {
  const oid = new Uint8Array(OID_BYTES)
  if (!hasKey(bytes, 0, TREE_KEY)) throw new MalformedObjectError(COMMIT, 'no tree line')
  let at = readOid(bytes, TREE_KEY.length, oid, 'tree')
  visitor.tree(oid)
  while (hasKey(bytes, at, PARENT_KEY)) {
    at = readOid(bytes, at + PARENT_KEY.length, oid, 'parent')
    visitor.parent(oid)
  }
  return findCommitter(bytes, at)
}

/** Reads the id that is the value after a key that ends at `at`. @returns where the next line starts. */
function readOid(bytes: Uint8Array, at: number, oid: Uint8Array, key: string): number {
  const end = at + 1 + OID_DIGITS
  if (bytes[at] !== SPACE || end > bytes.length || !isLineEnd(bytes, end) || !parseOidBytes(bytes, at + 1, oid)) {
    throw new MalformedObjectError(COMMIT, `${key} line without an object id`)
  }
  return end + 1
}

function findCommitter(bytes: Uint8Array, from: number): Uint8Array {
  for (let at = from; at < bytes.length && bytes[at] !== LF; ) {
    let end = lineEnd(bytes, at)
    // A line that starts with a space goes on with the one before.
    while (bytes[end + 1] === SPACE) end = lineEnd(bytes, end + 1)
    if (hasKey(bytes, at, COMMITTER_KEY)) return bytes.subarray(Math.min(at + COMMITTER_KEY.length + 1, end), end)
    at = end + 1
  }
  return NOTHING
}

function lineEnd(bytes: Uint8Array, from: number): number {
  const end = bytes.indexOf(LF, from)
  return end === -1 ? bytes.length : end
}

/** Whether the line at `at` has this key: a space or the end of the line follows it. */
function hasKey(bytes: Uint8Array, at: number, key: Uint8Array): boolean {
  for (let i = 0; i < key.length; i++) if (bytes[at + i] !== key[i]) return false
  return bytes[at + key.length] === SPACE || isLineEnd(bytes, at + key.length)
}

/** Whether a header ends here: one goes on in lines that start with a space. */
function isLineEnd(bytes: Uint8Array, at: number): boolean {
  return at >= bytes.length || (bytes[at] === LF && bytes[at + 1] !== SPACE)
}
