import { BLAME_LIMITS, type BlamedLines, blame } from '../../../git/diff/blame.ts'
import { isDirectory, isGitlink } from '../../../git/object/file-mode.ts'
import { splitPath } from '../../../git/object/path.ts'
import { decodeText } from '../../../git/object/text.ts'
import { resolveTreePath } from '../../../git/walk/tree-path.ts'
import { type BlobText, readBlobText } from '../../files/blob-text.ts'
import { HttpError } from '../../http/http-error.ts'
import { requireCommit } from '../../repository-access.ts'
import type { OpenedRepository } from '../deps.ts'
import type { PageCall, PageSource } from '../page.ts'
import { type CommitInfo, readCommitInfo } from './commit-info.ts'
import { findPlace, frameOf, openCalled, placeKey, type RepositoryFrame, type ShownPlace } from './frame.ts'

/** A file, and who brought in each line. */
export interface BlameData {
  readonly frame: RepositoryFrame
  readonly place: ShownPlace
  readonly name: string
  readonly text: string
  readonly ranges: readonly BlamedRange[]
}

export interface BlamedRange {
  /** First line, from 0. */
  readonly start: number
  /** The line after the last one. */
  readonly end: number
  readonly commit: CommitInfo
  /** False: it is as old as this commit, or older. */
  readonly isKnown: boolean
}

/** `/<actor>/<repository>/blame/<revision>/<path>` */
export async function loadBlame(call: PageCall): Promise<PageSource<BlameData>> {
  const opened = await openCalled(call)
  const place = await findPlace(opened, call.rest, 'commit')
  return { key: placeKey(opened, place), immutable: place.revision.exact, read: () => readBlame(opened, place) }
}

async function readBlame(opened: OpenedRepository, place: ShownPlace): Promise<BlameData> {
  const { view } = opened
  const { oid, commit } = await requireCommit(view, place.revision)
  const entry = await resolveTreePath(view.objects, commit.tree, place.path)
  if (entry === null || isDirectory(entry.mode) || isGitlink(entry.mode)) {
    throw new HttpError(404, 'PathNotFound', 'there is no such file in this revision')
  }
  const text = requireText(await readBlobText(view.objects, entry.oid, BLAME_LIMITS.fileBytes))
  const graph = await view.graph()
  const lines = await blame(graph, view.objects, graph.find(oid), place.path)
  return {
    frame: frameOf(opened),
    place,
    name: decodeText(splitPath(place.path).at(-1)!),
    text,
    ranges: await withCommits(opened, lines),
  }
}

function requireText(content: BlobText): string {
  if (content.kind === 'text') return decodeText(content.bytes)
  const why = content.kind === 'binary' ? 'this file is binary' : 'this file is too large'
  throw new HttpError(422, 'NotShown', `${why}: nobody can be named line by line`)
}

async function withCommits({ view }: OpenedRepository, lines: readonly BlamedLines[]): Promise<BlamedRange[]> {
  const graph = await view.graph()
  const numbers = [...new Set(lines.map(({ commit }) => commit))]
  const infos = await Promise.all(numbers.map((number) => readCommitInfo(view.objects, graph.oid(number))))
  const byNumber = new Map(numbers.map((number, i) => [number, infos[i]!]))
  return lines.map(({ start, end, commit, isKnown }) => ({ start, end, commit: byNumber.get(commit)!, isKnown }))
}
