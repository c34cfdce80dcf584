import { PdsError, PdsUnreachableError } from '../../atproto/pds/pds-error.ts'
import { RefusedError } from '../../durable-objects/account-writer/answers.ts'
import { log } from '../../durable-objects/log.ts'
import { isPassingFault } from '../../durable-objects/passing-fault.ts'
import {
  MirrorRefusedError,
  MirrorUnavailableError,
  RepositoryGoneError,
  StillMirroringError,
} from '../../durable-objects/repository/mirror-errors.ts'
import { MalformedObjectError } from '../../git/object/malformed-object-error.ts'
import { ObjectTooLargeError } from '../../git/pack/packed-entry.ts'
import { TreeDepthError } from '../../git/walk/walk-tree.ts'
import { ObjectGoneError } from '../../storage/packs/r2-range.ts'
import { HttpError } from './http-error.ts'

/** When a client is to come back where the PDS did not say. Seconds. */
const RETRY_AFTER = 10

/**
 * What a client is told of an error that a handler threw: the one place where errors become HTTP. What is not known
 * here is logged, and the client learns nothing of it.
 */
export function httpErrorFrom(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof MalformedObjectError || error instanceof TreeDepthError) {
    return new HttpError(422, 'UnreadableObject', error.message)
  }
  if (error instanceof ObjectTooLargeError) {
    return new HttpError(422, 'ObjectTooLarge', 'an object is too large to be put together here: clone the repository')
  }
  if (error instanceof ObjectGoneError) {
    return new HttpError(503, 'StillMirroring', 'a part of this repository is being mirrored again; try again', {
      'Retry-After': `${RETRY_AFTER}`,
    })
  }
  if (error instanceof MirrorRefusedError) {
    return new HttpError(403, error.reason === 'blocked' ? 'Blocked' : 'SizeCapExceeded', error.message)
  }
  if (error instanceof RepositoryGoneError) return new HttpError(404, 'RepositoryNotFound', error.message)
  if (error instanceof MirrorUnavailableError) {
    return new HttpError(503, 'UpstreamUnavailable', error.message, {
      'Retry-After': `${error.retryAfterSeconds ?? RETRY_AFTER}`,
    })
  }
  if (error instanceof StillMirroringError) {
    return new HttpError(503, 'StillMirroring', error.message, { 'Retry-After': `${RETRY_AFTER}` })
  }
  if (error instanceof RefusedError) {
    const { retryAfterSeconds, reason } = error.refusal
    if (reason === 'blocked') return new HttpError(403, 'Blocked', error.message)
    const headers = retryAfterSeconds === null ? {} : { 'Retry-After': `${retryAfterSeconds}` }
    return new HttpError(503, 'UpstreamUnavailable', error.message, headers)
  }
  if (error instanceof PdsUnreachableError || error instanceof PdsError) return upstreamError(error)
  log('request-failed', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  if (isPassingFault(error)) {
    return new HttpError(503, 'UpstreamUnavailable', 'a part of the edge cannot be reached now; try again', {
      'Retry-After': `${RETRY_AFTER}`,
    })
  }
  return new HttpError(500, 'InternalServerError', 'something went wrong here; it has been logged')
}

/** A PDS that does not answer, or refuses. */
function upstreamError(error: PdsError | PdsUnreachableError): HttpError {
  const retryAfter = (error instanceof PdsError ? error.retryAfter : null) ?? RETRY_AFTER
  return new HttpError(503, 'UpstreamUnavailable', `the account's server cannot be asked now: ${error.message}`, {
    'Retry-After': `${retryAfter}`,
  })
}
