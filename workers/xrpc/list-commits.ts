import type { Oid } from '../../git/bytes/oid.ts'
import { type HistoryPage, listHistory, listPathHistory } from '../../git/diff/history.ts'
import type { CommitGraph } from '../../git/graph/commit-graph.ts'
import { parseCommit } from '../../git/object/commit.ts'
import { MissingObjectError } from '../../git/object/missing-object-error.ts'
import { COMMIT } from '../../git/object/object-type.ts'
import { splitPath } from '../../git/object/path.ts'
import { readObject } from '../../git/object/read-object.ts'
import type { RepositoryObjects, RepositoryView } from '../../storage/repository-view.ts'
import { openRepository, requireCommit, requireRevision } from '../repository-access.ts'
import type { XrpcCall } from './call.ts'
import { commitJson } from './commit-json.ts'
import { decodeOidCursor, encodeOidCursor, invalidCursor } from './cursor.ts'
import { answerJson, objectValidator } from './json-answer.ts'
import { parseRepositoryParam } from './repository-param.ts'

interface Params {
  readonly repo: string
  readonly ref: string
  readonly path?: string
  readonly limit: number
  /** The commits that the walk has still to look at, in its order. */
  readonly cursor?: string
}

/** Commits whose trees one page of a path's history looks at: each costs about one read for each level of the path. */
const EXAMINED_PER_PAGE = 1000

/** `dev.skein.git.listCommits` */
export async function listCommits({ request, params, deps }: XrpcCall<Params>): Promise<Response> {
  const view = await openRepository(deps, parseRepositoryParam(params.repo))
  const { from, exact } = await startOf(view, params)
  return answerJson(request, objectValidator(from[0]!, exact), async () => {
    const graph = await view.graph()
    const numbers = from.map((oid) => graph.find(oid))
    if (numbers.includes(-1)) throw params.cursor === undefined ? new MissingObjectError(from[0]!) : invalidCursor()
    const { commits, next } = await page(graph, view.objects, numbers, params)
    return {
      cursor: next.length === 0 ? undefined : encodeOidCursor(next.map((commit) => graph.oid(commit))),
      commits: await Promise.all(commits.map((commit) => readCommitJson(view.objects, graph.oid(commit)))),
    }
  })
}

/** Where a page starts, and whether it starts there whatever becomes of the refs. */
async function startOf(view: RepositoryView, { ref, cursor }: Params): Promise<{ from: Oid[]; exact: boolean }> {
  if (cursor !== undefined) return { from: decodeOidCursor(cursor), exact: true }
  const revision = await requireRevision(view, ref, 'commit')
  const { oid } = await requireCommit(view, revision)
  return { from: [oid], exact: revision.exact }
}

async function page(
  graph: CommitGraph,
  objects: RepositoryObjects,
  from: readonly number[],
  { path, limit }: Params,
): Promise<HistoryPage> {
  const bytes = new TextEncoder().encode(path ?? '')
  if (splitPath(bytes).length === 0) return listHistory(graph, from, limit)
  return listPathHistory(graph, objects, from, bytes, { limit, examine: EXAMINED_PER_PAGE })
}

async function readCommitJson(objects: RepositoryObjects, oid: Oid): Promise<Record<string, unknown>> {
  return commitJson({ oid, commit: parseCommit(await readObject(objects, oid, COMMIT)) })
}
