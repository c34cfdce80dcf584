/** How an answer is told from a later one at the same URL. */
export interface Validator {
  /** An entity tag with its quotes, `"…"` or `W/"…"`. */
  readonly etag: string
  /** Whether the URL names content by its full id, so that the answer never changes. */
  readonly immutable: boolean
}

const FOREVER = 'public, max-age=31536000, immutable'
/** May be kept, and must be asked about before each use. */
const REVALIDATE = 'no-cache'

/**
 * Answers 304 where the client has the content already, else what `produce` gives with the validator on it. `produce`
 * is not run for a 304, so that a valid copy costs no reading.
 */
export async function conditional(
  request: Request,
  validator: Validator,
  produce: () => Promise<Response>,
): Promise<Response> {
  const headers = { ETag: validator.etag, 'Cache-Control': validator.immutable ? FOREVER : REVALIDATE }
  if (isFresh(request.headers.get('If-None-Match'), validator.etag)) return new Response(null, { status: 304, headers })
  const response = await produce()
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  return response
}

/** Whether one of the tags of `If-None-Match` is this one, by weak comparison (RFC 9110, 13.1.2). */
function isFresh(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false
  if (ifNoneMatch.trim() === '*') return true
  const tags = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? []
  return tags.some((tag) => tag.replace(/^W\//, '') === etag.replace(/^W\//, ''))
}
