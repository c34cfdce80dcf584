import type { CommitGraph } from '../graph/commit-graph.ts'
import { byGeneration, CommitHeap } from '../walk/commit-heap.ts'

const OURS = 1
const THEIRS = 2
const BOTH = OURS | THEIRS
/** An ancestor of a common ancestor. */
const STALE = 4

/**
 * The best common ancestors of two commits, newest first, as `git merge-base --all`: those that are no ancestors of
 * another one. None where the histories are not related.
 *
 * @param ours several commits stand for one whose parents they are
 */
export function mergeBases(graph: CommitGraph, ours: readonly number[], theirs: readonly number[]): number[] {
  const waiting = new CommitHeap(byGeneration(graph))
  const marks = new Map<number, number>()
  /** How many wait that are not stale. */
  let live = 0
  // A commit comes out of the heap after all that reach it, so it waits whenever it is met.
  const meet = (commit: number, mark: number) => {
    const before = marks.get(commit)
    const after = (before ?? 0) | mark
    marks.set(commit, after)
    if (before === undefined) {
      waiting.push(commit)
      if ((after & STALE) === 0) live++
    } else if ((before & STALE) === 0 && (after & STALE) !== 0) live--
  }
  for (const commit of ours) meet(commit, OURS)
  for (const commit of theirs) meet(commit, THEIRS)
  const bases: number[] = []
  while (live > 0) {
    const commit = waiting.pop()
    let mark = marks.get(commit)!
    if ((mark & STALE) === 0) {
      live--
      if (mark === BOTH) {
        bases.push(commit)
        mark |= STALE
      }
    }
    for (const parent of graph.parents(commit)) meet(parent, mark)
  }
  return bases.sort((a, b) => graph.time(b) - graph.time(a))
}
