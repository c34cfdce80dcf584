import { OID_BYTES } from '../bytes/oid.ts'
import { type ObjectType, parseObjectType } from './object-type.ts'

/** The object does not have the form of its type. Odd but real forms (see test) are accepted. */
export class MalformedObjectError extends Error {
  override name = 'MalformedObjectError'
}

const SPACE = 0x20
const NEWLINE = 0x0a
const GREATER_THAN = 0x3e
const DIGIT_0 = 0x30
const DIGIT_9 = 0x39

const encode = (text: string) => new TextEncoder().encode(text)
const TREE_LINE = encode('tree ')
const PARENT_LINE = encode('parent ')
const COMMITTER_LINE = encode('committer ')
const OBJECT_LINE = encode('object ')
const TYPE_LINE = encode('type ')

export interface CommitLinks {
  readonly tree: Uint8Array
  readonly parents: readonly Uint8Array[]
  /** Committer time in seconds since 1970; 0 where the commit has none that can be read. */
  readonly time: number
}

/** What a commit points at, and when it was made. @throws {@link MalformedObjectError} */
export function commitLinks(commit: Uint8Array): CommitLinks {
  const tree = idLine(commit, 0, TREE_LINE)
  if (tree === null) throw new MalformedObjectError('commit without a tree')
  const parents: Uint8Array[] = []
  let at = idLineLength(TREE_LINE)
  for (let parent = idLine(commit, at, PARENT_LINE); parent !== null; parent = idLine(commit, at, PARENT_LINE)) {
    parents.push(parent)
    at += idLineLength(PARENT_LINE)
  }
  return { tree, parents, time: committerTime(commit, at) }
}

/** What a tag object points at. @throws {@link MalformedObjectError} */
export function tagLinks(tag: Uint8Array): { readonly target: Uint8Array; readonly type: ObjectType } {
  const target = idLine(tag, 0, OBJECT_LINE)
  if (target === null) throw new MalformedObjectError('tag without an object')
  const at = idLineLength(OBJECT_LINE)
  const end = tag.indexOf(NEWLINE, at)
  if (!startsWith(tag, at, TYPE_LINE) || end < 0) throw new MalformedObjectError('tag without a type')
  const name = new TextDecoder('latin1').decode(tag.subarray(at + TYPE_LINE.length, end))
  const type = parseObjectType(name)
  if (type === null) throw new MalformedObjectError('tag with an unknown type')
  return { target, type }
}

/** How a tree entry's target is to be followed. */
export type TreeLinkKind = 'tree' | 'blob' | 'commit'

/**
 * Calls `visit` with the place of each entry's raw id in the bytes. Submodules are `commit`: their targets live elsewhere.
 *
 * @throws {@link MalformedObjectError}
 */
export function visitTreeLinks(tree: Uint8Array, visit: (at: number, kind: TreeLinkKind) => void): void {
  for (let at = 0; at < tree.length; ) {
    let mode = 0
    let byte = tree[at++]!
    for (; byte !== SPACE; byte = tree[at++]!) {
      if (!(byte >= DIGIT_0 && byte <= DIGIT_9) || mode > 0o777777)
        throw new MalformedObjectError('tree with a bad mode')
      mode = mode * 8 + (byte - DIGIT_0)
    }
    const end = tree.indexOf(0, at)
    if (end < 0 || end === at || end + 1 + OID_BYTES > tree.length) throw new MalformedObjectError('tree is cut off')
    const format = mode & 0o170000
    visit(end + 1, format === 0o040000 ? 'tree' : format === 0o160000 ? 'commit' : 'blob')
    at = end + 1 + OID_BYTES
  }
}

function idLineLength(label: Uint8Array): number {
  return label.length + OID_BYTES * 2 + 1
}

/** The raw id in a line `<label><40 hex>\n` at `at`, or null. */
function idLine(bytes: Uint8Array, at: number, label: Uint8Array): Uint8Array | null {
  if (!startsWith(bytes, at, label)) return null
  const hex = at + label.length
  if (bytes[hex + OID_BYTES * 2] !== NEWLINE) return null
  const oid = new Uint8Array(OID_BYTES)
  for (let i = 0; i < OID_BYTES; i++) {
    const value = hexDigit(bytes[hex + 2 * i]!) * 16 + hexDigit(bytes[hex + 2 * i + 1]!)
    if (!(value >= 0)) return null
    oid[i] = value
  }
  return oid
}

function hexDigit(byte: number): number {
  if (byte >= DIGIT_0 && byte <= DIGIT_9) return byte - DIGIT_0
  if (byte >= 0x61 && byte <= 0x66) return byte - 0x61 + 10
  return Number.NaN
}

/** The number after the last `>` of the committer line: names may hold anything else, and zones come in odd forms. */
function committerTime(commit: Uint8Array, from: number): number {
  for (let at = from; at < commit.length; ) {
    const found = commit.indexOf(NEWLINE, at)
    const end = found < 0 ? commit.length : found
    if (end === at) return 0
    if (startsWith(commit, at, COMMITTER_LINE)) {
      let digit = commit.lastIndexOf(GREATER_THAN, end - 1) + 1
      if (digit <= at) return 0
      while (digit < end && commit[digit] === SPACE) digit++
      let time = 0
      for (; digit < end && commit[digit]! >= DIGIT_0 && commit[digit]! <= DIGIT_9; digit++) {
        time = time * 10 + (commit[digit]! - DIGIT_0)
      }
      return Number.isSafeInteger(time) ? time : 0
    }
    at = end + 1
  }
  return 0
}

function startsWith(bytes: Uint8Array, at: number, prefix: Uint8Array): boolean {
  if (at + prefix.length > bytes.length) return false
  for (let i = 0; i < prefix.length; i++) if (bytes[at + i] !== prefix[i]) return false
  return true
}
