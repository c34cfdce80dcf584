import type { CommitGraph } from '../graph/commit-graph.ts'
import { byDate, byGeneration, CommitQueue } from './commit-queue.ts'

export interface WalkOptions {
  /**
   * `date`: the younger first, as `git log` lists them (the default). `topological`: never a parent before its child.
   */
  readonly order?: 'date' | 'topological'
}

/** All commits that are reachable from some, these included, each once. Reading the first few costs no more than they do. */
export function* walkCommits(
  graph: CommitGraph,
  from: Iterable<number>,
  options: WalkOptions = {},
): Generator<number, void, undefined> {
  const queue = new CommitQueue(options.order === 'topological' ? byGeneration(graph) : byDate(graph))
  const met = new Set<number>()
  const meet = (commit: number) => {
    if (met.has(commit)) return
    met.add(commit)
    queue.push(commit)
  }
  for (const commit of from) meet(commit)
  while (queue.size > 0) {
    const commit = queue.pop()
    yield commit
    for (const parent of graph.parents(commit)) meet(parent)
  }
}
