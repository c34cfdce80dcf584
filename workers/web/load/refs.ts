import { TAG } from '../../../git/object/object-type.ts'
import { readObject } from '../../../git/object/read-object.ts'
import { parseTag } from '../../../git/object/tag.ts'
import { decodeText } from '../../../git/object/text.ts'
import type { ManifestRef } from '../../../storage/manifest.ts'
import { peelToCommit } from '../../../storage/revision.ts'
import type { OpenedRepository } from '../deps.ts'
import type { PageCall, PageSource } from '../page.ts'
import { readNumber } from './commit.ts'
import { type CommitInfo, commitInfo, type Person, person, splitMessage } from './commit-info.ts'
import {
  BRANCHES,
  frameKey,
  frameOf,
  openCalled,
  type RepositoryFrame,
  refInUrl,
  refsBelow,
  shortName,
  TAGS,
} from './frame.ts'

/** A branch or tag. */
export interface ShownRef {
  readonly name: string
  /** As URLs name it. */
  readonly revision: string
  /** What it leads to; null where that is no commit. */
  readonly commit: CommitInfo | null
  readonly isDefault: boolean
  /** What an annotated tag says. */
  readonly annotation: Annotation | null
}

export interface Annotation {
  readonly subject: string
  readonly body: string
  readonly tagger: Person
}

/** A page of branches or of tags, the newest commits first. */
export interface RefsData {
  readonly frame: RepositoryFrame
  readonly kind: 'branches' | 'tags'
  readonly refs: readonly ShownRef[]
  readonly total: number
  readonly page: number
  readonly pages: number
}

/** Refs of one page. */
const LISTED = 60

/** `/<actor>/<repository>/branches?page=` */
export async function loadBranches(call: PageCall): Promise<PageSource<RefsData>> {
  return loadRefs(call, 'branches')
}

/** `/<actor>/<repository>/tags?page=` */
export async function loadTags(call: PageCall): Promise<PageSource<RefsData>> {
  return loadRefs(call, 'tags')
}

async function loadRefs(call: PageCall, kind: RefsData['kind']): Promise<PageSource<RefsData>> {
  const opened = await openCalled(call)
  const page = readNumber(call.url.searchParams, 'page', 1)
  return { key: frameKey(opened), immutable: false, read: () => readRefs(opened, kind, page) }
}

async function readRefs(opened: OpenedRepository, kind: RefsData['kind'], asked: number): Promise<RefsData> {
  const { manifest } = opened.view
  const all = await newestFirst(opened, refsBelow(manifest, kind === 'branches' ? BRANCHES : TAGS))
  const pages = Math.max(1, Math.ceil(all.length / LISTED))
  const page = Math.min(asked, pages)
  const shown = all.slice((page - 1) * LISTED, page * LISTED)
  return {
    frame: frameOf(opened),
    kind,
    refs: await Promise.all(shown.map((ref) => readRef(opened, ref))),
    total: all.length,
    page,
    pages,
  }
}

/** Null: there is no tag. */
export async function readNewestTag(opened: OpenedRepository): Promise<ShownRef | null> {
  const [newest] = await newestFirst(opened, refsBelow(opened.view.manifest, TAGS))
  return newest === undefined ? null : readRef(opened, newest)
}

/** By the graph alone: no object is read. The default branch is the first one. */
async function newestFirst({ view }: OpenedRepository, refs: readonly ManifestRef[]): Promise<ManifestRef[]> {
  const graph = await view.graph()
  const timed = refs.map((ref) => {
    const commit = graph.find(ref.peeled ?? ref.target)
    const isDefault = ref.name === `${BRANCHES}${view.manifest.defaultBranch}`
    return { ref, time: isDefault ? Number.POSITIVE_INFINITY : commit === -1 ? 0 : graph.time(commit) }
  })
  return timed.sort((a, b) => b.time - a.time).map(({ ref }) => ref)
}

async function readRef({ view }: OpenedRepository, ref: ManifestRef): Promise<ShownRef> {
  const found = await peelToCommit(view.objects, ref.peeled ?? ref.target)
  return {
    name: shortName(ref.name),
    revision: refInUrl(view.manifest, ref.name),
    commit: found && commitInfo(found.oid, found.commit),
    isDefault: ref.name === `${BRANCHES}${view.manifest.defaultBranch}`,
    annotation: ref.peeled === null ? null : await readAnnotation(view.objects, ref.target),
  }
}

async function readAnnotation(objects: OpenedRepository['view']['objects'], oid: string): Promise<Annotation> {
  const { message, tagger } = parseTag(await readObject(objects, oid, TAG))
  // A signature stands at the end of the message.
  const text = decodeText(message).replace(/-----BEGIN [A-Z ]*SIGNATURE-----[\s\S]*$/, '')
  return { ...splitMessage(text), tagger: person(tagger) }
}
