import { GrowingFloat64, GrowingUint32 } from '../bytes/growing.ts'
import { type Oid, oidFromBytes, oidToBytes } from '../bytes/oid.ts'
import { type CommitLinkVisitor, readCommitLinks } from '../object/commit-links.ts'
import { MalformedObjectError } from '../object/malformed-object-error.ts'
import { COMMIT, type ObjectType, TAG, TREE } from '../object/object-type.ts'
import { parseSignature } from '../object/signature.ts'
import { parseTag } from '../object/tag.ts'
import { PackError } from '../pack/entry-header.ts'
import type { IdNumbers } from './object-numbers.ts'
import type { TreeChildren } from './tree-children.ts'

/** Parents of all commits of a pack together. A few bytes of deltas can make millions. */
const PARENT_LIMIT = 8_000_000
/** Faults that are told of: a stranger's pack may have one in each object. */
export const TOLD_FAULTS = 100

/** The commits that passed by, in that order. Ids are numbers in the table. */
export class CommitTable {
  readonly ordinals = new GrowingUint32()
  readonly trees = new GrowingUint32()
  /** Committer times in seconds since 1970. */
  readonly times = new GrowingFloat64()
  readonly #parents = new GrowingUint32()
  readonly #parentEnds = new GrowingUint32()

  get length(): number {
    return this.ordinals.length
  }

  get heldBytes(): number {
    const tables = [this.ordinals, this.trees, this.times, this.#parents, this.#parentEnds]
    return tables.reduce((sum, { heldBytes }) => sum + heldBytes, 0)
  }

  /** The parents of a commit in their order, as a view. */
  parents(commit: number): Uint32Array {
    return this.#parents
      .view()
      .subarray(commit === 0 ? 0 : this.#parentEnds.at(commit - 1), this.#parentEnds.at(commit))
  }

  add(ordinal: number, tree: number, time: number, parents: Uint32Array): void {
    if (this.#parents.length + parents.length > PARENT_LIMIT) {
      throw new PackError(`the pack's commits have more than ${PARENT_LIMIT} parents`)
    }
    for (const parent of parents) this.#parents.push(parent)
    this.#parentEnds.push(this.#parents.length)
    this.ordinals.push(ordinal)
    this.trees.push(tree)
    this.times.push(time)
  }
}

/** The tag objects that passed by, in that order. */
export class TagTable {
  readonly ordinals = new GrowingUint32()
  readonly targets = new GrowingUint32()
  /** The type that the tag gives its target. */
  readonly types = new GrowingUint32()

  get length(): number {
    return this.ordinals.length
  }

  add(ordinal: number, target: number, type: ObjectType): void {
    this.ordinals.push(ordinal)
    this.targets.push(target)
    this.types.push(type)
  }
}

/**
 * What the objects of a pack point at, gathered as they pass by: 4 bytes a tree entry, with every id numbered in one
 * table. So the graph is made without reading an object twice, as long as the trees' entries fit.
 */
export class ObjectLinks {
  readonly commits = new CommitTable()
  readonly tags = new TagTable()
  readonly trees: TreeChildren
  /** Objects that do not have the form of their type, in words: the first {@link TOLD_FAULTS}. */
  readonly malformed: string[] = []
  readonly #ids: IdNumbers
  /** Of the commit that is being read. */
  #tree = 0
  readonly #parents = new GrowingUint32()
  readonly #visitor: CommitLinkVisitor

  constructor(ids: IdNumbers, trees: TreeChildren) {
    this.#ids = ids
    this.#visitor = {
      tree: (oid) => {
        this.#tree = ids.intern(oid)
      },
      parent: (oid) => this.#parents.push(ids.intern(oid)),
    }
    this.trees = trees
  }

  get heldBytes(): number {
    const { commits, tags, trees } = this
    const ofTags = tags.ordinals.heldBytes + tags.targets.heldBytes + tags.types.heldBytes
    return commits.heldBytes + ofTags + trees.heldBytes
  }

  /** Trees are read again where they are needed. */
  letGo(): void {
    this.trees.letGo()
  }

  /** Takes in one object. `bytes` is not kept. @throws {@link PackError} where there are too many links. */
  add(ordinal: number, type: ObjectType, oid: Uint8Array, bytes: Uint8Array): void {
    try {
      if (type === TREE) this.trees.add(this.#ids.intern(oid), bytes)
      else if (type === COMMIT) this.#addCommit(ordinal, bytes)
      else if (type === TAG) this.#addTag(ordinal, bytes)
    } catch (error) {
      if (!(error instanceof MalformedObjectError)) throw error
      if (this.malformed.length < TOLD_FAULTS) this.malformed.push(`${oidFromBytes(oid)}: ${error.message}`)
    }
  }

  #addCommit(ordinal: number, bytes: Uint8Array): void {
    this.#parents.clear()
    const committer = readCommitLinks(bytes, this.#visitor)
    this.commits.add(ordinal, this.#tree, parseSignature(committer).time ?? 0, this.#parents.view())
  }

  #addTag(ordinal: number, bytes: Uint8Array): void {
    const { target, targetType } = parseTag(bytes)
    this.tags.add(ordinal, this.#number(target), targetType)
  }

  #number(oid: Oid): number {
    return this.#ids.intern(oidToBytes(oid))
  }
}
