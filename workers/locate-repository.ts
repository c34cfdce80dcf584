import { HttpError } from './http/http-error.ts'
import { ActorMovedError } from './http/redirect-moved.ts'
import type { RepositoryReference } from './repository-access.ts'
import type { Located, RequestContext } from './request-context.ts'

/** The repository that a request names, or null where the account or its repository does not exist. @throws {@link HttpError} 503 */
export async function locateRepository(
  context: RequestContext,
  reference: RepositoryReference,
): Promise<Located | null> {
  return orNull(async () => {
    if ('name' in reference) return context.locate(reference.actor, reference.name.replace(/\.git$/, ''))
    const identity = await context.resolveActor(reference.did)
    const entry = await context.getRepository(identity, reference.rkey)
    return entry && { identity, entry }
  })
}

/** Null where something is not found. */
export async function orNull<T>(find: () => Promise<T | null>): Promise<T | null> {
  try {
    return await find()
  } catch (error) {
    // Who comes by an old handle is led on.
    if (error instanceof HttpError && error.status === 404 && !(error instanceof ActorMovedError)) return null
    throw error
  }
}
