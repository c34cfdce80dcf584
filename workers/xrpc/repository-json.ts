import { REPO_COLLECTION } from '../../atproto/records/collections.ts'
import type { KnownRepository } from './deps.ts'

/** `dev.skein.repo.defs#repository` */
export function repositoryJson({ account, rkey, record }: KnownRepository): Record<string, unknown> {
  const { name, description, website, topics, defaultBranch, forkOf, createdAt } = record
  return {
    uri: `at://${account.did}/${REPO_COLLECTION}/${rkey}`,
    did: account.did,
    ...(account.handle === null ? {} : { handle: account.handle }),
    name,
    description,
    website,
    topics,
    defaultBranch,
    forkOf,
    createdAt,
  }
}
