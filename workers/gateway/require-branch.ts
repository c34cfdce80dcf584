import { shortBranch } from '../../git/refs/short-branch.ts'
import { HttpError } from '../http/http-error.ts'
import type { GatewayDeps, GatewayTarget } from './gateway-deps.ts'

/**
 * Makes sure that work goes to a branch that is there, or that may begin with it: what goes to another is not even
 * stored. Where this cannot be found out now, the branch's queue will.
 *
 * @throws {@link HttpError} 404
 */
export async function requireBranch(gateway: GatewayDeps, target: GatewayTarget, ref: string): Promise<void> {
  if (shortBranch(ref) === target.defaultBranch) return
  if ((await gateway.hasBranch(target, ref)) === false) throw noBranch(ref)
}

export function noBranch(ref: string): HttpError {
  return new HttpError(
    404,
    'BranchNotFound',
    `there is no branch ${shortBranch(ref)}: create it by createBranch, or check the name`,
  )
}
