import type { RefusedWork } from '../../durable-objects/branch-queue/answers.ts'
import { HttpError } from '../http/http-error.ts'
import { pathJson } from '../xrpc/path-json.ts'

type Reason = RefusedWork['reason']

const STATUS_AND_NAME: Record<Reason, readonly [status: number, name: string]> = {
  'merge-conflict': [409, 'MergeConflict'],
  unexpected: [409, 'UnexpectedContent'],
  'tip-moved': [409, 'TipMoved'],
  'branch-missing': [404, 'BranchNotFound'],
  'branch-exists': [409, 'BranchExists'],
  'not-fast-forward': [409, 'NotFastForward'],
  'unknown-commit': [404, 'RevisionNotFound'],
  'invalid-change': [422, 'InvalidChange'],
  'nothing-to-do': [422, 'NothingToCommit'],
  'too-large': [422, 'TooLarge'],
  damaged: [422, 'UnreadableObject'],
  withdrawn: [403, 'Forbidden'],
  'account-refused': [403, 'AccountRefused'],
  blocked: [403, 'Blocked'],
  'over-cap': [403, 'SizeCapExceeded'],
  fault: [500, 'InternalServerError'],
}

/** How a refusal is called, in errors and in previews. */
export function refusalName({ reason }: RefusedWork): string {
  return STATUS_AND_NAME[reason][1]
}

/** @param conflicts of a merge conflict: `dev.skein.gateway.defs#conflict` */
export function refusalError(refusal: RefusedWork, conflicts: readonly unknown[]): HttpError {
  const [status, name] = STATUS_AND_NAME[refusal.reason]
  return new HttpError(status, name, refusal.message, {}, detailsOf(refusal, conflicts))
}

function detailsOf(refusal: RefusedWork, conflicts: readonly unknown[]): Record<string, unknown> {
  switch (refusal.reason) {
    case 'merge-conflict':
      return { conflicts }
    case 'unexpected':
      return { ...pathJson(refusal.path), present: refusal.present }
    case 'tip-moved':
      return { present: refusal.present }
    case 'invalid-change':
      return refusal.path.length === 0 ? {} : pathJson(refusal.path)
    default:
      return {}
  }
}
