import { expect, test } from 'vitest'
import { PdsError, PdsUnreachableError } from '../../../atproto/pds/pds-error.ts'
import { RefusedError, refusal } from '../../../durable-objects/account-writer/answers.ts'
import {
  MirrorUnavailableError,
  RepositoryGoneError,
  StillMirroringError,
} from '../../../durable-objects/repository/mirror-errors.ts'
import { ObjectGoneError } from '../../../storage/packs/r2-range.ts'
import { httpErrorFrom } from '../../../workers/http/error-from.ts'
import { HttpError } from '../../../workers/http/http-error.ts'

const after = (seconds: number) => ({ 'Retry-After': `${seconds}` })

test.each([
  [new HttpError(409, 'RepositoryExists', 'there is one'), 409, 'RepositoryExists', {}],
  [new RepositoryGoneError(), 404, 'RepositoryNotFound', {}],
  [new MirrorUnavailableError('no answer', 7), 503, 'UpstreamUnavailable', after(7)],
  [new MirrorUnavailableError('no answer', null), 503, 'UpstreamUnavailable', after(10)],
  [new StillMirroringError(), 503, 'StillMirroring', after(10)],
  [new ObjectGoneError('packs/x'), 503, 'StillMirroring', after(10)],
  [new RefusedError(refusal('rate-limited', 'too many', 30)), 503, 'UpstreamUnavailable', after(30)],
  [new RefusedError(refusal('signed-out', 'push again')), 503, 'UpstreamUnavailable', {}],
  [new PdsError('pds.test', 429, 'RateLimitExceeded', 'too many', 77), 503, 'UpstreamUnavailable', after(77)],
  [new PdsUnreachableError('pds.test', 'cannot be reached'), 503, 'UpstreamUnavailable', after(10)],
])('%s', (error, status, code, headers) => {
  expect(httpErrorFrom(error)).toMatchObject({ status, code, headers })
})

test('of what is not known here a client learns nothing', () => {
  expect(httpErrorFrom(new TypeError('secret is undefined'))).toMatchObject({
    status: 500,
    message: 'something went wrong here; it has been logged',
  })
})
