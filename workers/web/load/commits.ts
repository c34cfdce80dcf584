import type { Oid } from '../../../git/bytes/oid.ts'
import { historyPage } from '../../files/history-page.ts'
import { requireCommit } from '../../repository-access.ts'
import { decodeOidCursor, encodeOidCursor, invalidCursor } from '../../xrpc/cursor.ts'
import type { OpenedRepository } from '../deps.ts'
import type { PageCall, PageSource } from '../page.ts'
import { type CommitInfo, readCommitInfo } from './commit-info.ts'
import { findPlace, frameOf, openCalled, placeKey, type RepositoryFrame, type ShownPlace } from './frame.ts'
import { type RefChoices, refChoices } from './ref-choices.ts'

/** Commits of one page. */
const LISTED = 50

/** A part of a history, newest first. */
export interface CommitsData {
  readonly frame: RepositoryFrame
  readonly place: ShownPlace
  readonly choices: RefChoices
  readonly commits: readonly CommitInfo[]
  /** `after` of the next page; null: this is the last one. */
  readonly next: string | null
  readonly isFirst: boolean
}

/** `/<actor>/<repository>/commits/<revision>[/<path>]?after=` */
export async function loadCommits(call: PageCall): Promise<PageSource<CommitsData>> {
  const opened = await openCalled(call)
  const place = await findPlace(opened, call.rest, 'commit')
  const after = call.url.searchParams.get('after')
  return {
    key: placeKey(opened, place),
    immutable: place.revision.exact,
    read: () => readCommits(opened, place, after === null ? null : decodeOidCursor(after)),
  }
}

/** The newest of a branch, for its feed: `/<actor>/<repository>/commits.atom?rev=` */
export async function loadNewCommits(call: PageCall): Promise<PageSource<CommitsData>> {
  const { manifest } = (await openCalled(call)).view
  const revision = call.url.searchParams.get('rev') || manifest.defaultBranch
  return loadCommits({ ...call, url: new URL(call.url.pathname, call.url), rest: new TextEncoder().encode(revision) })
}

/** @param from null: from the revision on */
async function readCommits(
  opened: OpenedRepository,
  place: ShownPlace,
  from: readonly Oid[] | null,
): Promise<CommitsData> {
  const { view } = opened
  const start = from ?? [(await requireCommit(view, place.revision)).oid]
  const page = await historyPage(view, start, place.path, LISTED)
  if (page === null) throw invalidCursor()
  return {
    frame: frameOf(opened),
    place,
    choices: refChoices(view.manifest),
    commits: await Promise.all(page.commits.map((oid) => readCommitInfo(view.objects, oid))),
    next: page.next.length === 0 ? null : encodeOidCursor(page.next),
    isFirst: from === null,
  }
}
