import { isRepositoryName } from '../../atproto/records/repo-record.ts'
import { isRefName } from '../../git/refs/check-ref-format.ts'
import { invalidRequest } from '../http/http-error.ts'
import type { XrpcCall } from './call.ts'
import type { NewRepository } from './deps.ts'
import { repositoryJson } from './repository-json.ts'

/** `dev.skein.repo.create` */
export async function createRepository({ request, params, deps }: XrpcCall<NewRepository>): Promise<Response> {
  const { name, description, website, topics, defaultBranch } = params
  if (!isRepositoryName(name)) {
    throw invalidRequest("names are up to 100 letters, digits, '.', '_' and '-', and do not end in '.git'")
  }
  if (!isRefName(`refs/heads/${defaultBranch}`)) throw invalidRequest('defaultBranch is no name for a branch')
  const created = await deps.create(request, {
    name,
    ...(description === undefined ? {} : { description }),
    ...(website === undefined ? {} : { website }),
    ...(topics === undefined ? {} : { topics }),
    defaultBranch,
  })
  return Response.json({ repository: repositoryJson(created) })
}
