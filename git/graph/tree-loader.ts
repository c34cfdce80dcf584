import { MalformedObjectError } from '../object/malformed-object-error.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { TREE } from '../object/object-type.ts'
import type { ObjectNumbers } from './object-numbers.ts'
import type { TreeChildren } from './tree-children.ts'

const NOTHING = new Uint32Array(0)
/** Trees asked for at once. */
const READS_AT_ONCE = 6

/** The children of trees by number, see {@link TreeChildren}. */
export interface TreeSource {
  /** A tree's children if they are at hand, else null. As a view that lasts until the next call. */
  children(tree: number): Uint32Array | null
  /** Reads a tree's children. None if it is nowhere. */
  load(tree: number): Promise<Uint32Array>
  /** Reads those that are not at hand, several at once. */
  prepare(trees: readonly number[]): Promise<void>
}

/** The children of trees by number, wherever the trees are: at hand, in the pack, or in the store. */
export class TreeLoader implements TreeSource {
  readonly #trees: TreeChildren
  readonly #ids: ObjectNumbers
  readonly #pack: ObjectSource
  readonly #store: ObjectSource | null
  /** Trees that are nowhere, or no trees. */
  readonly #unreadable = new Set<number>()

  /** @param pack the pack's own objects, for trees whose children did not stay. */
  constructor(trees: TreeChildren, ids: ObjectNumbers, pack: ObjectSource, store: ObjectSource | null) {
    this.#trees = trees
    this.#ids = ids
    this.#pack = pack
    this.#store = store
  }

  /** A tree's children if they are at hand, else null: {@link load} them. As a view that lasts until the next call. */
  children(tree: number): Uint32Array | null {
    return this.#unreadable.has(tree) ? NOTHING : this.#trees.get(tree)
  }

  /** Reads a tree's children. None if it is nowhere: whoever needs the tree itself misses it. */
  async load(tree: number): Promise<Uint32Array> {
    const source = this.#ids.ordinalOf(tree) >= 0 ? this.#pack : this.#store
    const object = (await source?.read(this.#ids.oidAt(tree))) ?? null
    if (object?.type === TREE) {
      try {
        return this.#trees.addReread(tree, object.bytes)
      } catch (error) {
        if (!(error instanceof MalformedObjectError)) throw error
      }
    }
    this.#unreadable.add(tree)
    return NOTHING
  }

  /** Reads those trees that are not at hand, several at once: as many as stay are then there without waiting. */
  async prepare(trees: readonly number[]): Promise<void> {
    const absent = trees.filter((tree) => this.children(tree) === null)
    if (absent.length < 2) return
    for (let at = 0; at < absent.length; at += READS_AT_ONCE) {
      await Promise.all(absent.slice(at, at + READS_AT_ONCE).map((tree) => this.load(tree)))
    }
  }
}
