import type { CommitGraph } from '../graph/commit-graph.ts'
import { missingCommits } from './missing-commits.ts'
import { walkCommits } from './walk-commits.ts'

/** How much history a client wants of what it fetches. */
export type Deepening =
  /** So many commits from each want; 1 is the want itself. */
  | { readonly kind: 'depth'; readonly commits: number }
  /** So many commits more than the client has, from wherever its history ends now. */
  | { readonly kind: 'relative'; readonly commits: number }
  /** All of it. */
  | { readonly kind: 'whole' }
  /** What is not older than `since`, in seconds since 1970, and what `not` do not reach. */
  | { readonly kind: 'limits'; readonly since: number | null; readonly not: readonly number[] }

/** How the ends of a client's history move. */
export interface ShallowUpdate {
  /** Commits whose parents the client will not have (any more). */
  readonly shallow: readonly number[]
  /** Commits of the client whose parents it gets now. */
  readonly unshallow: readonly number[]
}

/**
 * Finds where the history of a client is to end, as git's `get_shallow_commits` and `get_shallow_commits_by_rev_list`
 * do. Null: the limits leave no commit at all. Better than git, only ends that the client then has are named: limits may
 * keep a commit and its descendant and not what lies between them, and a client that is told of the former dies of it
 * when it fetches again.
 *
 * @param wants the commits that are wanted
 * @param ends commits at which the client's history ends now
 */
export function shallowUpdate(
  graph: CommitGraph,
  wants: readonly number[],
  ends: readonly number[],
  deepening: Deepening,
): ShallowUpdate | null {
  switch (deepening.kind) {
    case 'whole':
      return { shallow: [], unshallow: ends }
    case 'depth':
      return moveEnds(ends, withinDepth(graph, wants, deepening.commits))
    case 'relative':
      return moveEnds(ends, withinDepth(graph, ends, deepening.commits + 1))
    case 'limits': {
      const kept = withinLimits(graph, wants, deepening)
      return kept.size === 0 ? null : leaveUnreached(graph, wants, moveEnds(ends, splitBorder(graph, kept)))
    }
  }
}

/** Commits with all their parents, and those at which history ends. */
interface Cut {
  readonly inside: ReadonlySet<number>
  readonly border: readonly number[]
}

function moveEnds(ends: readonly number[], { inside, border }: Cut): ShallowUpdate {
  const known = new Set(ends)
  return {
    shallow: border.filter((commit) => !known.has(commit)),
    unshallow: ends.filter((commit) => inside.has(commit)),
  }
}

/** Leaves out new ends to which no way leads that does not pass another. */
function leaveUnreached(graph: CommitGraph, wants: readonly number[], update: ShallowUpdate): ShallowUpdate {
  const from = [...wants, ...update.unshallow.flatMap((commit) => [...graph.parents(commit)])]
  const reached = new Set(walkCommits(graph, from, new Set(update.shallow)))
  return { shallow: update.shallow.filter((commit) => reached.has(commit)), unshallow: update.unshallow }
}

/** A commit at the depth itself is on the border, a root too: git has it so. */
function withinDepth(graph: CommitGraph, from: readonly number[], depth: number): Cut {
  const inside = new Set<number>()
  let level = new Set(from)
  for (let distance = 1; distance < depth && level.size > 0; distance++) {
    for (const commit of level) inside.add(commit)
    const next = new Set<number>()
    for (const commit of level) for (const parent of graph.parents(commit)) if (!inside.has(parent)) next.add(parent)
    level = next
  }
  return { inside, border: [...level] }
}

function withinLimits(
  graph: CommitGraph,
  wants: readonly number[],
  { since, not }: { readonly since: number | null; readonly not: readonly number[] },
): Set<number> {
  const young = new Set<number>()
  const old: number[] = []
  const met = new Set(wants)
  const waiting = [...met]
  for (let commit = waiting.pop(); commit !== undefined; commit = waiting.pop()) {
    if (since !== null && graph.time(commit) < since) {
      old.push(commit)
      continue
    }
    young.add(commit)
    for (const parent of graph.parents(commit)) {
      if (met.has(parent)) continue
      met.add(parent)
      waiting.push(parent)
    }
  }
  if (not.length === 0) return young
  // With both limits git leaves out what an old commit reaches as well, be it young itself.
  return new Set(missingCommits(graph, [...young], [...not, ...old]).commits)
}

function splitBorder(graph: CommitGraph, kept: ReadonlySet<number>): Cut {
  const inside = new Set<number>()
  const border: number[] = []
  for (const commit of kept) {
    if (graph.isComplete(commit) && [...graph.parents(commit)].every((parent) => kept.has(parent))) inside.add(commit)
    else border.push(commit)
  }
  return { inside, border }
}
