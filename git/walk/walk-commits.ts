import type { CommitGraph } from '../graph/commit-graph.ts'
import { byGeneration, CommitHeap } from './commit-heap.ts'

const NO_ENDS: ReadonlySet<number> = new Set()

/**
 * All commits that are reachable from some, these included: each once, children before their parents. Reading the
 * first few costs no more than they do. For the order of `git log` see `CommitQueue`.
 *
 * @param ends commits whose parents are not followed
 */
export function* walkCommits(
  graph: CommitGraph,
  from: Iterable<number>,
  ends: ReadonlySet<number> = NO_ENDS,
): Generator<number, void, undefined> {
  const waiting = new CommitHeap(byGeneration(graph))
  const met = new Set<number>()
  const meet = (commit: number) => {
    if (met.has(commit)) return
    met.add(commit)
    waiting.push(commit)
  }
  for (const commit of from) meet(commit)
  while (waiting.size > 0) {
    const commit = waiting.pop()
    yield commit
    if (!ends.has(commit)) for (const parent of graph.parents(commit)) meet(parent)
  }
}
