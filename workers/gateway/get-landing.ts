import { HttpError } from '../http/http-error.ts'
import type { XrpcCall } from '../xrpc/call.ts'
import { parseRepositoryParam } from '../xrpc/repository-param.ts'
import { parseBranchParam } from './branch-param.ts'
import { branchAddress, submitterOf } from './gateway-deps.ts'
import { answerWork, waitOf } from './hand-in.ts'

interface Params {
  readonly repo: string
  readonly branch: string
  readonly ticket: string
  readonly wait: boolean
}

/** `dev.skein.gateway.getLanding` */
export async function getLanding({ request, params, deps: { gateway } }: XrpcCall<Params>): Promise<Response> {
  const ref = parseBranchParam(params.branch)
  const reference = parseRepositoryParam(params.repo)
  const { target, caller } = await gateway.enter(request, 'dev.skein.gateway.getLanding', reference)
  const asker = caller.kind === 'owner' ? null : submitterOf(caller)
  const work = await gateway.state(branchAddress(target, ref), params.ticket, waitOf(params), asker)
  if (work === null) {
    throw new HttpError(
      404,
      'TicketNotFound',
      'nothing of yours on this branch has this ticket; they are kept for a day',
    )
  }
  return answerWork({ gateway, target }, params.ticket, work)
}
