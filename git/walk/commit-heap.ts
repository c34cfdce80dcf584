import type { CommitGraph } from '../graph/commit-graph.ts'

/** Whether commit `a` is to be visited before commit `b`. */
export type CommitOrder = (a: number, b: number) => boolean

/** Children before their parents; the younger first among those that are not related. */
export function byGeneration(graph: CommitGraph): CommitOrder {
  return (a, b) => {
    const difference = graph.generation(a) - graph.generation(b)
    return difference > 0 || (difference === 0 && graph.time(a) > graph.time(b))
  }
}

/**
 * Commits waiting to be visited, in any order that is wanted: a binary heap. It does not mind a commit twice; whoever
 * fills it marks what was met.
 */
export class CommitHeap {
  readonly #heap: number[] = []
  readonly #before: CommitOrder

  constructor(before: CommitOrder) {
    this.#before = before
  }

  get size(): number {
    return this.#heap.length
  }

  /** The waiting commits in their order. */
  waiting(): number[] {
    return this.#heap.toSorted((a, b) => (this.#before(a, b) ? -1 : 1))
  }

  push(commit: number): void {
    const heap = this.#heap
    let at = heap.push(commit) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#before(commit, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = commit
  }

  /** Takes the first commit out. The queue must not be empty. */
  pop(): number {
    const heap = this.#heap
    const first = heap[0]!
    const last = heap.pop()!
    const size = heap.length
    if (size === 0) return first
    let at = 0
    for (let child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && this.#before(heap[child + 1]!, heap[child]!)) child++
      if (!this.#before(heap[child]!, last)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
    return first
  }
}
