import type { Identity } from '../../atproto/identity/identity.ts'
import { isRepositoryName } from '../../atproto/records/repo-record.ts'
import type { DirectoryEntry } from '../../storage/directory/repository-directory.ts'
import { authenticateCaller } from '../auth/authenticate.ts'
import { type Caller, forbidden, refusalOf, requireRight } from '../auth/caller.ts'
import { requireCredentials } from '../auth/credentials.ts'
import { HttpError } from '../http/http-error.ts'
import type { RequestContext } from '../request-context.ts'

/** Where a push goes: a repository, or a name in one's own account that becomes one. */
export interface PushTarget {
  readonly identity: Identity
  readonly name: string
  readonly entry: DirectoryEntry | null
  readonly caller: Caller
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
  const [entry, caller] = await Promise.all([
    isRepositoryName(name) ? context.findListed(identity, name) : null,
    authenticateCaller(context, request, identity, null),
  ])
  if (!isRepositoryName(name)) {
    throw new HttpError(
      400,
      'InvalidName',
      `'${name}' cannot be the name of a repository: use up to 100 letters, digits, '.', '_' and '-'`,
    )
  }
  requireSomeRight(caller, entry?.rkey ?? null)
  return { identity, name, entry, caller }
}

/** Who may do nothing with a repository is told so at once, and not for each ref. */
function requireSomeRight(caller: Caller, rkey: string | null): void {
  const target = { rkey, ref: null }
  if (rkey === null) requireRight(caller, 'branch', target)
  else if (!caller.may('commit', target) && !caller.may('branch', target)) {
    throw forbidden(refusalOf(caller, 'commit', target))
  }
}
