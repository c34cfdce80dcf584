import type { CommitGraph } from '../graph/commit-graph.ts'
import { CommitHeap } from './commit-heap.ts'

/**
 * Commits waiting to be visited, newest first, each once.
 *
 * The order is by date, but a commit counts as at least as late as each of its ancestors (the *corrected* date of
 * git's commit-graph files). Where no clock was wrong this is the order of `git log`. And since a commit always
 * comes out before its ancestors, what waits in the queue is all that a later walk needs to go on without giving a
 * commit twice.
 */
export class CommitQueue {
  readonly #seen = new Set<number>()
  readonly #queue: CommitHeap
  /** When each waiting commit was added: of two that are otherwise equal the first added is first. */
  readonly #added = new Map<number, number>()

  constructor(graph: CommitGraph, commits: Iterable<number>) {
    const dates = correctedDates(graph)
    this.#queue = new CommitHeap((a, b) => {
      const byDate = dates[a]! - dates[b]!
      if (byDate !== 0) return byDate > 0
      const byGeneration = graph.generation(a) - graph.generation(b)
      if (byGeneration !== 0) return byGeneration > 0
      return this.#added.get(a)! < this.#added.get(b)!
    })
    for (const commit of commits) this.push(commit)
  }

  get size(): number {
    return this.#queue.size
  }

  /** Adds a commit, unless it was ever added before. */
  push(commit: number): void {
    if (this.#seen.has(commit)) return
    this.#seen.add(commit)
    this.#added.set(commit, this.#seen.size)
    this.#queue.push(commit)
  }

  /** Takes the first commit out, or -1 if none waits. */
  pop(): number {
    if (this.#queue.size === 0) return -1
    const first = this.#queue.pop()
    this.#added.delete(first)
    return first
  }

  /** The waiting commits in their order. */
  waiting(): number[] {
    return this.#queue.waiting()
  }
}

const known = new WeakMap<CommitGraph, Float64Array>()

/** Of each commit the latest time among it and its ancestors, in seconds since 1970. One pass over a graph. */
function correctedDates(graph: CommitGraph): Float64Array {
  const cached = known.get(graph)
  if (cached?.length === graph.size) return cached
  const dates = new Float64Array(graph.size)
  for (const commit of byGeneration(graph)) {
    let date = graph.time(commit)
    for (const parent of graph.parents(commit)) date = Math.max(date, dates[parent]!)
    dates[commit] = date
  }
  known.set(graph, dates)
  return dates
}

/** All commits, parents before children. */
function byGeneration(graph: CommitGraph): Uint32Array {
  let last = 0
  for (let commit = 0; commit < graph.size; commit++) last = Math.max(last, graph.generation(commit))
  const starts = new Uint32Array(last + 2)
  for (let commit = 0; commit < graph.size; commit++) starts[graph.generation(commit) + 1]!++
  for (let generation = 1; generation < starts.length; generation++) starts[generation]! += starts[generation - 1]!
  const sorted = new Uint32Array(graph.size)
  for (let commit = 0; commit < graph.size; commit++) sorted[starts[graph.generation(commit)]!++] = commit
  return sorted
}
