import type { XrpcCall } from './call.ts'
import { privateJson } from './json-answer.ts'
import { tokenJson } from './token-json.ts'

/** `dev.skein.token.list` */
export async function listTokens({ request, deps }: XrpcCall<unknown>): Promise<Response> {
  const { did } = await deps.requireOwner(request, 'dev.skein.token.list')
  return privateJson({ tokens: (await deps.tokens.list(did)).map(tokenJson) })
}
