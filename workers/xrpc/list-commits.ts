import type { Oid } from '../../git/bytes/oid.ts'
import { parseCommit } from '../../git/object/commit.ts'
import { MissingObjectError } from '../../git/object/missing-object-error.ts'
import { COMMIT } from '../../git/object/object-type.ts'
import { readObject } from '../../git/object/read-object.ts'
import type { RepositoryObjects, RepositoryView } from '../../storage/repository-view.ts'
import { historyPage } from '../files/history-page.ts'
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

/** `dev.skein.git.listCommits` */
export async function listCommits({ request, params, deps }: XrpcCall<Params>): Promise<Response> {
  const view = await openRepository(deps, parseRepositoryParam(params.repo))
  const { from, exact } = await startOf(view, params)
  return answerJson(request, objectValidator(from[0]!, exact), async () => {
    const page = await historyPage(view, from, new TextEncoder().encode(params.path ?? ''), params.limit)
    if (page === null) throw params.cursor === undefined ? new MissingObjectError(from[0]!) : invalidCursor()
    return {
      cursor: page.next.length === 0 ? undefined : encodeOidCursor(page.next),
      commits: await Promise.all(page.commits.map((oid) => readCommitJson(view.objects, oid))),
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

async function readCommitJson(objects: RepositoryObjects, oid: Oid): Promise<Record<string, unknown>> {
  return commitJson({ oid, commit: parseCommit(await readObject(objects, oid, COMMIT)) })
}
