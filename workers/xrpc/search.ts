import { invalidRequest } from '../http/http-error.ts'
import type { XrpcCall } from './call.ts'
import { indexedRepositoryJson } from './indexed-json.ts'
import { answerHashedJson } from './json-answer.ts'
import { decodePosition, encodePosition } from './position-cursor.ts'

interface Params {
  readonly q: string
  readonly topic?: string
  readonly limit: number
  readonly cursor?: string
}

/** Accounts that are shown beside repositories. */
const MAX_ACTORS = 5

/** `dev.skein.repo.search` */
export async function search({ request, params, deps }: XrpcCall<Params>): Promise<Response> {
  const { q, topic, limit, cursor } = params
  if (q.trim() === '' && topic === undefined) throw invalidRequest('there must be q, or topic')
  const page = { limit, ...decodePosition(cursor, ['number', 'number', 'number', 'number']) }
  const hasActors = cursor === undefined && topic === undefined
  const { repositories, accounts } = await deps.index.search(q, topic, page, hasActors ? MAX_ACTORS : 0)
  return answerHashedJson(request, {
    cursor: encodePosition(repositories.next),
    repositories: repositories.items.map(indexedRepositoryJson),
    actors: accounts.map(({ did, handle, repositories }) => ({ did, handle: handle ?? undefined, repositories })),
  })
}
