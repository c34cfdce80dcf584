import type { Oid } from '../../git/bytes/oid.ts'
import { listHistory, listPathHistory } from '../../git/diff/history.ts'
import { splitPath } from '../../git/object/path.ts'
import type { RepositoryView } from '../../storage/repository-view.ts'

/** Commits whose trees one page of a path's history looks at: each costs about one read for each level of the path. */
const EXAMINED_PER_PAGE = 1000

/** A part of a history. */
export interface OidPage {
  readonly commits: readonly Oid[]
  /** Where the next page starts; empty at the end of the history. */
  readonly next: readonly Oid[]
}

/**
 * The commits that some reach, newest first, and of a path those that changed it.
 *
 * @param path the empty one is all
 * @returns null: not all of `from` are commits here
 */
export async function historyPage(
  view: RepositoryView,
  from: readonly Oid[],
  path: Uint8Array,
  limit: number,
): Promise<OidPage | null> {
  const graph = await view.graph()
  const numbers = from.map((oid) => graph.find(oid))
  if (numbers.includes(-1)) return null
  const { commits, next } =
    splitPath(path).length === 0
      ? listHistory(graph, numbers, limit)
      : await listPathHistory(graph, view.objects, numbers, path, { limit, examine: EXAMINED_PER_PAGE })
  const oidOf = (commit: number) => graph.oid(commit)
  return { commits: commits.map(oidOf), next: next.map(oidOf) }
}
