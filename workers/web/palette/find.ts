import { requireTree } from '../../repository-access.ts'
import type { OpenedRepository, WebDeps } from '../deps.ts'
import { accountHref, encodePath, revisionHref } from '../hrefs.ts'
import { BRANCHES, findPlace, refInUrl, refsBelow, shortName, TAGS } from '../load/frame.ts'
import { listedRepository } from '../load/listed.ts'
import type { PageCall } from '../page.ts'
import { visibleName } from '../render/text.ts'
import { rankPaths } from './rank-paths.ts'
import { treePaths } from './tree-paths.ts'

/** Where a reader may want to go. */
export interface Found {
  readonly kind: 'file' | 'branch' | 'tag' | 'repository' | 'account'
  /** A stranger's words, with all characters to be seen. */
  readonly title: string
  /** In a line; null: nothing is said. */
  readonly about: string | null
  readonly href: string
}

const FILES = 8
const REFS = 4
const REPOSITORIES = 6
const ACCOUNTS = 4
/** Longer queries are cut, in UTF-16 units. */
const MAX_QUERY = 100

/**
 * What the palette offers for a few letters: `/-/find?q=` all accounts and repositories, `/-/find/<actor>/<repository>?q=&rev=`
 * first the files and branches of this one.
 */
export async function find(call: PageCall): Promise<readonly Found[]> {
  const query = (call.url.searchParams.get('q') ?? '').slice(0, MAX_QUERY).toWellFormed().trim()
  if (query === '') return []
  const [here, everywhere] = await Promise.all([
    call.repository === '' ? [] : findHere(call, query),
    findEverywhere(call.deps, query),
  ])
  return [...here, ...everywhere].map((found) => ({
    ...found,
    title: visibleName(found.title),
    about: found.about === null ? null : visibleName(found.about),
  }))
}

async function findHere({ actor, repository, url, deps }: PageCall, query: string): Promise<Found[]> {
  const opened = await deps.open({ actor, name: repository })
  const { manifest, objects } = opened.view
  const revision = url.searchParams.get('rev') || manifest.defaultBranch
  const refs = [...findRefs(opened, BRANCHES, query), ...findRefs(opened, TAGS, query)]
  const place = await findPlace(opened, new TextEncoder().encode(revision)).catch(() => null)
  if (place === null) return refs
  const { tree } = await requireTree(opened.view, place.revision)
  const files = rankPaths(await treePaths(objects, tree), query, FILES)
  const base = `/${encodePath(opened.view.actor)}/${encodePath(opened.record.name)}`
  return [
    ...files.map((path): Found => {
      return { kind: 'file', title: path, about: null, href: revisionHref(base, 'blob', place.revision.name, path) }
    }),
    ...refs,
  ]
}

function findRefs({ view, record }: OpenedRepository, prefix: string, query: string): Found[] {
  const { manifest, actor } = view
  const byName = new Map(refsBelow(manifest, prefix).map(({ name }) => [shortName(name), name]))
  const base = `/${encodePath(actor)}/${encodePath(record.name)}`
  return rankPaths([...byName.keys()], query, REFS).map((title) => ({
    kind: prefix === BRANCHES ? 'branch' : 'tag',
    title,
    about: null,
    href: revisionHref(base, 'tree', refInUrl(manifest, byName.get(title)!)),
  }))
}

async function findEverywhere({ index }: WebDeps, query: string): Promise<Found[]> {
  const { repositories, accounts } = await index.search(query, undefined, { limit: REPOSITORIES }, ACCOUNTS)
  return [
    ...repositories.items.map(listedRepository).map(({ actor, name, description, href }): Found => {
      return { kind: 'repository', title: `${actor}/${name}`, about: description, href }
    }),
    ...accounts.map(({ did, handle }): Found => {
      return { kind: 'account', title: handle ?? did, about: null, href: accountHref(handle ?? did) }
    }),
  ]
}
