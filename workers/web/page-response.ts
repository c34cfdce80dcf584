import { createHash } from 'node:crypto'
import { LruCache } from '../../git/bytes/lru-cache.ts'
import { conditional } from '../http/conditional.ts'
import { saysNoStore } from '../http/no-store.ts'
import { ASSETS_HASH } from './assets/assets.ts'
import { formOf, mediaTypeOf } from './negotiate.ts'
import type { PageSource } from './page.ts'

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

const HEADERS: Readonly<Record<string, string>> = {
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

/** How a page is drawn: its text in the form that was asked for, or the answer that leads elsewhere. */
export type Draw = () => Promise<string | Response>

/** What a page depends on, and whether it stays as it is. */
type Known = Pick<PageSource<unknown>, 'key' | 'immutable'>

/** Answers with a page, or 304 where the client has it; it is neither read nor drawn then. */
export async function answerPage(request: Request, { key, immutable }: Known, draw: Draw): Promise<Response> {
  const form = formOf(request)
  const answer = await answerText(request, { key: [form, ...key], immutable }, mediaTypeOf(form, request), draw)
  // Of a 304, too: a cache is to know for whom it may go on using what it has.
  answer.headers.set('Vary', 'Accept')
  return answer
}

/** The same of what has but one form. */
export function answerText(request: Request, { key, immutable }: Known, type: string, draw: Draw): Promise<Response> {
  const etag = pageTag(key)
  return conditional(request, { etag, immutable }, async () => {
    const name = `${etag} ${request.url}`
    const known = saysNoStore(request) ? undefined : drawnPages.get(name)
    if (known !== undefined) return textResponse(known, type)
    const drawn = await draw()
    if (drawn instanceof Response) return drawn
    drawnPages.set(name, drawn)
    return textResponse(drawn, type)
  })
}

/** @param error in the form that the request asks for */
export function errorResponse(
  request: Request,
  status: number,
  error: string,
  headers: Readonly<Record<string, string>>,
): Response {
  const answer = textResponse(error, mediaTypeOf(formOf(request), request))
  return new Response(answer.body, { status, headers: { ...headers, ...Object.fromEntries(answer.headers) } })
}

/** @param type its media type */
export function textResponse(text: string, type: string): Response {
  return new Response(text, { headers: { ...HEADERS, 'Content-Type': type } })
}
