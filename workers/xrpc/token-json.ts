import { REPO_COLLECTION } from '../../atproto/records/collections.ts'
import type { Token } from '../../storage/access/token-store.ts'

/** `dev.skein.token.defs#token` */
export function tokenJson({ id, did, label, grant, createdAt, expiresAt, revokedAt }: Token): Record<string, unknown> {
  return {
    id,
    label,
    repositories: grant.repositories?.map((rkey) => `at://${did}/${REPO_COLLECTION}/${rkey}`),
    branches: grant.branches ?? undefined,
    rights: grant.rights,
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
    revokedAt: revokedAt === null ? undefined : new Date(revokedAt).toISOString(),
  }
}
