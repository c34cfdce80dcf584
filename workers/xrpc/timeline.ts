import { REF_COLLECTION, REFS_COLLECTION } from '../../atproto/records/collections.ts'
import type { IndexedPush } from '../../storage/index/timeline.ts'
import type { XrpcCall } from './call.ts'
import { indexedRepositoryJson, timeJson } from './indexed-json.ts'
import { answerHashedJson } from './json-answer.ts'
import { decodePosition, encodePosition } from './position-cursor.ts'
import { requireActor } from './require-actor.ts'

interface Params {
  readonly kind: 'pushes' | 'repositories'
  readonly actor?: string
  readonly limit: number
  readonly cursor?: string
}

/** `dev.skein.feed.timeline` */
export async function timeline({ request, params, deps }: XrpcCall<Params>): Promise<Response> {
  const { kind, actor, limit, cursor } = params
  const did = actor === undefined ? undefined : await requireActor(deps, actor)
  if (kind === 'repositories') {
    const page = await deps.index.repositories(did, { limit, ...decodePosition(cursor, ['string', 'string']) })
    return answerHashedJson(request, {
      cursor: encodePosition(page.next),
      repositories: page.items.map(indexedRepositoryJson),
    })
  }
  const page = await deps.index.pushes(did, { limit, ...decodePosition(cursor, ['number', 'string', 'string']) })
  return answerHashedJson(request, { cursor: encodePosition(page.next), pushes: page.items.map(pushJson) })
}

/** `dev.skein.feed.timeline#push` */
function pushJson({ repository, rkey, ref, refs, target, pushedAt }: IndexedPush): Record<string, unknown> {
  return {
    uri: `at://${repository.did}/${ref === null ? REFS_COLLECTION : REF_COLLECTION}/${rkey}`,
    repository: indexedRepositoryJson(repository),
    ref: ref ?? undefined,
    refs,
    target: target ?? undefined,
    pushedAt: timeJson(pushedAt),
  }
}
