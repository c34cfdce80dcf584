import { createHash } from 'node:crypto'
import { log } from '../../durable-objects/log.ts'
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
const DRAWING = 2

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

/** Where pages are kept for other isolates of the data centre, and how work goes on after the answer. */
export interface PageKeeper {
  readonly cache: Pick<Cache, 'match' | 'put'>
  waitUntil(work: Promise<unknown>): void
}

/**
 * Answers with a page, or 304 where the client has it; it is neither read nor drawn then.
 *
 * @param keeper null: it is drawn faster than it is found
 */
export async function answerPage(
  request: Request,
  { key, immutable }: Known,
  keeper: PageKeeper | null,
  draw: Draw,
): Promise<Response> {
  const form = formOf(request)
  const known = { key: [form, ...key], immutable }
  const answer = await answerText(request, known, mediaTypeOf(form, request), keeper, draw)
  // Of a 304, too: a cache is to know for whom it may go on using what it has.
  answer.headers.set('Vary', 'Accept')
  return answer
}

/** The same of what has but one form. */
export function answerText(
  request: Request,
  { key, immutable }: Known,
  type: string,
  keeper: PageKeeper | null,
  draw: Draw,
): Promise<Response> {
  const etag = pageTag(key)
  return conditional(request, { etag, immutable }, async () => {
    const name = `${etag} ${request.url}`
    const isAnew = saysNoStore(request)
    const known = isAnew ? null : await findKept(keeper, name, request.url)
    if (known !== null) return textResponse(known, type)
    const drawn = await draw()
    if (drawn instanceof Response) return drawn
    drawnPages.set(name, drawn)
    if (!isAnew && keeper !== null) keeper.waitUntil(keep(keeper, name, request.url, drawn))
    return textResponse(drawn, type)
  })
}

async function findKept(keeper: PageKeeper | null, name: string, url: string): Promise<string | null> {
  const atHand = drawnPages.get(name)
  if (atHand !== undefined || keeper === null) return atHand ?? null
  try {
    const kept = await (await keeper.cache.match(keptUrl(name, url)))?.text()
    if (kept !== undefined) drawnPages.set(name, kept)
    return kept ?? null
  } catch {
    // It is drawn, then.
    return null
  }
}

/** The tag is part of the name, so what is kept is never stale; seconds after which nobody is likely to ask. */
const KEPT_FOR = 24 * 60 * 60

async function keep({ cache }: PageKeeper, name: string, url: string, page: string): Promise<void> {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': `max-age=${KEPT_FOR}` }
  try {
    await cache.put(keptUrl(name, url), new Response(page, { headers }))
  } catch (error) {
    log('page-not-kept', { reason: String(error) })
  }
}

/** The cache belongs to a host name. */
function keptUrl(name: string, url: string): string {
  return `${new URL(url).origin}/.pages/${createHash('sha256').update(name).digest('hex')}`
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
