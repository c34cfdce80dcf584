import { PackError } from '../pack/entry-header.ts'
import { childIsTree, childNumber } from './tree-children.ts'
import type { TreeSource } from './tree-loader.ts'

/** Tree entries compared in all: half a minute of CPU. The largest histories of the world take a tenth. */
const COMPARED_ENTRIES_LIMIT = 10_000_000_000

/** A 32-bit value by number, 0 at first. */
export interface NumberMarks {
  readonly heldBytes: number
  get(number: number): number
  set(number: number, value: number): void
  /** The values so far are of no use any more. */
  renew?(): void
}

/**
 * Finds what a tree has and others have not.
 *
 * They are compared level by level as sets of ids: what hangs below a tree and not below the old trees down to that
 * level is new. Only trees that changed are looked at. What is called new may still be somewhere deeper in an old tree.
 */
export class NewObjects {
  readonly #trees: TreeSource
  readonly #list: (number: number, isTree: boolean) => void
  /** By number: the comparison, counted from 1, that last met this object on the old side, or listed it. */
  readonly #old: NumberMarks
  readonly #listed: NumberMarks
  #comparison = 0
  /** By number: the level that last met this tree on the new side; levels are counted over all comparisons. */
  readonly #met: NumberMarks
  #level = 0
  #compared: number

  /**
   * @param marks makes a table for all numbers
   * @param list is given each new object of a comparison once.
   * @param compared how many tree entries were compared before, in another step
   */
  constructor(
    trees: TreeSource,
    marks: () => NumberMarks,
    list: (number: number, isTree: boolean) => void,
    compared = 0,
  ) {
    this.#compared = compared
    this.#trees = trees
    this.#list = list
    this.#old = marks()
    this.#listed = marks()
    this.#met = marks()
  }

  get heldBytes(): number {
    return this.#old.heldBytes + this.#listed.heldBytes + this.#met.heldBytes
  }

  /** How many tree entries were compared so far. */
  get compared(): number {
    return this.#compared
  }

  /**
   * Lists the root and what is below it, without what is below the old roots.
   *
   * @throws {@link PackError} once all comparisons together take longer than any real history.
   */
  async compare(root: number, oldRoots: Iterable<number>): Promise<void> {
    const trees = this.#trees
    this.#comparison++
    for (const marks of [this.#old, this.#listed, this.#met]) marks.renew?.()
    let oldTrees = [...oldRoots]
    let newTrees = [root]
    for (const old of oldTrees) this.#old.set(old, this.#comparison)
    this.#add(root, true)
    while (newTrees.length > 0) {
      this.#level++
      await trees.prepare(oldTrees)
      await trees.prepare(newTrees)
      for (const tree of newTrees) this.#meet(trees.children(tree) ?? (await trees.load(tree)))
      const oldSubtrees: number[] = []
      for (const tree of oldTrees) this.#markOld(trees.children(tree) ?? (await trees.load(tree)), oldSubtrees)
      const newSubtrees: number[] = []
      for (const tree of newTrees) this.#addNew(trees.children(tree) ?? (await trees.load(tree)), newSubtrees)
      oldTrees = oldSubtrees
      newTrees = newSubtrees
    }
  }

  #meet(children: Uint32Array): void {
    for (const child of children) if (childIsTree(child)) this.#met.set(childNumber(child), this.#level)
    this.#count(children)
  }

  /** Marks what an old tree holds, and gathers those subtrees that are worth a look: the new trees do not hold them too. */
  #markOld(children: Uint32Array, subtrees: number[]): void {
    for (const child of children) {
      const number = childNumber(child)
      if (this.#old.get(number) === this.#comparison) continue
      this.#old.set(number, this.#comparison)
      if (childIsTree(child) && this.#met.get(number) !== this.#level) subtrees.push(number)
    }
    this.#count(children)
  }

  #addNew(children: Uint32Array, subtrees: number[]): void {
    for (const child of children) {
      const number = childNumber(child)
      if (this.#old.get(number) === this.#comparison || this.#listed.get(number) === this.#comparison) continue
      const isTree = childIsTree(child)
      this.#add(number, isTree)
      if (isTree) subtrees.push(number)
    }
    this.#count(children)
  }

  #add(number: number, isTree: boolean): void {
    this.#listed.set(number, this.#comparison)
    this.#list(number, isTree)
  }

  #count(children: Uint32Array): void {
    this.#compared += children.length
    if (this.#compared > COMPARED_ENTRIES_LIMIT) {
      throw new PackError('the history of the pack takes too long to compare')
    }
  }
}
