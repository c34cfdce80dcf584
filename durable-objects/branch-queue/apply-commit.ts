import { type EditedTree, editTree } from '../../git/edit/edit-tree.ts'
import { quotePath } from '../../git/edit/tree-edit.ts'
import { mergeFollowingRenames } from '../../git/merge/follow-renames.ts'
import { neededBy } from '../../git/merge/needed-objects.ts'
import { OverlaySource } from '../../git/merge/overlay-source.ts'
import { shortBranch } from '../../git/refs/short-branch.ts'
import { resolveTreePath } from '../../git/walk/tree-path.ts'
import type { CommitWork } from './answers.ts'
import { type AppliedWork, type Ground, readTip } from './ground.ts'
import { makeCommit } from './make-commit.ts'
import { noCommit, RefusedWorkError, refuseConflicts } from './refuse.ts'

/** @param time when it was handed in, in seconds since 1970 */
export async function applyCommit(ground: Ground, work: CommitWork, time: number): Promise<AppliedWork> {
  const { tip } = ground.place
  requireBranch(ground, work)
  await checkExpectations(ground, work)
  const { tree, objects } = await changedTree(ground, work)
  if (tree === tip?.tree || (tip === null && work.edits.length === 0)) {
    throw new RefusedWorkError({ reason: 'nothing-to-do', message: 'the branch has all of this already' })
  }
  const { author, message } = work
  const parents = tip === null ? [] : [tip.commit]
  return makeCommit(tip, { tree, parents, author, message, time }, objects)
}

function requireBranch({ place }: Ground, { base }: CommitWork): void {
  const { tip, mayBegin, inTheWay, ref } = place
  if (tip !== null) return
  if (!mayBegin) {
    throw new RefusedWorkError({
      reason: 'branch-missing',
      message: `there is no branch ${shortBranch(ref)}: create it`,
    })
  }
  if (base !== null) {
    const message = `the branch ${shortBranch(ref)} has no commits yet: leave the base out to make the first`
    throw new RefusedWorkError({ reason: 'branch-missing', message })
  }
  if (inTheWay !== null) {
    const message = `there is a branch ${shortBranch(inTheWay)}, so that there can be no ${shortBranch(ref)}`
    throw new RefusedWorkError({ reason: 'branch-exists', message })
  }
}

async function checkExpectations({ place, objects }: Ground, { expect }: CommitWork): Promise<void> {
  const tree = place.tip?.tree ?? null
  for (const { path, oid } of expect) {
    const present = tree === null ? null : ((await resolveTreePath(objects, tree, path))?.oid ?? null)
    if (present === oid) continue
    const is = present === null ? 'is not there' : `is ${present}`
    const not = oid === null ? 'it was expected not to be there' : `not ${oid} as expected`
    throw new RefusedWorkError({
      reason: 'unexpected',
      message: `${quotePath(path)} ${is}, ${not}: read it again`,
      path,
      present,
    })
  }
}

/** The tree that the branch has afterwards. */
async function changedTree({ place, objects }: Ground, { base, edits }: CommitWork): Promise<EditedTree> {
  const { tip, ref } = place
  if (tip === null || base === null || base === tip.commit) return editTree(objects, tip?.tree ?? null, edits)
  const from = await readTip(objects, base)
  if (from === null) throw new RefusedWorkError({ reason: 'unknown-commit', message: noCommit('base', base) })
  const theirs = await editTree(objects, from.tree, edits)
  const made = new OverlaySource(objects)
  made.add(theirs.objects)
  const labels = { ours: shortBranch(ref), theirs: 'this change' }
  const merged = await mergeFollowingRenames(made, from.tree, tip.tree, theirs.tree, { labels })
  if (merged.conflicts.length > 0) throw refuseConflicts('the change conflicts', merged.conflicts)
  return { tree: merged.tree, objects: neededBy(merged.tree, [...theirs.objects, ...merged.objects]) }
}
