import { openRepository, requireCommit, requireRevision } from '../repository-access.ts'
import type { XrpcCall } from './call.ts'
import { commitJson } from './commit-json.ts'
import { answerJson, objectValidator } from './json-answer.ts'
import { parseRepositoryParam } from './repository-param.ts'

interface Params {
  readonly repo: string
  readonly ref: string
}

/** `dev.skein.git.getCommit` */
export async function getCommit({ request, params, deps }: XrpcCall<Params>): Promise<Response> {
  const view = await openRepository(deps, parseRepositoryParam(params.repo))
  const revision = await requireRevision(view, params.ref, 'commit')
  const found = await requireCommit(view, revision)
  return answerJson(request, objectValidator(found.oid, revision.exact), async () => ({ commit: commitJson(found) }))
}
