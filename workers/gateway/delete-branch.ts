import { shortBranch } from '../../git/refs/short-branch.ts'
import { requireRight } from '../auth/caller.ts'
import { HttpError } from '../http/http-error.ts'
import type { XrpcCall } from '../xrpc/call.ts'
import { parseRepositoryParam } from '../xrpc/repository-param.ts'
import { parseBranchParam } from './branch-param.ts'
import { type HandInOptions, handIn } from './hand-in.ts'
import { parseOidParam } from './oid-param.ts'
import { requireBranch } from './require-branch.ts'

interface Input extends HandInOptions {
  readonly repo: string
  readonly branch: string
  readonly expect?: string
}

/** `dev.skein.gateway.deleteBranch` */
export async function deleteBranch({ request, params, deps: { gateway } }: XrpcCall<Input>): Promise<Response> {
  const ref = parseBranchParam(params.branch)
  const expectedTip = params.expect === undefined ? null : parseOidParam('expect', params.expect)
  const reference = parseRepositoryParam(params.repo)
  const { target, caller } = await gateway.enter(request, 'dev.skein.gateway.deleteBranch', reference)
  requireRight(caller, 'branch', { rkey: target.rkey, ref })
  const prepare = async () => {
    refuseDefaultBranch(shortBranch(ref), target.defaultBranch)
    await requireBranch(gateway, target, ref)
    return { kind: 'delete', expectedTip } as const
  }
  return handIn({ gateway, target, caller, ref, asked: ['delete', expectedTip], options: params, prepare })
}

/** HEAD would name nothing, and the next commit would begin a history anew. git's own server refuses it too. */
function refuseDefaultBranch(branch: string, defaultBranch: string): void {
  if (branch !== defaultBranch) return
  const message = `${branch} is the default branch: it can be deleted when the repository has another one`
  throw new HttpError(409, 'DefaultBranch', message)
}
