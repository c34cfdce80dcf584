import { createHash } from 'node:crypto'
import { LruCache } from '../../git/bytes/lru-cache.ts'
import { conditional } from '../http/conditional.ts'
import { saysNoStore } from '../http/no-store.ts'
import { ASSETS_HASH } from './assets/assets.ts'
import { Html } from './jsx/html.ts'

/**
 * A page loads what this edge serves as its own, and nothing else: no script or style stands in it, and whatever a
 * stranger could smuggle in would not run.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  Vary: 'Accept',
}

/** Part of entity tags: to be raised when the same content is drawn as another page. */
const DRAWING = 1

/** What the tag of a page is made of, whatever else it shows. */
export function pageTag(key: readonly unknown[]): string {
  const text = JSON.stringify([DRAWING, ASSETS_HASH, key])
  // Weak: what compresses on the way may change the bytes.
  return `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
}

/** Pages that this isolate has drawn, by their tag and URL: many readers look at the same. In bytes. */
const KEPT = 8 * 1024 * 1024
const drawnPages = new LruCache<string, string>(KEPT, (page) => 2 * page.length)

/** Answers with a page, or 304 where the client has it; it is neither read nor drawn then. */
export function answerPage(
  request: Request,
  { key, immutable }: { readonly key: readonly unknown[]; readonly immutable: boolean },
  draw: () => Promise<Html | Response>,
): Promise<Response> {
  const etag = pageTag(key)
  return conditional(request, { etag, immutable }, async () => {
    const name = `${etag} ${request.url}`
    const known = saysNoStore(request) ? undefined : drawnPages.get(name)
    if (known !== undefined) return htmlResponse(200, new Html(known))
    const drawn = await draw()
    if (drawn instanceof Response) return drawn
    drawnPages.set(name, drawn.text)
    return htmlResponse(200, drawn)
  })
}

export function htmlResponse(status: number, page: Html, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(page.text, { status, headers: { ...headers, ...PAGE_HEADERS } })
}
