import { createHash, timingSafeEqual } from 'node:crypto'
import { readOperatorToken } from '../../durable-objects/environment.ts'
import { countCall } from '../auth/call-limit.ts'
import { HttpError } from '../http/http-error.ts'
import type { RequestContext } from '../request-context.ts'

/**
 * Makes sure that the operator asks: by `Authorization: Bearer <OPERATOR_TOKEN>`. Tries with other tokens are counted for
 * their address.
 *
 * @throws {@link HttpError} 404 where this edge has no such token, 401, 429
 */
export async function authenticateOperator(context: RequestContext, request: Request): Promise<void> {
  const expected = readOperatorToken(context.environment)
  if (expected === null) {
    throw new HttpError(404, 'OperatorDisabled', 'this edge takes no operator’s calls: it has no OPERATOR_TOKEN')
  }
  const [, given] = /^Bearer +(\S+) *$/i.exec(request.headers.get('Authorization') ?? '') ?? []
  if (given !== undefined && isEqual(given, expected)) return
  await countCall(context, `operator ${request.headers.get('CF-Connecting-IP') ?? ''}`)
  throw new HttpError(401, 'AuthenticationRequired', 'this needs the operator’s token as a Bearer', {
    'WWW-Authenticate': 'Bearer realm="Skein: operator"',
  })
}

/** In the same time wherever they differ. Of digests, since lengths would tell something, too. */
function isEqual(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
