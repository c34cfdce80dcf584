import type { RepositoryView } from '../storage/repository-view.ts'
import { HttpError } from './http/http-error.ts'
import { Mirror } from './mirror.ts'
import type { RepositoryDeps, RepositoryReference } from './repository-access.ts'
import type { RequestContext } from './request-context.ts'

/** How handlers that read files get at a repository. */
export function repositoryDeps(context: RequestContext): RepositoryDeps {
  return { open: (reference) => openView(context, reference) }
}

async function openView(context: RequestContext, reference: RepositoryReference): Promise<RepositoryView | null> {
  const mirror = await findMirror(context, reference)
  return mirror === null ? null : mirror.view(await mirror.completeManifest())
}

async function findMirror(context: RequestContext, reference: RepositoryReference): Promise<Mirror | null> {
  try {
    if ('name' in reference) {
      const { identity, entry } = await context.locate(reference.actor, reference.name)
      return new Mirror(context, identity, entry.rkey)
    }
    const identity = await context.resolveActor(reference.did)
    const entry = await context.getRepository(identity, reference.rkey)
    return entry === null ? null : new Mirror(context, identity, entry.rkey)
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return null
    throw error
  }
}
