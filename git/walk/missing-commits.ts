import { GrowingUint32 } from '../bytes/growing.ts'
import type { CommitGraph } from '../graph/commit-graph.ts'
import { byGeneration, CommitHeap } from './commit-heap.ts'

const WANTED = 1
const HAD = 2

/**
 * The commits that are reachable from `wants` and not from `haves`.
 *
 * Visits children before their parents, so that all is known of a commit once it is reached, and ends when what is
 * left is had: the cost is that of the commits between wants and haves, not of the history. See Stolee, "Supercharging
 * the Git Commit Graph" (2018), on generation numbers.
 */
export function missingCommits(graph: CommitGraph, wants: readonly number[], haves: readonly number[]): Uint32Array {
  return haves.length === 0 ? reachable(graph, wants) : paintDown(graph, wants, haves)
}

function reachable(graph: CommitGraph, wants: readonly number[]): Uint32Array {
  const met = new Uint8Array(graph.size)
  const found = new GrowingUint32()
  const meet = (commit: number) => {
    if (met[commit] !== 0) return
    met[commit] = WANTED
    found.push(commit)
  }
  for (const commit of wants) meet(commit)
  for (let next = 0; next < found.length; next++) {
    for (const parent of graph.parents(found.at(next))) meet(parent)
  }
  return found.view()
}

function paintDown(graph: CommitGraph, wants: readonly number[], haves: readonly number[]): Uint32Array {
  const paint = new Uint8Array(graph.size)
  const waiting = new CommitHeap(byGeneration(graph))
  /** Waiting commits that are wanted and not (yet) had. */
  let open = 0
  const mark = (commit: number, flags: number) => {
    const before = paint[commit]!
    const after = before | flags
    if (after === before) return
    paint[commit] = after
    if (before === 0) waiting.push(commit)
    if (before === WANTED) open--
    if (after === WANTED) open++
  }
  for (const commit of haves) mark(commit, HAD)
  for (const commit of wants) mark(commit, WANTED)
  const found = new GrowingUint32()
  while (open > 0) {
    const commit = waiting.pop()
    const flags = paint[commit]!
    if (flags === WANTED) {
      open--
      found.push(commit)
    }
    for (const parent of graph.parents(commit)) mark(parent, flags)
  }
  return found.view()
}
