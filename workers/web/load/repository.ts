import { REPO_COLLECTION } from '../../../atproto/records/collections.ts'
import type { OpenedRepository } from '../deps.ts'
import type { Facts } from '../facts/gather-facts.ts'
import { outsideHref } from '../hrefs.ts'
import type { PageCall, PageSource } from '../page.ts'
import { frameKey, frameOf, openCalled, type RepositoryFrame } from './frame.ts'
import { readNewestTag, type ShownRef } from './refs.ts'
import { defaultPlace, readTree, type TreeData } from './tree.ts'

/** What the repository's record says, and what is counted. */
export interface About {
  readonly topics: readonly string[]
  /** A link that is safe to follow. */
  readonly website: string | null
  /** at-uri of its record. */
  readonly uri: string
  /** at-uri of what it was forked from. */
  readonly forkOf: string | null
  /** Bytes of its packs. */
  readonly size: number
  readonly objects: number
  /** Milliseconds since 1970; null where the record's time cannot be read. */
  readonly createdAt: number | null
}

/** A repository's own page. */
export interface RepositoryData {
  readonly frame: RepositoryFrame
  readonly about: About
  /** Null: nothing has been pushed to the default branch. */
  readonly tree: TreeData | null
  /** As they were found last; null: not yet. */
  readonly facts: Facts | null
  /** The newest tag; null: there is none. */
  readonly release: ShownRef | null
}

/** `/<actor>/<repository>` */
export async function loadRepository(call: PageCall): Promise<PageSource<RepositoryData>> {
  const opened = await openCalled(call)
  const facts = await opened.facts.find()
  return {
    key: [...frameKey(opened), facts?.at],
    immutable: false,
    read: () => readRepository(opened, facts),
  }
}

async function readRepository(opened: OpenedRepository, facts: Facts | null): Promise<RepositoryData> {
  const { view } = opened
  const place = defaultPlace(opened)
  const frame = frameOf(opened)
  const [tree, release] = await Promise.all([place && readTree(opened, place), readNewestTag(opened)])
  if (tree?.commit) {
    const commit = tree.commit.oid
    const graph = await view.graph()
    const at = graph.find(commit)
    if (at !== -1) opened.facts.renew(view, { commit, tree: graph.tree(at) }, facts)
  }
  return { frame, about: aboutOf(opened), tree, facts, release }
}

function aboutOf({ view: { manifest }, record, account, rkey }: OpenedRepository): About {
  const createdAt = Date.parse(record.createdAt)
  return {
    topics: record.topics ?? [],
    website: record.website === undefined ? null : outsideHref(record.website),
    uri: `at://${account.did}/${REPO_COLLECTION}/${rkey}`,
    forkOf: record.forkOf ?? null,
    size: manifest.packs.reduce((sum, pack) => sum + pack.size, 0),
    objects: manifest.packs.reduce((sum, pack) => sum + pack.objects, 0),
    createdAt: Number.isNaN(createdAt) ? null : createdAt,
  }
}
