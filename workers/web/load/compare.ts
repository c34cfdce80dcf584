import type { CommitGraph } from '../../../git/graph/commit-graph.ts'
import { JoinedGraph } from '../../../git/graph/joined-graph.ts'
import { mergeBases } from '../../../git/merge/merge-bases.ts'
import type { ObjectSource } from '../../../git/object/object-source.ts'
import { missingCommits } from '../../../git/walk/missing-commits.ts'
import type { RepositoryView } from '../../../storage/repository-view.ts'
import type { NamedCommit } from '../../../storage/revision.ts'
import { HttpError } from '../../http/http-error.ts'
import { utf8Text } from '../../http/percent.ts'
import { requireCommit, requireRevision } from '../../repository-access.ts'
import type { OpenedRepository } from '../deps.ts'
import type { Form } from '../negotiate.ts'
import type { PageCall, PageSource } from '../page.ts'
import { type DiffView, readDiffView } from './commit.ts'
import { type CommitInfo, readCommitInfo } from './commit-info.ts'
import { type DiffPage, loadDiff } from './diff.ts'
import { frameKey, frameOf, openCalled, type RepositoryFrame } from './frame.ts'
import { type RefChoices, refChoices } from './ref-choices.ts'

/** What a revision has that another does not: `base...head`, as a pull request would bring it. */
export interface CompareData {
  readonly frame: RepositoryFrame
  /** Of the repository that head is in: the same, or another one, as a fork. */
  readonly headFrame: RepositoryFrame
  /** What URLs of that one call head. */
  readonly headRevision: string
  readonly choices: RefChoices
  /** As the URL names them. */
  readonly base: string
  readonly head: string
  /** Commits that head has and base does not, newest first, at most {@link LISTED}. */
  readonly commits: readonly CommitInfo[]
  readonly ahead: number
  readonly behind: number
  /** Where the two part; null: their histories have nothing in common. */
  readonly mergeBase: string | null
  readonly view: DiffView
  readonly diff: DiffPage
}

/** Commits that are listed. */
export const LISTED = 50

/**
 * `/<actor>/<repository>/compare/<base>...<head>?from=&view=`; without a head, the default branch is the base. A head of another
 * repository is `<actor>:<revision>` or `<actor>/<repository>:<revision>`.
 */
export async function loadCompare(call: PageCall): Promise<PageSource<CompareData>> {
  const opened = await openCalled(call)
  const { base, head } = readRange(call, opened)
  const other = await openOther(call, opened, head)
  const [from, to] = await Promise.all([findCommit(opened, base), findCommit(other.opened, other.revision)])
  const shown = readDiffView(call.url)
  return {
    key: [...frameKey(opened), ...frameKey(other.opened), from.oid, to.oid],
    immutable: false,
    read: () => readComparison(opened, other, { base, head, from, to, shown, form: call.form }),
  }
}

interface Head {
  readonly opened: OpenedRepository
  readonly revision: string
}

/** The repository that a head is in. No name of a ref holds a colon. */
async function openOther({ deps, repository }: PageCall, opened: OpenedRepository, head: string): Promise<Head> {
  const colon = head.lastIndexOf(':')
  if (colon === -1) return { opened, revision: head }
  const [actor = '', name = repository] = head.slice(0, colon).split('/')
  const other = await deps.open({ actor, name })
  return { opened: other, revision: head.slice(colon + 1) || other.view.manifest.defaultBranch }
}

/** Objects and commits of both. */
async function joined(
  ours: RepositoryView,
  theirs: RepositoryView,
): Promise<{ graph: CommitGraph; objects: ObjectSource }> {
  if (ours === theirs) return { graph: await ours.graph(), objects: ours.objects }
  const [first, second] = await Promise.all([ours.graph(), theirs.graph()])
  const objects: ObjectSource = {
    read: async (oid) => (await theirs.objects.read(oid)) ?? ours.objects.read(oid),
    stat: async (oid) => (await theirs.objects.stat(oid)) ?? ours.objects.stat(oid),
  }
  return { graph: new JoinedGraph(first, second), objects }
}

function readRange({ rest, url }: PageCall, { view: { manifest } }: OpenedRepository): { base: string; head: string } {
  // The form of the page sends both as parameters.
  const asked = { base: url.searchParams.get('base'), head: url.searchParams.get('head') }
  if (asked.base && asked.head) return { base: asked.base, head: asked.head }
  const text = utf8Text(rest)
  if (text === null) throw new HttpError(404, 'RevisionNotFound', 'no branch, tag or commit is named so')
  // No name of a ref holds two dots.
  const at = text.indexOf('...')
  if (at === -1) return { base: manifest.defaultBranch, head: text === '' ? manifest.defaultBranch : text }
  return { base: text.slice(0, at) || manifest.defaultBranch, head: text.slice(at + 3) || manifest.defaultBranch }
}

async function findCommit({ view }: OpenedRepository, text: string): Promise<NamedCommit> {
  return requireCommit(view, await requireRevision(view, text, 'commit'))
}

interface Comparison {
  readonly base: string
  readonly head: string
  readonly from: NamedCommit
  readonly to: NamedCommit
  readonly shown: DiffView
  readonly form: Form
}

async function readComparison(
  opened: OpenedRepository,
  other: Head,
  { base, head, from, to, shown, form }: Comparison,
): Promise<CompareData> {
  const { view } = opened
  const { graph, objects } = await joined(view, other.opened.view)
  const [ours, theirs] = [graph.find(from.oid), graph.find(to.oid)]
  const ahead = [...missingCommits(graph, [theirs], [ours]).commits].sort((a, b) => graph.time(b) - graph.time(a))
  const behind = missingCommits(graph, [ours], [theirs]).commits.length
  const mergeBase = mergeBases(graph, [ours], [theirs])[0]
  const newest = ahead.slice(0, LISTED).map((commit) => readCommitInfo(objects, graph.oid(commit)))
  return {
    frame: frameOf(opened),
    headFrame: frameOf(other.opened),
    headRevision: other.revision,
    choices: refChoices(view.manifest),
    base,
    head,
    commits: await Promise.all(newest),
    ahead: ahead.length,
    behind,
    mergeBase: mergeBase === undefined ? null : graph.oid(mergeBase),
    view: shown,
    diff: await loadDiff(
      objects,
      mergeBase === undefined ? null : graph.tree(mergeBase),
      to.commit.tree,
      shown.from,
      form,
    ),
  }
}
