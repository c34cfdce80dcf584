import type { Oid } from '../bytes/oid.ts'
import type { CommitGraph } from '../graph/commit-graph.ts'
import { canonicalMode, isDirectory } from '../object/file-mode.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { TREE } from '../object/object-type.ts'
import { splitPath } from '../object/path.ts'
import { EMPTY_TREE, readObject } from '../object/read-object.ts'
import { findTreeEntry } from '../object/tree.ts'
import { CommitQueue } from '../walk/commit-queue.ts'

/** A part of a history. Commits are numbers of the graph that was walked. */
export interface HistoryPage {
  readonly commits: readonly number[]
  /** Where the next page starts; empty at the end of the history. */
  readonly next: readonly number[]
}

/** The commits that `from` reach, newest first, at most `limit`. */
export function listHistory(graph: CommitGraph, from: readonly number[], limit: number): HistoryPage {
  const queue = new CommitQueue(graph, from)
  const commits: number[] = []
  while (commits.length < limit && queue.size > 0) {
    const commit = queue.pop()
    commits.push(commit)
    for (const parent of graph.parents(commit)) queue.push(parent)
  }
  return { commits, next: queue.waiting() }
}

/** How much one page of a path's history may cost. */
export interface PathHistoryLimits {
  /** Commits that a page gives at most. */
  readonly limit: number
  /** Commits that a page looks at most: with few that touch the path it may give less than `limit`, even none. */
  readonly examine: number
}

/**
 * Commits that are looked up together along first parents, since the trees of one are seldom enough to keep the
 * store's connections busy. Where a merge leads elsewhere, at most this many look-ups were in vain.
 */
const LOOK_AHEAD = 8

/**
 * The commits that changed what stands at `path`, newest first, with git's default history simplification: a commit
 * is given if the path differs from all its parents; where one parent has the same, only the first such is followed.
 *
 * @throws {@link MissingObjectError}, {@link MalformedObjectError}
 */
export async function listPathHistory(
  graph: CommitGraph,
  source: ObjectSource,
  from: readonly number[],
  path: Uint8Array,
  { limit, examine }: PathHistoryLimits,
): Promise<HistoryPage> {
  const lookUp = new PathLookUp(source, path)
  const queue = new CommitQueue(graph, from)
  const commits: number[] = []
  for (let examined = 0; examined < examine && commits.length < limit && queue.size > 0; examined++) {
    const commit = queue.pop()
    const parents = [...graph.parents(commit)]
    const needed = [commit, ...parents].map((one) => graph.tree(one))
    if (!lookUp.hasAll(needed)) {
      const ahead = firstParents(graph, parents[0]).map((one) => graph.tree(one))
      await lookUp.all([...needed, ...ahead])
    }
    const [here, ...inParents] = await lookUp.all(needed)
    const same = inParents.indexOf(here!)
    if (same !== -1) {
      queue.push(parents[same]!)
      continue
    }
    if (parents.length > 0 || here !== NOTHING) commits.push(commit)
    for (const parent of parents) queue.push(parent)
  }
  return { commits, next: queue.waiting() }
}

function firstParents(graph: CommitGraph, from: number | undefined): number[] {
  const chain: number[] = []
  for (let at = from; at !== undefined && chain.length < LOOK_AHEAD; at = graph.parents(at)[0]) chain.push(at)
  return chain
}

/** What is at a path, as text that is equal where git sees no difference. */
type Found = string
const NOTHING: Found = ''

/** Finds one path in many trees, and reads no tree twice. */
class PathLookUp {
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
