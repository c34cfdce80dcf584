import { log } from '../../../durable-objects/log.ts'
import { LruCache } from '../../../git/bytes/lru-cache.ts'
import { conditional } from '../../http/conditional.ts'
import { saysNoStore } from '../../http/no-store.ts'
import type { PageKeeper } from '../page-response.ts'
import type { Card } from './card.ts'
import { cardVersion } from './cards.ts'

type Png = Uint8Array<ArrayBuffer>

/** Cards that this isolate has drawn, by their version. In bytes. */
const KEPT = 4 * 1024 * 1024
const drawnCards = new LruCache<string, Png>(KEPT, (card) => card.length)
/** Seconds that the data centre keeps one for its other isolates. */
const KEPT_FOR = 30 * 24 * 60 * 60

/**
 * Answers with the picture of a card. A URL that names another version gets what the card is now: its page was read before it
 * changed.
 */
export async function answerCard(request: Request, asked: string, card: Card, keeper: PageKeeper): Promise<Response> {
  const version = cardVersion(card)
  const validator = { etag: `"${version}"`, immutable: asked === version }
  return conditional(request, validator, async () => {
    const png = await pngOf(request, version, card, keeper)
    return new Response(png, {
      headers: {
        'Content-Type': 'image/png',
        'Content-Security-Policy': "default-src 'none'; sandbox",
        'X-Content-Type-Options': 'nosniff',
      },
    })
  })
}

async function pngOf(request: Request, version: string, card: Card, { cache, waitUntil }: PageKeeper): Promise<Png> {
  const url = `${new URL(request.url).origin}/.cards/${version}`
  const isAnew = saysNoStore(request)
  const known = isAnew ? null : (drawnCards.get(version) ?? (await read(cache, url)))
  // Loaded when the first card is asked for: it is larger than all the rest.
  const png = known ?? (await (await import('./draw-card.ts')).drawCard(card))
  drawnCards.set(version, png)
  if (known === null) waitUntil(write(cache, url, png))
  return png
}

async function read(cache: PageKeeper['cache'], url: string): Promise<Png | null> {
  const kept = await cache.match(url)
  return kept === undefined ? null : new Uint8Array(await kept.arrayBuffer())
}

async function write(cache: PageKeeper['cache'], url: string, png: Png): Promise<void> {
  try {
    await cache.put(url, new Response(png, { headers: { 'Cache-Control': `max-age=${KEPT_FOR}` } }))
  } catch (error) {
    log('page-not-kept', { reason: String(error) })
  }
}
