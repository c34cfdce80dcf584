import type { Oid } from '../../git/bytes/oid.ts'
import { isDirectory, isGitlink } from '../../git/object/file-mode.ts'
import { type PathEntry, resolveTreePath } from '../../git/walk/tree-path.ts'
import type { RepositoryView } from '../../storage/repository-view.ts'
import { HttpError } from '../http/http-error.ts'
import { requireRevision, requireTree } from '../repository-access.ts'

/** A file or symbolic link in a revision. */
export interface FoundFile extends PathEntry {
  /** What the revision led to, or null where it named a tree. */
  readonly commit: Oid | null
  /** Whether the revision was a full id, so that the file stands there forever. */
  readonly exact: boolean
}

/** @throws {@link HttpError} 404 where the revision is none, or no file stands at the path; 400 */
export async function findFile(view: RepositoryView, revision: string, path: Uint8Array): Promise<FoundFile> {
  const found = await requireRevision(view, revision, 'tree')
  const { tree, commit } = await requireTree(view, found)
  return { ...requireFile(await resolveTreePath(view.objects, tree, path)), commit, exact: found.exact }
}

function requireFile(entry: PathEntry | null): PathEntry {
  if (entry === null) throw new HttpError(404, 'PathNotFound', 'no such file in this revision')
  if (isDirectory(entry.mode)) throw new HttpError(404, 'PathNotFound', 'this path is a directory')
  if (isGitlink(entry.mode)) {
    throw new HttpError(404, 'PathNotFound', `this path is a submodule at ${entry.oid} of another repository`)
  }
  return entry
}
