import { isDirectory, isGitlink } from '../../../git/object/file-mode.ts'
import type { ObjectSource } from '../../../git/object/object-source.ts'
import { decodeText, isUtf8 } from '../../../git/object/text.ts'
import { walkTree } from '../../../git/walk/walk-tree.ts'
import { requireTree } from '../../repository-access.ts'
import type { OpenedRepository } from '../deps.ts'
import type { PageCall, PageSource } from '../page.ts'
import { BRANCHES, findPlace, frameKey, openCalled, refInUrl, refsBelow, type ShownPlace, shortName } from './frame.ts'
import type { RefChoice } from './ref-choices.ts'

/** What the search palette looks through by itself: all names of a revision. */
export interface FindData {
  /** As URLs name the revision. */
  readonly revision: string
  /** Files, from the root, in the order of the tree. Those whose path is no UTF-8 are not among them. */
  readonly paths: readonly string[]
  /** Whether there are more. */
  readonly isCut: boolean
  /** In the order of their names, at most {@link MAX_BRANCHES}. */
  readonly branches: readonly Omit<RefChoice, 'ref'>[]
  readonly hasMoreBranches: boolean
}

/** Entries that are looked at, directories too. As many paths as most repositories have: 20,000 compress to 150 KB. */
const MAX_ENTRIES = 20_000
/** Bytes of paths: one may be as long as a megabyte. */
const MAX_BYTES = 2 * 1024 * 1024
export const MAX_BRANCHES = 2_000

/** `/<actor>/<repository>/find/<revision>` */
export async function loadFind(call: PageCall): Promise<PageSource<FindData>> {
  const opened = await openCalled(call)
  const place = await findPlace(opened, call.rest)
  const key = [...frameKey(opened), place.revision.oid]
  return { key, immutable: false, read: () => readFind(opened, place) }
}

async function readFind({ view }: OpenedRepository, { revision }: ShownPlace): Promise<FindData> {
  const { manifest, objects } = view
  const { tree } = await requireTree(view, revision)
  const branches = refsBelow(manifest, BRANCHES)
  return {
    revision: revision.name,
    ...(await listPaths(objects, tree)),
    branches: branches
      .slice(0, MAX_BRANCHES)
      .map(({ name }) => ({ name: shortName(name), revision: refInUrl(manifest, name) })),
    hasMoreBranches: branches.length > MAX_BRANCHES,
  }
}

async function listPaths(objects: ObjectSource, tree: string): Promise<Pick<FindData, 'paths' | 'isCut'>> {
  const paths: string[] = []
  let entries = 0
  let bytes = 0
  for await (const { path, mode } of walkTree(objects, tree)) {
    bytes += path.length
    if (++entries > MAX_ENTRIES || bytes > MAX_BYTES) return { paths, isCut: true }
    if (!isDirectory(mode) && !isGitlink(mode) && isUtf8(path)) paths.push(decodeText(path))
  }
  return { paths, isCut: false }
}
