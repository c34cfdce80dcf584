import type { RepositoryOrder } from '../../storage/index/account-queries.ts'
import type { XrpcCall } from './call.ts'
import { indexedRepositoryJson } from './indexed-json.ts'
import { answerHashedJson } from './json-answer.ts'
import { decodePosition, encodePosition } from './position-cursor.ts'
import { actorNotFound, requireActor } from './require-actor.ts'

interface Params {
  readonly actor: string
  readonly sort: RepositoryOrder
  readonly limit: number
  readonly cursor?: string
}

const CURSORS = { pushed: ['number', 'string'], name: ['string', 'string'], created: ['string'] } as const

/** `dev.skein.actor.listRepos` */
export async function listIndexed({ request, params, deps }: XrpcCall<Params>): Promise<Response> {
  const { actor, sort, limit, cursor } = params
  const did = await requireActor(deps, actor)
  const after = decodePosition(cursor, CURSORS[sort])
  const { items, next } = await deps.index.repositoriesOf(did, sort, { limit, ...after })
  if (items.length === 0 && (await deps.index.profile(did)) === null) throw actorNotFound(actor)
  return answerHashedJson(request, { cursor: encodePosition(next), repositories: items.map(indexedRepositoryJson) })
}
