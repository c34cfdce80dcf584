import { Bitmap } from '../bytes/bitmap.ts'
import { oidFromBytes } from '../bytes/oid.ts'
import { isDirectory, isGitlink } from '../object/file-mode.ts'
import { MissingObjectError } from '../object/missing-object-error.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { TREE } from '../object/object-type.ts'
import { readObject } from '../object/read-object.ts'
import { TreeReader } from '../object/tree.ts'
import {
  findPlace,
  type IndexedPack,
  NOWHERE,
  ordinalOf,
  type Place,
  packOf,
  type Selection,
  select,
  selects,
} from '../pack/object-place.ts'

/** Trees asked for at once: a Worker may have six connections, and the client is one. */
const READS_AT_ONCE = 4

/**
 * Goes through trees level by level, each tree once, where no list of what is new in a commit will do: at the boundary
 * of shallow history, and where a filter goes by depth. Places are those of the oldest pack with an object.
 */
export class TreeLevels {
  /** What the client has, as far as it was met. */
  readonly known: Selection
  readonly #packs: readonly IndexedPack[]
  readonly #objects: ObjectSource

  constructor(packs: readonly IndexedPack[], objects: ObjectSource) {
    this.#packs = packs
    this.#objects = objects
    this.known = emptySelection(packs)
  }

  /** Notes that the client has these trees and all below them. */
  async know(trees: readonly Place[]): Promise<void> {
    let level = this.#meetKnown(trees)
    while (level.length > 0) {
      const next: Place[] = []
      await this.#readEach(level, (child, isTree) => {
        if (child === NOWHERE || selects(this.known, child)) return
        select(this.known, child)
        if (isTree) next.push(child)
      })
      level = next
    }
  }

  /**
   * Selects trees and what lies below them, up to a depth, without what the client has. Every tree is met first on its
   * highest level, so that one visit is enough.
   *
   * @param theirs trees that the client has with all below them: looked into only where they can spare something
   * @param depth levels to select, that of `trees` included
   * @throws {@link MissingObjectError}, {@link MalformedObjectError}
   */
  async select(
    selection: Selection,
    trees: readonly Place[],
    theirs: readonly Place[] = [],
    depth = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    const met = emptySelection(this.#packs)
    let known = this.#meetKnown(theirs)
    let wanted = [...new Set(trees)]
    for (const tree of wanted) select(met, tree)
    for (let left = depth; wanted.length > 0 && left > 0; left--) {
      wanted = wanted.filter((tree) => !selects(this.known, tree))
      for (const tree of wanted) select(selection, tree)
      if (left === 1 || wanted.length === 0) return
      const children: Place[] = []
      const subtrees: Place[] = []
      await this.#readEach(wanted, (child, isTree, bytes, at) => {
        if (child === NOWHERE) throw new MissingObjectError(oidFromBytes(bytes, at))
        if (selects(met, child)) return
        select(met, child)
        if (isTree) subtrees.push(child)
        else children.push(child)
      })
      known = await this.#knowNext(known, met)
      for (const child of children) if (!selects(this.known, child)) select(selection, child)
      wanted = subtrees
    }
  }

  /** @returns those that were not known, each once. */
  #meetKnown(trees: readonly Place[]): Place[] {
    return trees.filter((tree) => {
      if (tree === NOWHERE || selects(this.known, tree)) return false
      select(this.known, tree)
      return true
    })
  }

  /** Meets what lies in trees of the client. @returns the trees among it that are not wanted as they are. */
  async #knowNext(level: readonly Place[], met: Selection): Promise<Place[]> {
    const next: Place[] = []
    await this.#readEach(
      level.filter((tree) => !selects(met, tree)),
      (child, isTree) => {
        if (child === NOWHERE || selects(this.known, child)) return
        select(this.known, child)
        if (isTree) next.push(child)
      },
    )
    return next
  }

  /** Reads trees, in the order in which they lie, and gives what is in them, submodules left out. */
  async #readEach(
    trees: readonly Place[],
    give: (child: Place, isTree: boolean, bytes: Uint8Array, oidAt: number) => void,
  ): Promise<void> {
    const ordered = trees.toSorted((a, b) => a - b)
    for (let from = 0; from < ordered.length; from += READS_AT_ONCE) {
      const batch = ordered.slice(from, from + READS_AT_ONCE)
      for (const bytes of await Promise.all(batch.map((tree) => this.#read(tree)))) {
        const entries = new TreeReader(bytes)
        while (entries.next()) {
          if (isGitlink(entries.mode)) continue
          give(findPlace(this.#packs, bytes, entries.oidAt), isDirectory(entries.mode), bytes, entries.oidAt)
        }
      }
    }
  }

  #read(tree: Place): Promise<Uint8Array> {
    return readObject(this.#objects, this.#packs[packOf(tree)]!.index.oid(ordinalOf(tree)), TREE)
  }
}

export function emptySelection(packs: readonly IndexedPack[]): Selection {
  return packs.map(({ index }) => new Bitmap(index.entries))
}
