import { GrowingFloat64, GrowingUint32 } from '../bytes/growing.ts'
import { oidFromBytes, oidToBytes } from '../bytes/oid.ts'
import type { OidTable } from '../bytes/oid-table.ts'
import { parseCommit } from '../object/commit.ts'
import { isDirectory, isGitlink } from '../object/file-mode.ts'
import { MalformedObjectError } from '../object/malformed-object-error.ts'
import { COMMIT, type ObjectType, TAG, TREE } from '../object/object-type.ts'
import { parseSignature } from '../object/signature.ts'
import { parseTag } from '../object/tag.ts'
import { TreeReader } from '../object/tree.ts'

/** Set in a tree's children where the child is a tree itself. */
export const IS_TREE = 0x80000000
const NUMBER = 0x7fffffff

export interface CommitLinkTable {
  readonly ordinal: number
  /** Number of the tree's id in the table, and of the parents'. */
  readonly tree: number
  readonly parents: readonly number[]
  readonly time: number
}

/**
 * What the objects of a pack point at, gathered as they pass by: 4 bytes a tree entry, with every id numbered in one
 * table. So the graph is made without reading an object twice.
 */
export class ObjectLinks {
  readonly commits: CommitLinkTable[] = []
  readonly tags: { readonly ordinal: number; readonly target: number; readonly type: ObjectType }[] = []
  /** Objects that do not have the form of their type, in words. */
  readonly malformed: string[] = []
  readonly #ids: OidTable
  readonly #children = new GrowingUint32()
  /** By the number of a tree's id: where its children start (plus 1; 0: not here) and end. */
  readonly #starts = new GrowingFloat64()
  readonly #ends = new GrowingFloat64()

  constructor(ids: OidTable) {
    this.#ids = ids
  }

  /** Takes in one object. `bytes` is not kept. */
  add(ordinal: number, type: ObjectType, oid: Uint8Array, bytes: Uint8Array): void {
    try {
      if (type === COMMIT) this.#addCommit(ordinal, bytes)
      else if (type === TREE) this.addTree(oid, bytes)
      else if (type === TAG) this.#addTag(ordinal, bytes)
    } catch (error) {
      if (!(error instanceof MalformedObjectError)) throw error
      this.malformed.push(`${oidFromBytes(oid)}: ${error.message}`)
    }
  }

  /** Takes in a tree, of the pack or of the store. @throws MalformedObjectError */
  addTree(oid: Uint8Array, bytes: Uint8Array): void {
    const number = this.#ids.intern(oid)
    if (this.hasTree(number)) return
    const start = this.#children.length
    const entries = new TreeReader(bytes)
    while (entries.next()) {
      // A submodule's commit lives in another repository.
      if (isGitlink(entries.mode)) continue
      const child = this.#ids.intern(bytes, entries.oidAt)
      this.#children.push(isDirectory(entries.mode) ? child + IS_TREE : child)
    }
    while (this.#starts.length <= number) {
      this.#starts.push(0)
      this.#ends.push(0)
    }
    this.#starts.set(number, start + 1)
    this.#ends.set(number, this.#children.length)
  }

  hasTree(number: number): boolean {
    return number < this.#starts.length && this.#starts.at(number) !== 0
  }

  /** A known tree's children: numbers of their ids, with {@link IS_TREE} set on trees. */
  children(number: number): Uint32Array {
    return this.#children.view().subarray(this.#starts.at(number) - 1, this.#ends.at(number))
  }

  #addCommit(ordinal: number, bytes: Uint8Array): void {
    const { tree, parents, committer } = parseCommit(bytes)
    this.commits.push({
      ordinal,
      tree: this.#ids.intern(oidToBytes(tree)),
      parents: parents.map((parent) => this.#ids.intern(oidToBytes(parent))),
      time: parseSignature(committer).time ?? 0,
    })
  }

  #addTag(ordinal: number, bytes: Uint8Array): void {
    const { target, targetType } = parseTag(bytes)
    this.tags.push({ ordinal, target: this.#ids.intern(oidToBytes(target)), type: targetType })
  }
}

export function childNumber(child: number): number {
  return child & NUMBER
}

export function childIsTree(child: number): boolean {
  return child >= IS_TREE
}
