import { firstRefFrom } from '../../git/refs/ref-order.ts'
import type { ManifestRef } from '../../storage/manifest.ts'
import { openRepository } from '../repository-access.ts'
import type { XrpcCall } from './call.ts'
import { answerHashedJson } from './json-answer.ts'
import { parseRepositoryParam } from './repository-param.ts'

interface Params {
  readonly repo: string
  readonly prefix: string
  readonly limit: number
  /** Name of the last ref of the page before. */
  readonly cursor?: string
}

/** `dev.skein.git.listRefs`: cost is that of the page, whatever the number of refs. */
export async function listRefs({ request, params, deps }: XrpcCall<Params>): Promise<Response> {
  const { repo, prefix, limit, cursor } = params
  const { refs } = (await openRepository(deps, parseRepositoryParam(repo))).manifest
  let at = firstRefFrom(refs, prefix)
  if (cursor !== undefined) {
    const after = firstRefFrom(refs, cursor)
    at = Math.max(at, refs[after]?.name === cursor ? after + 1 : after)
  }
  const page: ManifestRef[] = []
  while (page.length < limit && refs[at]?.name.startsWith(prefix)) page.push(refs[at++]!)
  return answerHashedJson(request, {
    cursor: refs[at]?.name.startsWith(prefix) ? page.at(-1)?.name : undefined,
    refs: page.map(refJson),
  })
}

/** `dev.skein.git.defs#ref` */
export function refJson({ name, target, peeled }: ManifestRef): Record<string, unknown> {
  return { name, target, peeled: peeled ?? undefined }
}
