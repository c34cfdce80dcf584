import type { Expectation } from '../../durable-objects/branch-queue/answers.ts'
import { COMMIT_LIMITS } from '../../durable-objects/branch-queue/limits.ts'
import { invalidRequest } from '../http/http-error.ts'
import { parseOidParam } from './oid-param.ts'
import { readPath } from './read-changes.ts'

/** Which files must be as the caller last saw them: an object of paths. @throws {@link HttpError} 400 */
export function readExpectations(expect: unknown): Expectation[] {
  if (expect === undefined) return []
  if (typeof expect !== 'object' || expect === null || Array.isArray(expect)) {
    throw invalidRequest('expect must be an object: to each path the id of its blob, or null')
  }
  const entries = Object.entries(expect)
  if (entries.length > COMMIT_LIMITS.changes) {
    throw invalidRequest(`expect must not name more than ${COMMIT_LIMITS.changes} paths`)
  }
  return entries.map(([path, oid]) => ({ path: readPath(path), oid: oid === null ? null : readOid(path, oid) }))
}

function readOid(path: string, oid: unknown): string {
  const field = `expect: what ${JSON.stringify(path)} is to be`
  if (typeof oid !== 'string') throw invalidRequest(`${field} must be the id of a blob, or null`)
  return parseOidParam(field, oid)
}
