import { shortBranch } from '../../git/refs/short-branch.ts'
import type { BranchWork, CreateBranchWork, DeleteBranchWork, RefusedWork } from './answers.ts'
import { applyCommit } from './apply-commit.ts'
import { applyMerge } from './apply-merge.ts'
import { type AppliedWork, type Ground, readTip } from './ground.ts'
import { noCommit, RefusedWorkError, refusalOf, requireReadable, requireTip, requireTipAt } from './refuse.ts'

export type WorkResult =
  | { readonly ok: true; readonly applied: AppliedWork }
  | { readonly ok: false; readonly refusal: RefusedWork }

/**
 * Makes what a piece of work asks for on the ground as it is, which stays as it is. The same work on the same ground
 * makes the same commits.
 *
 * @param time when the work was handed in, in seconds since 1970
 * @throws what says nothing about the work: that R2 cannot be read, or that something is wrong here
 */
export async function applyWork(ground: Ground, work: BranchWork, time: number): Promise<WorkResult> {
  try {
    return { ok: true, applied: await apply(ground, work, time) }
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal === null) throw error
    return { ok: false, refusal }
  }
}

function apply(ground: Ground, work: BranchWork, time: number): Promise<AppliedWork> | AppliedWork {
  if (work.kind !== 'delete') requireReadable(ground.place)
  switch (work.kind) {
    case 'commit':
      return applyCommit(ground, work, time)
    case 'merge':
      return applyMerge(ground, work, time)
    case 'create':
      return createBranch(ground, work)
    case 'delete':
      return deleteBranch(ground, work)
  }
}

async function createBranch({ place, objects }: Ground, { target }: CreateBranchWork): Promise<AppliedWork> {
  const taken = place.tip === null ? place.inTheWay : place.ref
  if (taken !== null) {
    const inTheWay = place.tip === null ? `, so that ${shortBranch(place.ref)} cannot be created` : ''
    const message = `there is a branch ${shortBranch(taken)} already${inTheWay}`
    throw new RefusedWorkError({ reason: 'branch-exists', message })
  }
  const tip = await readTip(objects, target)
  if (tip === null) throw new RefusedWorkError({ reason: 'unknown-commit', message: noCommit('target', target) })
  return { tip, objects: [], commits: [] }
}

function deleteBranch({ place }: Ground, { expectedTip }: DeleteBranchWork): AppliedWork {
  requireTipAt(place.unreadable ?? requireTip(place).commit, expectedTip)
  return { tip: null, objects: [], commits: [] }
}
