import { log } from '../../../durable-objects/log.ts'
import { LruCache } from '../../../git/bytes/lru-cache.ts'
import { conditional } from '../../http/conditional.ts'
import { saysNoStore } from '../../http/no-store.ts'
import type { CardSource } from '../load/cards.ts'
import type { PageKeeper } from '../page-response.ts'
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
export async function answerCard(
  request: Request,
  asked: string,
  source: CardSource,
  keeper: PageKeeper,
): Promise<Response> {
  const version = cardVersion(source.card)
  const validator = { etag: `"${version}"`, immutable: asked === version }
  return conditional(request, validator, async () => {
    const png = await pngOf(request, version, source, keeper)
    return new Response(png, {
      headers: {
        'Content-Type': 'image/png',
        'Content-Security-Policy': "default-src 'none'; sandbox",
        'X-Content-Type-Options': 'nosniff',
      },
    })
  })
}

async function pngOf(
  request: Request,
  version: string,
  { card, picture }: CardSource,
  { cache, waitUntil }: PageKeeper,
): Promise<Png> {
  const url = `${new URL(request.url).origin}/.cards/${version}`
  const isAnew = saysNoStore(request)
  const known = isAnew ? null : (drawnCards.get(version) ?? (await read(cache, url)))
  // Loaded when the first card is asked for: it is larger than all the rest.
  if (known !== null) {
    drawnCards.set(version, known)
    return known
  }
  const [{ drawCard }, shown] = await Promise.all([import('./draw-card.ts'), picture()])
  // What somebody calls a picture may be none.
  const png = await drawCard(card, shown).catch((error: unknown) => {
    if (shown === null) throw error
    return drawCard(card, null)
  })
  // Without the picture that it should have it is drawn again the next time.
  if (shown === null && card.picture !== null) return png
  drawnCards.set(version, png)
  waitUntil(write(cache, url, png))
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
