import { GrowingUint32 } from '../bytes/growing.ts'
import type { CommitGraph } from '../graph/commit-graph.ts'
import { byGeneration, CommitHeap } from './commit-heap.ts'

const WANTED = 1
const HAD = 2

/**
 * Where history ends although it goes on in the graph: commits whose parents do not follow from them. What ends on the
 * side of the haves alone has its parents among the wants: nobody looks below what is had for something to send.
 */
export interface HistoryEnds {
  /** On the way down from the wants. */
  readonly wanted: ReadonlySet<number>
  /** On the way down from the haves. */
  readonly had: ReadonlySet<number>
}

const NO_ENDS: HistoryEnds = { wanted: new Set(), had: new Set() }

/**
 * The commits that are reachable from `wants` and not from `haves`.
 *
 * Visits children before their parents, so that all is known of a commit once it is reached, and ends when what is
 * left is had: the cost is that of the commits between wants and haves, not of the history. See Stolee, "Supercharging
 * the Git Commit Graph" (2018), on generation numbers.
 */
export function missingCommits(
  graph: CommitGraph,
  wants: readonly number[],
  haves: readonly number[],
  ends: HistoryEnds = NO_ENDS,
): MissingCommits {
  const paint = new Uint8Array(graph.size)
  const commits =
    haves.length === 0 ? reachable(graph, wants, ends, paint) : paintDown(graph, wants, haves, ends, paint)
  return new MissingCommits(graph, commits, haves, ends, paint)
}

/** Commits that are to be sent, and how they lie against what is not. */
export class MissingCommits {
  readonly commits: Uint32Array
  readonly #graph: CommitGraph
  readonly #haves: readonly number[]
  readonly #ends: HistoryEnds
  readonly #paint: Uint8Array

  constructor(
    graph: CommitGraph,
    commits: Uint32Array,
    haves: readonly number[],
    ends: HistoryEnds,
    paint: Uint8Array,
  ) {
    this.commits = commits
    this.#graph = graph
    this.#haves = haves
    this.#ends = ends
    this.#paint = paint
  }

  /** The commits with a parent that is neither sent nor had: what their trees hold may be new in none that is sent. */
  boundary(): number[] {
    return [...this.#ends.wanted].filter((commit) => {
      if (this.#paint[commit] !== WANTED) return false
      return !this.#graph.isComplete(commit) || this.#graph.parents(commit).some((parent) => this.#paint[parent] === 0)
    })
  }

  /** Commits that the client has, close to those that it lacks: their parents first, then the haves, the latest first. */
  edge(): number[] {
    const edge = new Set<number>()
    for (const commit of this.commits) {
      for (const parent of this.#graph.parents(commit)) if ((this.#paint[parent]! & HAD) !== 0) edge.add(parent)
    }
    for (const commit of this.#haves.toSorted((a, b) => this.#graph.time(b) - this.#graph.time(a))) edge.add(commit)
    return [...edge]
  }

  /** Ends of what the client has, of which a parent is sent. What is sent below them is older than what the client has. */
  deepened(): number[] {
    return [...this.#ends.had].filter(
      (commit) =>
        (this.#paint[commit]! & HAD) !== 0 &&
        this.#graph.parents(commit).some((parent) => this.#paint[parent] === WANTED),
    )
  }
}

function reachable(graph: CommitGraph, wants: readonly number[], ends: HistoryEnds, paint: Uint8Array): Uint32Array {
  const found = new GrowingUint32()
  const meet = (commit: number) => {
    if (paint[commit] !== 0) return
    paint[commit] = WANTED
    found.push(commit)
  }
  for (const commit of wants) meet(commit)
  for (let next = 0; next < found.length; next++) {
    const commit = found.at(next)
    if (!ends.wanted.has(commit)) for (const parent of graph.parents(commit)) meet(parent)
  }
  return found.view()
}

function paintDown(
  graph: CommitGraph,
  wants: readonly number[],
  haves: readonly number[],
  ends: HistoryEnds,
  paint: Uint8Array,
): Uint32Array {
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
    const down = (ends.wanted.has(commit) ? flags & ~WANTED : flags) & (ends.had.has(commit) ? ~HAD : ~0)
    if (down !== 0) for (const parent of graph.parents(commit)) mark(parent, down)
  }
  return found.view()
}
