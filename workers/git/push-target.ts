import type { Identity } from '../../atproto/identity/identity.ts'
import { isRepositoryName } from '../../atproto/records/repo-record.ts'
import type { DirectoryEntry } from '../../storage/directory/repository-directory.ts'
import { HttpError } from '../http/http-error.ts'
import type { RequestContext } from '../request-context.ts'
import { requireCredentials, requireOwner } from './basic-auth.ts'

/** Where a push goes: a repository, or a name in one's own account that becomes one. */
export interface PushTarget {
  readonly identity: Identity
  readonly name: string
  readonly entry: DirectoryEntry | null
}

/** Finds where a request wants to push, and makes sure that it may. @throws {@link HttpError} */
export async function requirePushTarget(
  context: RequestContext,
  request: Request,
  actor: string,
  name: string,
): Promise<PushTarget> {
  // First: git asks without credentials before it asks with them, and that need not cost anything.
  requireCredentials(request)
  const identity = await context.resolveActor(actor)
  const [entry] = await Promise.all([
    isRepositoryName(name) ? context.findListed(identity, name) : null,
    requireOwner(context, request, identity),
  ])
  if (!isRepositoryName(name)) {
    throw new HttpError(
      400,
      'InvalidName',
      `'${name}' cannot be the name of a repository: use up to 100 letters, digits, '.', '_' and '-'`,
    )
  }
  return { identity, name, entry }
}
