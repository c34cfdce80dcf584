import { HttpError } from './http-error.ts'
import { percentDecodeText } from './percent.ts'

/** Nobody has a handle any more, and the account that had it last is called otherwise now. */
export class ActorMovedError extends HttpError {
  override name = 'ActorMovedError'
  /** The handle that was asked for. */
  readonly actor: string
  /** A handle, or a DID. */
  readonly to: string

  constructor(actor: string, to: string) {
    super(404, 'ActorNotFound', `account not found: ${actor}; the account that had this handle is ${to} now`)
    this.actor = actor
    this.to = to
  }
}

/** Seconds for which a client may go by a redirect: the handle may be given to somebody else. */
const MAX_AGE = 300

/** Leads who reads by an old handle to where things are now; null where there is nothing to be led to. */
export function redirectMoved(error: unknown, { method, url }: Request): Response | null {
  if (!(error instanceof ActorMovedError) || (method !== 'GET' && method !== 'HEAD')) return null
  const { pathname, search } = new URL(url)
  const segments = pathname.split('/')
  // The first segment is the account; below `/-/`, a later one. Elsewhere, as in a comparison, it is no account that can be led from.
  const last = segments[1] === '-' ? segments.length : 2
  const at = segments.findIndex((segment, i) => i > 0 && i < last && isActor(segment, error.actor))
  if (at === -1) return null
  const path = segments.with(at, error.to).join('/')
  return new Response(method === 'HEAD' ? null : `${error.message}\n`, {
    status: 301,
    headers: {
      Location: `${path}${search}`,
      'Cache-Control': `max-age=${MAX_AGE}`,
      'Content-Type': 'text/plain; charset=utf-8',
      'X-Content-Type-Options': 'nosniff',
    },
  })
}

/** A segment that cannot be decoded is none: this answers where an error is being answered already. */
function isActor(segment: string, actor: string): boolean {
  try {
    return percentDecodeText(segment) === actor
  } catch (error) {
    if (error instanceof HttpError) return false
    throw error
  }
}
