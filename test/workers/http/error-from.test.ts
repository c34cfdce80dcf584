import { DrizzleQueryError } from 'drizzle-orm'
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

const failedQuery = (reason: string) => new DrizzleQueryError('select 1', [], new Error(reason))
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
  [
    Object.assign(new Error('Durable Object is overloaded.'), { overloaded: true }),
    503,
    'UpstreamUnavailable',
    after(10),
  ],
  [Object.assign(new Error('reset'), { durableObjectReset: true }), 503, 'UpstreamUnavailable', after(10)],
  [
    new Error('get: We encountered an internal error. Please try again. (10001)'),
    503,
    'UpstreamUnavailable',
    after(10),
  ],
  [failedQuery('D1_ERROR: Network connection lost.'), 503, 'UpstreamUnavailable', after(10)],
  [failedQuery('D1_ERROR: D1 DB is overloaded. Too many requests queued.'), 503, 'UpstreamUnavailable', after(10)],
  [failedQuery('D1_ERROR: no such table: tokens: SQLITE_ERROR'), 500, 'InternalServerError', {}],
  [failedQuery('of something else'), 500, 'InternalServerError', {}],
])('%s', (error, status, code, headers) => {
  expect(httpErrorFrom(error)).toMatchObject({ status, code, headers })
})

test('of what is not known here a client learns nothing', () => {
  expect(httpErrorFrom(new TypeError('secret is undefined'))).toMatchObject({
    status: 500,
    message: 'something went wrong here; it has been logged',
  })
})
