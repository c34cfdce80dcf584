import { isSupportedDid } from '../../atproto/identity/syntax.ts'
import { type BlockSubject, parseSubject } from '../../storage/operator/blocks.ts'
import { HttpError, invalidRequest } from '../http/http-error.ts'
import type { RequestContext } from '../request-context.ts'

/**
 * What the operator names. A DID, and the at-uri of a repository's record, are taken as they are: they need not be there
 * (any more, or yet). Handles and names are looked up.
 *
 * @throws {@link HttpError} 400; 404 and 503 of what is looked up
 */
export async function readSubject(context: RequestContext, text: string): Promise<BlockSubject> {
  const known = parseSubject(text)
  if (known !== null) {
    if (isSupportedDid(known.did)) return known
    throw invalidRequest(`${known.did} is no DID of an account`)
  }
  const [actor, name, ...more] = text.replace(/^at:\/\//, '').split('/')
  if (!actor || name === '' || more.length > 0) {
    throw invalidRequest('a subject is <handle or DID>, <handle or DID>/<repository>, or the at-uri of a repository')
  }
  const identity = await context.resolveActor(actor)
  if (name === undefined) return { did: identity.did, rkey: null }
  const entry = await context.findRepository(identity, name.replace(/\.git$/, ''))
  if (entry !== null) return { did: identity.did, rkey: entry.rkey }
  throw new HttpError(404, 'RepositoryNotFound', `the account ${actor} has no repository named '${name}'`)
}
