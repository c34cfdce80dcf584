import { HttpError } from './http-error.ts'

/** Nobody has a handle any more, and the account that had it last is called otherwise now. */
export class ActorMovedError extends HttpError {
  override name = 'ActorMovedError'
  /** A handle, or a DID. */
  readonly to: string

  constructor(actor: string, to: string) {
    super(404, 'ActorNotFound', `account not found: ${actor}; the account that had this handle is ${to} now`)
    this.to = to
  }
}

/** Seconds for which a client may go by a redirect: the handle may be given to somebody else. */
const MAX_AGE = 300

/** Leads who reads by an old handle to where things are now; null where there is nothing to be led to. */
export function redirectMoved(error: unknown, { method, url }: Request): Response | null {
  if (!(error instanceof ActorMovedError) || (method !== 'GET' && method !== 'HEAD')) return null
  const { pathname, search } = new URL(url)
  // The first segment of each path is the account.
  const rest = pathname.replace(/^\/[^/]*/, '')
  return new Response(method === 'HEAD' ? null : `${error.message}\n`, {
    status: 301,
    headers: {
      Location: `/${error.to}${rest}${search}`,
      'Cache-Control': `max-age=${MAX_AGE}`,
      'Content-Type': 'text/plain; charset=utf-8',
      'X-Content-Type-Options': 'nosniff',
    },
  })
}
