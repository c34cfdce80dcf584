import type { Oid } from '../../git/bytes/oid.ts'
import { quotePath, TreeEditError } from '../../git/edit/tree-edit.ts'
import type { MergeConflict } from '../../git/merge/merge-conflict.ts'
import { MergeTooLargeError } from '../../git/merge/merge-limits.ts'
import { FieldError } from '../../git/object/field-error.ts'
import { MalformedObjectError } from '../../git/object/malformed-object-error.ts'
import { MissingObjectError } from '../../git/object/missing-object-error.ts'
import { PackError } from '../../git/pack/entry-header.ts'
import { ObjectTooLargeError } from '../../git/pack/packed-entry.ts'
import { shortBranch } from '../../git/refs/short-branch.ts'
import { TreeDepthError } from '../../git/walk/walk-tree.ts'
import type { PathConflict, RefusedWork } from './answers.ts'
import type { BranchPlace, BranchTip } from './ground.ts'
import { CONFLICT_LIMITS } from './limits.ts'

/** Work that cannot be done: thrown inside, a value for whoever asked. */
export class RefusedWorkError extends Error {
  override name = 'RefusedWorkError'
  readonly refusal: RefusedWork

  constructor(refusal: RefusedWork) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** @param what `base`, `source`, `target` */
export function noCommit(what: string, oid: Oid): string {
  return `the ${what} ${oid} is no commit of this repository`
}

/** @throws {@link RefusedWorkError} if there is no such branch */
export function requireTip({ tip, ref }: BranchPlace): BranchTip {
  if (tip !== null) return tip
  throw new RefusedWorkError({ reason: 'branch-missing', message: `there is no branch ${shortBranch(ref)}` })
}

/** @throws {@link RefusedWorkError} if the branch is not there */
export function requireTipAt(present: Oid, expectedTip: string | null): void {
  if (expectedTip === null || expectedTip === present) return
  const message = `the branch is at ${present} by now, not at ${expectedTip}`
  throw new RefusedWorkError({ reason: 'tip-moved', message, present })
}

/** @throws {@link RefusedWorkError} where the account has the branch, and what it needs cannot be read: all of it would be lost */
export function requireReadable({ ref, unreadable }: BranchPlace): void {
  if (unreadable === null) return
  const message = `the branch ${shortBranch(ref)} is at ${unreadable} in the account, which cannot be read here: push what goes on from there, or replace it by a git push, which tells how`
  throw new RefusedWorkError({ reason: 'damaged', message })
}

/** Paths that a message names. */
const NAMED_PATHS = 5

/** @param what goes before the paths: `the change conflicts` */
export function refuseConflicts(what: string, conflicts: readonly MergeConflict[]): RefusedWorkError {
  const paths = conflicts.slice(0, NAMED_PATHS).map(({ path }) => quotePath(path))
  const more = conflicts.length - paths.length
  const names = `${paths.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return new RefusedWorkError({
    reason: 'merge-conflict',
    message: `${what} with what the branch has by now in ${names}: look at both sides, and hand it in anew on the present tip`,
    conflicts: toldOf(conflicts),
  })
}

/** As many as an answer takes: of texts too large in all, the first. */
function toldOf(conflicts: readonly MergeConflict[]): PathConflict[] {
  let left: number = CONFLICT_LIMITS.mergedBytes
  return conflicts.slice(0, CONFLICT_LIMITS.paths).map(({ path, kind, base, ours, theirs, merged }) => {
    const isTold = merged !== null && merged.length <= left
    if (isTold) left -= merged.length
    return {
      path,
      kind,
      base: base?.oid ?? null,
      ours: ours?.oid ?? null,
      theirs: theirs?.oid ?? null,
      merged: isTold ? merged : null,
    }
  })
}

const NO_PATH = new Uint8Array(0)

/** What an error says to whoever handed the work in; null for one that says nothing about the work. */
export function refusalOf(error: unknown): RefusedWork | null {
  if (error instanceof RefusedWorkError) return error.refusal
  if (error instanceof TreeEditError) return { reason: 'invalid-change', message: error.message, path: error.path }
  if (error instanceof FieldError) return { reason: 'invalid-change', message: error.message, path: NO_PATH }
  if (error instanceof MergeTooLargeError || error instanceof ObjectTooLargeError || error instanceof TreeDepthError) {
    return { reason: 'too-large', message: error.message }
  }
  if (error instanceof MissingObjectError || error instanceof MalformedObjectError || error instanceof PackError) {
    return { reason: 'damaged', message: `the repository cannot be read: ${error.message}` }
  }
  return null
}
