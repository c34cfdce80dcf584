import { HttpError } from '../http/http-error.ts'
import type { XrpcCall } from './call.ts'
import { privateJson } from './json-answer.ts'
import { tokenJson } from './token-json.ts'

/** `dev.skein.token.revoke` */
export async function revokeToken({ request, params, deps }: XrpcCall<{ id: string }>): Promise<Response> {
  const { did } = await deps.requireOwner(request, 'dev.skein.token.revoke')
  const token = await deps.tokens.revoke(did, params.id, Date.now())
  if (token === null) throw new HttpError(404, 'TokenNotFound', 'the account has no token of this id')
  return privateJson({ token: tokenJson(token) })
}
