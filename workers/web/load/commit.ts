import { isOid } from '../../../git/bytes/oid.ts'
import type { Commit } from '../../../git/object/commit.ts'
import type { NamedCommit } from '../../../storage/revision.ts'
import { HttpError } from '../../http/http-error.ts'
import { utf8Text } from '../../http/percent.ts'
import { requireCommit, requireRevision } from '../../repository-access.ts'
import type { OpenedRepository } from '../deps.ts'
import { commitHref } from '../hrefs.ts'
import type { Form } from '../negotiate.ts'
import type { PageCall, PageSource } from '../page.ts'
import { type CommitInfo, commitInfo } from './commit-info.ts'
import { type DiffPage, loadDiff } from './diff.ts'
import { frameOf, openCalled, type RepositoryFrame } from './frame.ts'

/** A commit, and what it changed against its first parent. */
export interface CommitData {
  readonly frame: RepositoryFrame
  readonly commit: CommitInfo
  readonly view: DiffView
  readonly diff: DiffPage
}

/** `/<actor>/<repository>/commit/<id>?from=&view=` */
export async function loadCommit(call: PageCall): Promise<PageSource<CommitData | { readonly movedTo: string }>> {
  const opened = await openCalled(call)
  const text = utf8Text(call.rest) ?? ''
  const revision = await requireRevision(opened.view, text, 'commit')
  const found = await requireCommit(opened.view, revision)
  if (!isOid(text)) {
    const movedTo = commitHref(frameOf(opened).base, found.oid)
    return { key: [opened.view.manifest.version, found.oid], immutable: false, read: async () => ({ movedTo }) }
  }
  const view = readDiffView(call.url)
  return {
    key: [opened.view.manifest.did, found.oid],
    immutable: revision.exact && found.oid === text,
    read: () => readCommit(opened, found, view, call.form),
  }
}

async function readCommit(
  opened: OpenedRepository,
  { oid, commit }: NamedCommit,
  asked: DiffView,
  form: Form,
): Promise<CommitData> {
  const { view } = opened
  const parent = await firstParentTree(opened, commit)
  return {
    frame: frameOf(opened),
    commit: commitInfo(oid, commit),
    view: asked,
    diff: await loadDiff(view.objects, parent, commit.tree, asked.from, form),
  }
}

async function firstParentTree({ view }: OpenedRepository, { parents }: Commit): Promise<string | null> {
  if (parents[0] === undefined) return null
  return (await requireCommit(view, { oid: parents[0], ref: null, exact: true })).commit.tree
}

/** How a diff is asked for. */
export interface DiffView {
  /** `?from=`: place of the first file, from 0. */
  readonly from: number
  /** `?view=split`: both sides beside each other. */
  readonly isSplit: boolean
}

/** @throws {@link HttpError} 400 */
export function readDiffView({ searchParams }: URL): DiffView {
  return { from: readNumber(searchParams, 'from', 0), isSplit: searchParams.get('view') === 'split' }
}

/** A number in the query. @throws {@link HttpError} 400 */
export function readNumber(params: URLSearchParams, name: string, least: number): number {
  const text = params.get(name) ?? String(least)
  if (!/^\d{1,6}$/.test(text) || Number(text) < least) {
    throw new HttpError(400, 'InvalidRequest', `${name} must be a number from ${least}`)
  }
  return Number(text)
}
