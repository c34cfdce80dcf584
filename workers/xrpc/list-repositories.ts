import { HttpError } from '../http/http-error.ts'
import type { XrpcCall } from './call.ts'
import { answerHashedJson } from './json-answer.ts'
import { repositoryJson } from './repository-json.ts'

interface Params {
  readonly actor: string
  readonly limit: number
  /** Record key of the last repository of the page before. */
  readonly cursor?: string
}

/** `dev.skein.repo.list` */
export async function listRepositories({ request, params, deps }: XrpcCall<Params>): Promise<Response> {
  const { actor, limit, cursor } = params
  const all = await deps.list(actor)
  if (all === null) throw new HttpError(404, 'ActorNotFound', `account not found: ${actor}`)
  const rest = cursor === undefined ? all : all.filter(({ rkey }) => rkey > cursor)
  const page = rest.slice(0, limit)
  return answerHashedJson(request, {
    cursor: rest.length > limit ? page.at(-1)!.rkey : undefined,
    repositories: page.map(repositoryJson),
  })
}
