import { concatBytes } from '../bytes/concat.ts'
import { OID_BYTES, type Oid, oidFromBytes, oidToBytes } from '../bytes/oid.ts'
import { isDirectory } from './file-mode.ts'
import { MalformedObjectError } from './malformed-object-error.ts'
import { TREE } from './object-type.ts'

/** One entry of a tree. */
export interface TreeEntry {
  /** As the tree has it; see {@link canonicalMode}. */
  readonly mode: number
  /** A view into the tree's bytes: any bytes but NUL. */
  readonly name: Uint8Array
  readonly oid: Oid
}

const SPACE = 0x20
const ZERO = 0x30
const SEVEN = 0x37
const SLASH = 0x2f
const END_OF_NAME = Uint8Array.of(0)
/** Modes are 16 bits wide; a larger one could not be told from a small one after masking. */
const MAX_MODE = 0o177777

/**
 * A cursor over the entries of a tree, which allocates nothing: `next` moves to an entry, and the fields then say
 * where its parts lie. Entries are `<octal mode> SP <name> NUL <20 bytes of id>`, one after the other.
 */
export class TreeReader {
  readonly bytes: Uint8Array
  mode = 0
  /** The name is `bytes[nameStart..nameEnd)`. */
  nameStart = 0
  nameEnd = 0
  /** The raw id is the 20 bytes from here. */
  oidAt = 0
  #next = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** @returns false after the last entry. @throws {@link MalformedObjectError} */
  next(): boolean {
    const { bytes } = this
    let at = this.#next
    if (at === bytes.length) return false
    const modeStart = at
    let mode = 0
    for (; at < bytes.length && bytes[at] !== SPACE; at++) {
      const digit = bytes[at]!
      if (digit < ZERO || digit > SEVEN) throw malformed('mode is not octal')
      mode = mode * 8 + (digit - ZERO)
      if (mode > MAX_MODE) throw malformed('mode is out of range')
    }
    if (at === modeStart) throw malformed('entry without a mode')
    const nameStart = at + 1
    // Names are short: this is faster than indexOf.
    let nameEnd = nameStart
    while (nameEnd < bytes.length && bytes[nameEnd] !== 0) nameEnd++
    if (nameEnd + 1 + OID_BYTES > bytes.length) throw malformed('cut off inside an entry')
    if (nameEnd === nameStart) throw malformed('entry without a name')
    this.mode = mode
    this.nameStart = nameStart
    this.nameEnd = nameEnd
    this.oidAt = nameEnd + 1
    this.#next = nameEnd + 1 + OID_BYTES
    return true
  }

  /** The entry's name, as a view. */
  get name(): Uint8Array {
    return this.bytes.subarray(this.nameStart, this.nameEnd)
  }

  get oid(): Oid {
    return oidFromBytes(this.bytes, this.oidAt)
  }

  hasName(name: Uint8Array): boolean {
    const { bytes, nameStart, nameEnd } = this
    if (nameEnd - nameStart !== name.length) return false
    for (let i = 0; i < name.length; i++) if (bytes[nameStart + i] !== name[i]) return false
    return true
  }

  /** Moves on to the entry with this name. @returns false at the end. @throws {@link MalformedObjectError} */
  seek(name: Uint8Array): boolean {
    while (this.next()) if (this.hasName(name)) return true
    return false
  }
}

function malformed(reason: string): MalformedObjectError {
  return new MalformedObjectError(TREE, reason)
}

/** The entry with this name, or null. @throws {@link MalformedObjectError} */
export function findTreeEntry(bytes: Uint8Array, name: Uint8Array): TreeEntry | null {
  const reader = new TreeReader(bytes)
  return reader.seek(name) ? { mode: reader.mode, name: reader.name, oid: reader.oid } : null
}

/** Orders entries as trees do: byte by byte, a directory's name as if it ended in a slash. */
export function compareEntries(
  a: { readonly name: Uint8Array; readonly mode: number },
  b: { readonly name: Uint8Array; readonly mode: number },
): number {
  // A reader makes the view anew each time.
  const [ours, theirs] = [a.name, b.name]
  const shared = Math.min(ours.length, theirs.length)
  for (let i = 0; i < shared; i++) {
    const difference = ours[i]! - theirs[i]!
    if (difference !== 0) return difference
  }
  return endOfName(ours, a.mode, shared) - endOfName(theirs, b.mode, shared)
}

/** The byte at `at` of a name, and after its end what the order takes to stand there. */
function endOfName(name: Uint8Array, mode: number, at: number): number {
  if (at < name.length) return name[at]!
  return isDirectory(mode) ? SLASH : 0
}

/** The bytes of a tree with these entries, which may be given in any order. No two may have the same name. */
export function serializeTree(entries: readonly TreeEntry[]): Uint8Array {
  if (entries.length === 0) return new Uint8Array(0)
  const encoder = new TextEncoder()
  return concatBytes(
    entries
      .toSorted(compareEntries)
      .flatMap(({ mode, name, oid }) => [encoder.encode(`${mode.toString(8)} `), name, END_OF_NAME, oidToBytes(oid)]),
  )
}
