import type { XrpcCall } from './call.ts'
import { timeJson } from './indexed-json.ts'
import { answerHashedJson } from './json-answer.ts'
import { actorNotFound, requireActor } from './require-actor.ts'

/** `dev.skein.actor.getProfile` */
export async function getProfile({ request, params, deps }: XrpcCall<{ actor: string }>): Promise<Response> {
  const profile = await deps.index.profile(await requireActor(deps, params.actor))
  if (profile === null) throw actorNotFound(params.actor)
  const { did, handle, repositories, size, pushedAt } = profile
  return answerHashedJson(request, {
    did,
    handle: handle ?? undefined,
    repositories,
    size,
    pushedAt: timeJson(pushedAt),
  })
}
