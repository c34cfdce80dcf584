import type { Oid } from '../git/bytes/oid.ts'
import type { RepositoryView } from '../storage/repository-view.ts'
import {
  type NamedCommit,
  type PeeledTree,
  peelToCommit,
  peelToTree,
  type Revision,
  resolveRevision,
  type WantedType,
} from '../storage/revision.ts'
import { HttpError } from './http/http-error.ts'

/** How a request names a repository. */
export type RepositoryReference =
  | { readonly actor: string /* handle or DID */; readonly name: string }
  | { readonly did: string; readonly rkey: string }

/** What handlers that read a repository are given. */
export interface RepositoryDeps {
  /** The repository, or null if the account or its repository does not exist. @throws {@link HttpError} */
  open(reference: RepositoryReference): Promise<RepositoryView | null>
}

/** @throws {@link HttpError} 404 */
export async function openRepository(deps: RepositoryDeps, reference: RepositoryReference): Promise<RepositoryView> {
  const view = await deps.open(reference)
  if (view === null) throw repositoryNotFound(reference)
  return view
}

/** That an account, or its repository, is not there, by the name that was asked for. */
export function repositoryNotFound(reference: RepositoryReference): HttpError {
  const [name, account] = 'name' in reference ? [reference.name, reference.actor] : [reference.rkey, reference.did]
  return new HttpError(404, 'RepositoryNotFound', `repository '${name}' not found in the account ${account}`)
}

/** What a revision names. @throws {@link HttpError} 404 where it names nothing, 400 where it is ambiguous */
export async function requireRevision(view: RepositoryView, text: string, wanted: WantedType): Promise<Revision> {
  const outcome = await resolveRevision(view, text, wanted)
  switch (outcome.kind) {
    case 'found':
      return outcome.revision
    case 'absent':
      throw new HttpError(404, 'RevisionNotFound', `no branch, tag or object is named ${text}`)
    case 'unborn':
      throw new HttpError(404, 'RevisionNotFound', `the default branch, ${outcome.branch}, does not exist yet`)
    case 'ambiguous':
      throw new HttpError(400, 'AmbiguousRevision', ambiguity(text, outcome.oids))
  }
}

function ambiguity(text: string, oids: readonly Oid[]): string {
  return `${text} is ambiguous: ${oids.slice(0, 8).join(', ')}${oids.length > 8 ? ', …' : ''}`
}

/** The commit that a revision leads to. @throws {@link HttpError} 404 if it leads to none */
export async function requireCommit(view: RepositoryView, revision: Revision): Promise<NamedCommit> {
  const found = await peelToCommit(view.objects, revision.oid)
  if (found === null) throw new HttpError(404, 'RevisionNotFound', `${revision.oid} is no commit`)
  return found
}

/** The tree that a revision leads to. @throws {@link HttpError} 404 if it leads to none */
export async function requireTree(view: RepositoryView, revision: Revision): Promise<PeeledTree> {
  const found = await peelToTree(view.objects, revision.oid)
  if (found === null) throw new HttpError(404, 'RevisionNotFound', `${revision.oid} is no commit or tree`)
  return found
}
