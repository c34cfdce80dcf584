import type { Oid } from '../bytes/oid.ts'
import type { CommitGraph } from '../graph/commit-graph.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { mergeFollowingRenames } from './follow-renames.ts'
import { mergeBases } from './merge-bases.ts'
import { MERGE_LIMITS, type MergeLimits } from './merge-limits.ts'
import type { MergeLabels } from './merge-text.ts'
import { type MergedTrees, mergeTrees } from './merge-trees.ts'
import { OverlaySource } from './overlay-source.ts'

/** What git writes behind the markers of conflicts in a base that was merged. */
const INNER_LABELS: MergeLabels = { ours: 'Temporary merge branch 1', theirs: 'Temporary merge branch 2' }

/** How many merges are made at most to get one base. Beyond, the newest of the bases does alone. */
const MOST_INNER_MERGES = 32

export interface CommitMergeOptions {
  readonly labels: MergeLabels
  readonly limits?: MergeLimits
}

export interface MergedCommits extends MergedTrees {
  /** The best common ancestors, newest first. None: the histories are not related, and all that both have conflicts. */
  readonly bases: readonly Oid[]
}

/**
 * Merges the trees of two commits. Where they have several best common ancestors (a criss-cross), these are merged
 * into one base first, as git's own strategies (ort, recursive) do. What is moved is followed as
 * {@link mergeFollowingRenames} says.
 *
 * @throws {@link MissingObjectError}, {@link MalformedObjectError}, {@link TreeDepthError}, {@link MergeTooLargeError}
 */
export async function mergeCommits(
  graph: CommitGraph,
  source: ObjectSource,
  ours: number,
  theirs: number,
  { labels, limits = MERGE_LIMITS }: CommitMergeOptions,
): Promise<MergedCommits> {
  const bases = mergeBases(graph, [ours], [theirs])
  const inner = new InnerMerges(graph, source, limits)
  const base = await inner.baseOf(bases, 1)
  const options = { labels, limits: inner.limits }
  const merged = await mergeFollowingRenames(inner.source, base, graph.tree(ours), graph.tree(theirs), options)
  return { ...merged, bases: bases.map((commit) => graph.oid(commit)) }
}

/** Merges common ancestors into bases. */
class InnerMerges {
  /** Has the bases too. */
  readonly source: OverlaySource
  readonly #graph: CommitGraph
  readonly #limits: MergeLimits
  #merges = 0
  #heldBytes = 0

  constructor(graph: CommitGraph, source: ObjectSource, limits: MergeLimits) {
    this.#graph = graph
    this.source = new OverlaySource(source)
    this.#limits = limits
  }

  /** What is left for another merge. */
  get limits(): MergeLimits {
    return { ...this.#limits, heldBytes: this.#limits.heldBytes - this.#heldBytes }
  }

  /** @param bases newest first. @returns null for none: the empty tree. */
  async baseOf(bases: readonly number[], depth: number): Promise<Oid | null> {
    const [newest] = bases
    if (newest === undefined) return null
    const [first, ...others] = bases.toReversed()
    let tree = this.#graph.tree(first!)
    const merged = [first!]
    for (const next of others) {
      if (++this.#merges > MOST_INNER_MERGES) return this.#graph.tree(newest)
      const base = await this.baseOf(mergeBases(this.#graph, merged, [next]), depth + 1)
      tree = await this.#merge(base, tree, this.#graph.tree(next), depth)
      merged.push(next)
    }
    return tree
  }

  async #merge(base: Oid | null, ours: Oid, theirs: Oid, depth: number): Promise<Oid> {
    const options = { labels: INNER_LABELS, limits: this.limits, depth }
    const { tree, objects } = await mergeTrees(this.source, base, ours, theirs, options)
    this.source.add(objects)
    for (const { bytes } of objects) this.#heldBytes += bytes.length
    return tree
  }
}
