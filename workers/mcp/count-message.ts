import { log } from '../../durable-objects/log.ts'
import { TokenStore } from '../../storage/access/token-store.ts'
import { hashToken } from '../../storage/access/token-text.ts'
import { countCall } from '../auth/call-limit.ts'
import { readCredentials } from '../auth/credentials.ts'
import { HttpError } from '../http/http-error.ts'
import type { RequestContext } from '../request-context.ts'

/** Groups of an IPv6 address that say who it is: whoever has one has all that begin so. */
const NETWORK_GROUPS = 4
const GROUPS = 8

/**
 * Counts a message for a token that is good, whatever it is sent from and however it is written; all else is counted for
 * the address, for anybody can make up credentials, and others each time.
 *
 * @throws {@link HttpError} 429
 */
export async function countMessage(context: RequestContext, request: Request): Promise<void> {
  const token = await goodToken(context, request)
  await countCall(context, `mcp ${token ?? networkOf(request.headers.get('CF-Connecting-IP') ?? 'unknown')}`)
}

/** The hash of the token that a request has, or null where it has none that is good. */
async function goodToken({ db }: RequestContext, request: Request): Promise<string | null> {
  try {
    const credentials = readCredentials(request)
    if (credentials?.kind !== 'token') return null
    const token = await new TokenStore(db).find(credentials.text)
    const isGood = token !== null && token.revokedAt === null && token.expiresAt > Date.now()
    return isGood ? hashToken(credentials.text) : null
  } catch (error) {
    // Reading goes on without credentials, and without D1.
    if (!(error instanceof HttpError)) log('token-unreadable', { reason: String(error) })
    return null
  }
}

function networkOf(address: string): string {
  const [head, tail] = address.split('::') as [string, string?]
  if (!address.includes(':')) return address
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const filled = tail === undefined ? [] : Array.from({ length: GROUPS - before.length - after.length }, () => '0')
  const groups = [...before, ...filled, ...after].slice(0, NETWORK_GROUPS)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
