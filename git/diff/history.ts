import type { CommitGraph } from '../graph/commit-graph.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { CommitQueue } from '../walk/commit-queue.ts'
import { firstParents, NOTHING, PathLookUp } from './path-look-up.ts'

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
