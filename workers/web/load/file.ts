import type { Oid } from '../../../git/bytes/oid.ts'
import { canonicalMode, EXECUTABLE_MODE, isDirectory, isGitlink, isSymlink } from '../../../git/object/file-mode.ts'
import { splitPath } from '../../../git/object/path.ts'
import { decodeText } from '../../../git/object/text.ts'
import { resolveTreePath } from '../../../git/walk/tree-path.ts'
import { readBlobText } from '../../files/blob-text.ts'
import { historyPage } from '../../files/history-page.ts'
import { imageType } from '../../files/media-type.ts'
import { HttpError } from '../../http/http-error.ts'
import { requireTree } from '../../repository-access.ts'
import type { OpenedRepository } from '../deps.ts'
import { revisionHref } from '../hrefs.ts'
import type { PageCall, PageSource } from '../page.ts'
import { proseKind } from '../render/readme.ts'
import { type CommitInfo, readCommitInfo } from './commit-info.ts'
import { findPlace, frameOf, openCalled, placeKey, type RepositoryFrame, type ShownPlace } from './frame.ts'
import { type RefChoices, refChoices } from './ref-choices.ts'

/** Larger files are not shown, but linked: in bytes, and in lines. */
const MAX_SHOWN = 1024 * 1024
export const MAX_LINES = 20_000

export type FileContent =
  | { readonly kind: 'text'; readonly text: string; readonly isMarkdown: boolean }
  | { readonly kind: 'image' }
  | { readonly kind: 'binary' }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'link'; readonly target: string }

/** A file of a revision. */
export interface FileData {
  readonly frame: RepositoryFrame
  readonly place: ShownPlace
  readonly choices: RefChoices
  readonly name: string
  readonly oid: Oid
  /** In bytes. */
  readonly size: number
  readonly isExecutable: boolean
  /** The commit that the revision leads to; null where it is a tree. */
  readonly commit: Oid | null
  /** What last changed the file; null where that lies further back than was looked. */
  readonly lastChange: CommitInfo | null
  readonly content: FileContent
  /** `?view=source`: a file that could be rendered is shown as it stands. */
  readonly asSource: boolean
}

/** A file, or where a directory or a submodule stands instead. */
export type FileOutcome = FileData | { readonly movedTo: string }

/** `/<actor>/<repository>/blob/<revision>/<path>` */
export async function loadFile(call: PageCall): Promise<PageSource<FileOutcome>> {
  const opened = await openCalled(call)
  const place = await findPlace(opened, call.rest)
  const asSource = call.url.searchParams.get('view') === 'source'
  return {
    key: placeKey(opened, place),
    immutable: place.revision.exact,
    read: () => readFile(opened, place, asSource),
  }
}

async function readFile(opened: OpenedRepository, place: ShownPlace, asSource: boolean): Promise<FileOutcome> {
  const { view } = opened
  const { tree, commit } = await requireTree(view, place.revision)
  const entry = await resolveTreePath(view.objects, tree, place.path)
  const frame = frameOf(opened)
  if (entry === null) throw new HttpError(404, 'PathNotFound', 'there is no such file in this revision')
  if (isDirectory(entry.mode)) return { movedTo: revisionHref(frame.base, 'tree', place.revision.name, place.path) }
  if (isGitlink(entry.mode)) {
    throw new HttpError(404, 'PathNotFound', `a submodule is here: commit ${entry.oid} of another repository`)
  }
  const name = decodeText(splitPath(place.path).at(-1)!)
  const [stat, content, lastChange] = await Promise.all([
    view.objects.stat(entry.oid),
    readContent(opened, entry, name),
    commit === null ? null : lastChangeOf(opened, commit, place.path),
  ])
  return {
    frame,
    place,
    choices: refChoices(view.manifest),
    name,
    oid: entry.oid,
    size: stat?.size ?? 0,
    isExecutable: canonicalMode(entry.mode) === EXECUTABLE_MODE,
    commit,
    lastChange,
    content,
    asSource,
  }
}

async function readContent(
  { view }: OpenedRepository,
  { mode, oid }: { readonly mode: number; readonly oid: Oid },
  name: string,
): Promise<FileContent> {
  const isImage = !isSymlink(mode) && imageType(name) !== null
  // An SVG is text, too, but who opens one wants to see it.
  if (isImage) return { kind: 'image' }
  const content = await readBlobText(view.objects, oid, MAX_SHOWN)
  if (content.kind !== 'text') return { kind: content.kind }
  const text = decodeText(content.bytes)
  if (isSymlink(mode)) return { kind: 'link', target: text }
  return { kind: 'text', text, isMarkdown: proseKind(name) === 'markdown' }
}

async function lastChangeOf({ view }: OpenedRepository, commit: Oid, path: Uint8Array): Promise<CommitInfo | null> {
  const oid = (await historyPage(view, [commit], path, 1))?.commits[0]
  return oid === undefined ? null : readCommitInfo(view.objects, oid)
}
