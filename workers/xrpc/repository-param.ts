import { REPO_COLLECTION } from '../../atproto/records/collections.ts'
import { invalidRequest } from '../http/http-error.ts'
import type { RepositoryReference } from '../repository-access.ts'

/**
 * Reads a `repo` parameter: `<handle or DID>/<name>`, with `at://` before it or not, or the at-uri of the record.
 *
 * @throws {@link HttpError} 400
 */
export function parseRepositoryParam(text: string): RepositoryReference {
  const parts = text.replace(/^at:\/\//, '').split('/')
  const [actor, second, third] = parts
  if (actor && second && parts.length === 2) return { actor, name: second }
  if (actor?.startsWith('did:') && second === REPO_COLLECTION && third && parts.length === 3) {
    return { did: actor, rkey: third }
  }
  throw invalidRequest(`repo must be <handle or DID>/<name> or at://<DID>/${REPO_COLLECTION}/<record key>`)
}
