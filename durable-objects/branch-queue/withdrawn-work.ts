import { type Grant, permits, type Right } from '../../atproto/access/grant.ts'
import type { BranchAddress, BranchWork, Submitter } from './answers.ts'
import type { QueuedWork } from './queue-store.ts'

/** It cannot be found out now whether those who handed work in may still do so. */
export class RightsUnknownError extends Error {
  override name = 'RightsUnknownError'
}

export interface RightsDeps {
  readonly address: BranchAddress
  /** Those of these tokens that have not been revoked. */
  unrevoked(tokens: readonly string[]): Promise<ReadonlySet<string>>
  /** What the account lets another one do; null: nothing. @throws faults of its PDS */
  grantOf(did: string): Promise<Grant | null>
}

const RIGHTS: Record<BranchWork['kind'], Right> = {
  commit: 'commit',
  merge: 'merge',
  create: 'branch',
  delete: 'branch',
}

/**
 * The seqs of work whose token has been revoked, or whose account is not let do this any more. A token that has merely
 * expired had its right when it handed the work in.
 *
 * @throws {@link RightsUnknownError}, and faults of the account's PDS
 */
export async function withdrawnWork(deps: RightsDeps, works: readonly QueuedWork[]): Promise<ReadonlySet<number>> {
  const { did: owner, rkey, ref } = deps.address
  const tokens = new Set(works.flatMap(({ submitter: { tokenId } }) => (tokenId === null ? [] : [tokenId])))
  const good = tokens.size === 0 ? tokens : await unrevoked(deps, [...tokens])
  const others = new Set(works.flatMap(({ submitter }) => (isCollaborator(submitter, owner) ? [submitter.did] : [])))
  const grants = new Map<string, Grant | null>()
  for (const did of others) grants.set(did, await deps.grantOf(did))
  const mayStill = ({ submitter, work }: QueuedWork): boolean => {
    if (submitter.tokenId !== null) return good.has(submitter.tokenId)
    if (!isCollaborator(submitter, owner)) return true
    const grant = grants.get(submitter.did) ?? null
    return grant !== null && permits(grant, RIGHTS[work.kind], { rkey, ref })
  }
  return new Set(works.filter((work) => !mayStill(work)).map(({ seq }) => seq))
}

function isCollaborator({ did, tokenId }: Submitter, owner: string): boolean {
  return tokenId === null && did !== owner
}

async function unrevoked(deps: RightsDeps, tokens: readonly string[]): Promise<ReadonlySet<string>> {
  try {
    return await deps.unrevoked(tokens)
  } catch (error) {
    throw new RightsUnknownError('it cannot be looked up now whether tokens have been revoked', { cause: error })
  }
}
