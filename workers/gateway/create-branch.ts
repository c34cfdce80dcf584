import { requireRight } from '../auth/caller.ts'
import { requireCommit, requireRevision } from '../repository-access.ts'
import type { XrpcCall } from '../xrpc/call.ts'
import { parseRepositoryParam } from '../xrpc/repository-param.ts'
import { parseBranchParam } from './branch-param.ts'
import { type HandInOptions, handIn } from './hand-in.ts'

interface Input extends HandInOptions {
  readonly repo: string
  readonly branch: string
  readonly from: string
}

/** `dev.skein.gateway.createBranch` */
export async function createBranch({ request, params, deps: { gateway } }: XrpcCall<Input>): Promise<Response> {
  const ref = parseBranchParam(params.branch)
  const reference = parseRepositoryParam(params.repo)
  const { target, caller } = await gateway.enter(request, 'dev.skein.gateway.createBranch', reference)
  requireRight(caller, 'branch', { rkey: target.rkey, ref })
  const prepare = async () => {
    const view = await gateway.view(target)
    const { oid } = await requireCommit(view, await requireRevision(view, params.from, 'commit'))
    return { kind: 'create', target: oid } as const
  }
  return handIn({ gateway, target, caller, ref, asked: ['create', params.from], options: params, prepare })
}
