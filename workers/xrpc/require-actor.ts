import { HttpError } from '../http/http-error.ts'
import type { XrpcDeps } from './deps.ts'

/**
 * The DID that an `actor` parameter means, by what the index knows: its handle, or one that it had before.
 *
 * @throws {@link HttpError} 404
 */
export async function requireActor({ index }: Pick<XrpcDeps, 'index'>, actor: string): Promise<string> {
  if (actor.startsWith('did:')) return actor
  const found = await index.findByHandle(actor.toLowerCase())
  if (found === null) throw actorNotFound(actor)
  return found.did
}

export function actorNotFound(actor: string): HttpError {
  return new HttpError(404, 'ActorNotFound', `no account ${actor} with repositories is known here`)
}
