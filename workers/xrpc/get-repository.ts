import { findRef } from '../../git/refs/ref-order.ts'
import { openRepository, repositoryNotFound } from '../repository-access.ts'
import type { XrpcCall } from './call.ts'
import { answerHashedJson } from './json-answer.ts'
import { refJson } from './list-refs.ts'
import { repositoryJson } from './repository-json.ts'
import { parseRepositoryParam } from './repository-param.ts'

/** `dev.skein.repo.get` */
export async function getRepository({ request, params, deps }: XrpcCall<{ repo: string }>): Promise<Response> {
  const reference = parseRepositoryParam(params.repo)
  const [{ manifest, actor }, known] = await Promise.all([openRepository(deps, reference), deps.find(reference)])
  if (known === null) throw repositoryNotFound(reference)
  const head = findRef(manifest.refs, `refs/heads/${manifest.defaultBranch}`)
  return answerHashedJson(request, {
    repository: repositoryJson(known),
    head: head === null ? undefined : refJson(head),
    cloneUrl: `${new URL(request.url).origin}/${actor}/${manifest.name}`,
    size: manifest.packs.reduce((sum, pack) => sum + pack.size, 0),
    objects: manifest.packs.reduce((sum, pack) => sum + pack.objects, 0),
  })
}
