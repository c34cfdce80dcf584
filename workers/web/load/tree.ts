import { isDirectory } from '../../../git/object/file-mode.ts'
import { findRef } from '../../../git/refs/ref-order.ts'
import { resolveTreePath } from '../../../git/walk/tree-path.ts'
import { HttpError } from '../../http/http-error.ts'
import { requireTree } from '../../repository-access.ts'
import type { OpenedRepository } from '../deps.ts'
import type { PageCall, PageSource } from '../page.ts'
import { type CommitInfo, readCommitInfo } from './commit-info.ts'
import { type Directory, loadDirectory } from './directory.ts'
import {
  BRANCHES,
  findPlace,
  frameOf,
  openCalled,
  placeKey,
  type RepositoryFrame,
  refInUrl,
  type ShownPlace,
} from './frame.ts'
import { type RefChoices, refChoices } from './ref-choices.ts'

/** A directory of a revision. */
export interface TreeData {
  readonly frame: RepositoryFrame
  readonly place: ShownPlace
  readonly choices: RefChoices
  /** What the revision leads to; null where it is a tree. */
  readonly commit: CommitInfo | null
  readonly directory: Directory
}

/** `/<actor>/<repository>/tree/<revision>/<path>` */
export async function loadTree(call: PageCall): Promise<PageSource<TreeData>> {
  const opened = await openCalled(call)
  const place = await findPlace(opened, call.rest)
  return {
    key: placeKey(opened, place),
    immutable: place.revision.exact,
    read: () => readTree(opened, place),
  }
}

/** @throws {@link HttpError} 404 where no directory is there */
export async function readTree(opened: OpenedRepository, place: ShownPlace): Promise<TreeData> {
  const { view } = opened
  const { tree, commit } = await requireTree(view, place.revision)
  const entry = await resolveTreePath(view.objects, tree, place.path)
  if (entry === null) throw new HttpError(404, 'PathNotFound', 'there is no such directory in this revision')
  if (!isDirectory(entry.mode)) throw new HttpError(404, 'PathNotFound', 'this path is a file, and no directory')
  const [info, directory] = await Promise.all([
    commit === null ? null : readCommitInfo(view.objects, commit),
    loadDirectory(opened, entry.oid, commit, place.path),
  ])
  return { frame: frameOf(opened), place, choices: refChoices(view.manifest), commit: info, directory }
}

/** The state that a repository's own page shows; null: the default branch does not exist yet. */
export function defaultPlace({ view: { manifest } }: OpenedRepository): ShownPlace | null {
  const ref = findRef(manifest.refs, `${BRANCHES}${manifest.defaultBranch}`)
  if (ref === null) return null
  const path = new Uint8Array(0)
  return { revision: { name: refInUrl(manifest, ref.name), ref: ref.name, oid: ref.target, exact: false }, path }
}
