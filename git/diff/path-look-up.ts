import type { Oid } from '../bytes/oid.ts'
import type { CommitGraph } from '../graph/commit-graph.ts'
import { canonicalMode, isDirectory } from '../object/file-mode.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { TREE } from '../object/object-type.ts'
import { splitPath } from '../object/path.ts'
import { EMPTY_TREE, readObject } from '../object/read-object.ts'
import { findTreeEntry } from '../object/tree.ts'

/**
 * Commits that are looked up together along first parents, since the trees of one are seldom enough to keep the
 * store's connections busy. Where a merge leads elsewhere, at most this many look-ups were in vain.
 */
const LOOK_AHEAD = 8

/** The commit and its first parents, as many as are worth looking up together. */
export function firstParents(graph: CommitGraph, from: number | undefined): number[] {
  const chain: number[] = []
  for (let at = from; at !== undefined && chain.length < LOOK_AHEAD; at = graph.parents(at)[0]) chain.push(at)
  return chain
}

/** What is at a path, as text that is equal where git sees no difference. */
export type Found = string
export const NOTHING: Found = ''

/** Finds one path in many trees, and reads no tree twice. */
export class PathLookUp {
  readonly #source: ObjectSource
  readonly #names: readonly Uint8Array[]
  /** By depth, what the rest of the path leads to from a tree. */
  readonly #known: Map<Oid, Promise<Found>>[]

  constructor(source: ObjectSource, path: Uint8Array) {
    this.#source = source
    this.#names = splitPath(path)
    this.#known = this.#names.map(() => new Map())
  }

  /** Whether these trees have been looked up. */
  hasAll(trees: readonly Oid[]): boolean {
    const known = this.#known[0]
    return known === undefined || trees.every((tree) => known.has(tree))
  }

  /** Looks up several at once. */
  all(trees: readonly Oid[]): Promise<Found[]> {
    return Promise.all(trees.map((tree) => this.#from(0, tree)))
  }

  #from(depth: number, tree: Oid): Promise<Found> {
    const known = this.#known[depth]
    if (known === undefined) return Promise.resolve(tree === EMPTY_TREE ? NOTHING : tree)
    const before = known.get(tree)
    if (before !== undefined) return before
    const found = this.#read(depth, tree)
    known.set(tree, found)
    return found
  }

  async #read(depth: number, tree: Oid): Promise<Found> {
    const entry = findTreeEntry(await readObject(this.#source, tree, TREE), this.#names[depth]!)
    if (entry === null) return NOTHING
    if (depth === this.#names.length - 1) return `${canonicalMode(entry.mode)} ${entry.oid}`
    return isDirectory(entry.mode) ? this.#from(depth + 1, entry.oid) : NOTHING
  }
}
