import { COMMIT_LIMITS } from '../../durable-objects/branch-queue/limits.ts'
import type { Encodable } from '../../durable-objects/branch-queue/work-codec.ts'
import { requireRight } from '../auth/caller.ts'
import type { XrpcCall } from '../xrpc/call.ts'
import { parseRepositoryParam } from '../xrpc/repository-param.ts'
import { parseBranchParam } from './branch-param.ts'
import { type AuthorInput, readAuthor, readMessage } from './commit-text.ts'
import { type HandInOptions, handIn } from './hand-in.ts'
import { parseOidParam } from './oid-param.ts'
import { type ChangeInput, readChanges } from './read-changes.ts'
import { readExpectations } from './read-expectations.ts'
import { requireBranch } from './require-branch.ts'

interface Input extends HandInOptions {
  readonly repo: string
  readonly branch: string
  readonly message: string
  readonly author?: AuthorInput
  readonly changes: readonly ChangeInput[]
  readonly base?: string
  readonly expect?: unknown
}

/**
 * The largest body of a commit, in bytes: as much content as one may have, in base64, and as much again as a quarter of
 * that for its paths and the message.
 */
export const MAX_COMMIT_INPUT_BYTES = Math.ceil(COMMIT_LIMITS.contentBytes / 3) * 4 + COMMIT_LIMITS.contentBytes / 4

/** `dev.skein.gateway.commit` */
export async function commit({ request, params, deps: { gateway } }: XrpcCall<Input>): Promise<Response> {
  const ref = parseBranchParam(params.branch)
  const message = readMessage(params.message)
  const base = params.base === undefined ? null : parseOidParam('base', params.base)
  const expect = readExpectations(params.expect)
  const edits = readChanges(params.changes)
  const { target, caller } = await gateway.enter(request, 'dev.skein.gateway.commit', parseRepositoryParam(params.repo))
  requireRight(caller, 'commit', { rkey: target.rkey, ref })
  const author = readAuthor(params.author, caller.author)
  const work = { kind: 'commit', message, author, edits, base, expect } as const
  const prepare = async () => {
    await requireBranch(gateway, target, ref)
    return work
  }
  return handIn({ gateway, target, caller, ref, asked: work as unknown as Encodable, options: params, prepare })
}
