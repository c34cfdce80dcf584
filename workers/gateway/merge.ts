import type { MergeStrategy } from '../../durable-objects/branch-queue/answers.ts'
import { requireRight } from '../auth/caller.ts'
import type { XrpcCall } from '../xrpc/call.ts'
import { parseRepositoryParam } from '../xrpc/repository-param.ts'
import { parseBranchParam } from './branch-param.ts'
import { type AuthorInput, readAuthor, readMessage } from './commit-text.ts'
import { type HandInOptions, handIn } from './hand-in.ts'
import { mergeMessage, resolveMergeSource } from './merge-source.ts'
import { parseOidParam } from './oid-param.ts'
import { requireBranch } from './require-branch.ts'

interface Input extends HandInOptions {
  readonly repo: string
  readonly branch: string
  readonly source: string
  readonly strategy: MergeStrategy
  readonly message?: string
  readonly author?: AuthorInput
  readonly expectTip?: string
}

/** `dev.skein.gateway.merge` */
export async function merge({ request, params, deps: { gateway } }: XrpcCall<Input>): Promise<Response> {
  const { strategy } = params
  const ref = parseBranchParam(params.branch)
  const given = params.message === undefined ? null : readMessage(params.message)
  const expectedTip = params.expectTip === undefined ? null : parseOidParam('expectTip', params.expectTip)
  const reference = parseRepositoryParam(params.repo)
  const { target, caller } = await gateway.enter(request, 'dev.skein.gateway.merge', reference)
  requireRight(caller, 'merge', { rkey: target.rkey, ref })
  const author = readAuthor(params.author, caller.author)
  const prepare = async () => {
    await requireBranch(gateway, target, ref)
    const { oid: source, name: sourceName, title } = await resolveMergeSource(await gateway.view(target), params.source)
    const message = given ?? mergeMessage(strategy, title, ref)
    return { kind: 'merge', source, sourceName, strategy, message, author, expectedTip } as const
  }
  const asked = ['merge', params.source, strategy, given, author.name, author.email, expectedTip]
  return handIn({ gateway, target, caller, ref, asked, options: params, prepare })
}
