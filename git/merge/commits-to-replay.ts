import type { CommitGraph } from '../graph/commit-graph.ts'
import { missingCommits } from '../walk/missing-commits.ts'

/**
 * The commits that `git rebase` makes again on `onto`, in its order (`rev-list --topo-order --reverse --no-merges
 * onto..source`): what comes by a merge's first parent before what comes by its others, parents before children.
 */
export function commitsToReplay(graph: CommitGraph, source: number, onto: number): number[] {
  const commits = new Set(missingCommits(graph, [source], [onto]).commits)
  const children = new Map<number, number>()
  for (const commit of commits) {
    for (const parent of graph.parents(commit)) children.set(parent, (children.get(parent) ?? 0) + 1)
  }
  const ordered: number[] = []
  const waiting = commits.has(source) ? [source] : []
  for (let commit = waiting.pop(); commit !== undefined; commit = waiting.pop()) {
    ordered.push(commit)
    for (const parent of graph.parents(commit)) {
      const left = children.get(parent)! - 1
      children.set(parent, left)
      if (left === 0 && commits.has(parent)) waiting.push(parent)
    }
  }
  return ordered.reverse().filter((commit) => graph.parents(commit).length < 2)
}
