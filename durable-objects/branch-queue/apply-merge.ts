import { mergeBases } from '../../git/merge/merge-bases.ts'
import { mergeCommits } from '../../git/merge/merge-commits.ts'
import { shortBranch } from '../../git/refs/short-branch.ts'
import type { MergeWork } from './answers.ts'
import { type AppliedWork, type Ground, type MergeSides, tipOf } from './ground.ts'
import { makeCommit } from './make-commit.ts'
import { noCommit, RefusedWorkError, refuseConflicts, requireTip, requireTipAt } from './refuse.ts'
import { replayCommits } from './replay-commits.ts'
import { squashMessage } from './squash-message.ts'

/** @param time when it was handed in, in seconds since 1970 */
export async function applyMerge(ground: Ground, work: MergeWork, time: number): Promise<AppliedWork> {
  const sides = await sidesOf(ground, work)
  const { graph, tip, ours, theirs } = sides
  const bases = mergeBases(graph, [ours], [theirs])
  if (bases.includes(theirs)) {
    throw new RefusedWorkError({ reason: 'nothing-to-do', message: `the branch has ${work.sourceName} in it already` })
  }
  const isAhead = bases.includes(ours)
  switch (work.strategy) {
    case 'fast-forward':
      if (isAhead) return { tip: tipOf(graph, theirs), objects: [], commits: [] }
      throw new RefusedWorkError({
        reason: 'not-fast-forward',
        message: `${shortBranch(ground.place.ref)} has commits that ${work.sourceName} does not: merge, squash or rebase`,
      })
    case 'merge': {
      const message = work.message ?? `Merge branch '${work.sourceName}'`
      return mergeInto(ground, work, time, sides, [tip.commit, work.source], message)
    }
    case 'squash': {
      const message = work.message ?? (await squashMessage(ground.objects, graph, theirs, ours))
      return mergeInto(ground, work, time, sides, [tip.commit], message)
    }
    case 'rebase':
      return replayCommits(ground, work, time, sides)
  }
}

async function sidesOf(ground: Ground, { source, expectedTip }: MergeWork): Promise<MergeSides> {
  const tip = requireTip(ground.place)
  requireTipAt(tip.commit, expectedTip)
  const graph = await ground.graph()
  const theirs = graph.find(source)
  if (theirs < 0) throw new RefusedWorkError({ reason: 'unknown-commit', message: noCommit('source', source) })
  const ours = graph.find(tip.commit)
  if (ours < 0) {
    throw new RefusedWorkError({ reason: 'damaged', message: `the repository lacks its branch's tip ${tip.commit}` })
  }
  return { graph, tip, ours, theirs }
}

async function mergeInto(
  ground: Ground,
  { sourceName, strategy, author }: MergeWork,
  time: number,
  { graph, tip, ours, theirs }: MergeSides,
  parents: readonly string[],
  message: string,
): Promise<AppliedWork> {
  const labels = { ours: shortBranch(ground.place.ref), theirs: sourceName }
  const { tree, objects, conflicts } = await mergeCommits(graph, ground.objects, ours, theirs, { labels })
  if (conflicts.length > 0) throw refuseConflicts(`${sourceName} conflicts`, conflicts)
  if (strategy === 'squash' && tree === tip.tree) {
    const what = `the branch has all that ${sourceName} changes already`
    throw new RefusedWorkError({ reason: 'nothing-to-do', message: what })
  }
  return makeCommit(tip, { tree, parents, author, message, time }, objects)
}
