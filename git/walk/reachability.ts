import type { CommitGraph } from '../graph/commit-graph.ts'

const UNKNOWN = 0
const ON_PATH = 1
const DEAD_END = 2

/** Whether `ancestor` is `descendant` or reachable from it. */
export function isAncestor(graph: CommitGraph, ancestor: number, descendant: number): boolean {
  return everyReaches(graph, [descendant], [ancestor])
}

/**
 * Whether every one of `from` is, or reaches, one of `targets`.
 *
 * Goes down one path until it meets a target, as git's `can_all_from_reach_with_flag`; what lies below the lowest
 * generation of the targets is not looked at, and no commit twice.
 */
export function everyReaches(graph: CommitGraph, from: readonly number[], targets: readonly number[]): boolean {
  if (targets.length === 0) return from.length === 0
  const goals = new Set(targets)
  let lowest = Number.POSITIVE_INFINITY
  for (const target of targets) lowest = Math.min(lowest, graph.generation(target))
  const states = new Map<number, number>()
  return from.every((start) => {
    // Paths that led to a goal stay marked: whoever meets one reaches that goal too.
    const path: { commit: number; next: number }[] = []
    const enter = (commit: number): boolean => {
      if (goals.has(commit) || states.get(commit) === ON_PATH) return true
      if ((states.get(commit) ?? UNKNOWN) === UNKNOWN) {
        const isBelow = graph.generation(commit) <= lowest
        states.set(commit, isBelow ? DEAD_END : ON_PATH)
        if (!isBelow) path.push({ commit, next: 0 })
      }
      return false
    }
    if (enter(start)) return true
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const parents = graph.parents(top.commit)
      if (top.next === parents.length) {
        states.set(top.commit, DEAD_END)
        path.pop()
      } else if (enter(parents[top.next++]!)) return true
    }
    return false
  })
}
