import { LANGUAGES } from '../render/language-table.ts'
import { CARD_HEIGHT, CARD_WIDTH, type Card } from './card.ts'
import { drawable } from './drawable.ts'
import { FONTS } from './fonts.ts'
import { type CardNode, type CardStyle, init, Renderer, wasm } from './takumi.js'

/** The colours of the pages by day, see assets/style/base.css. */
const PAPER = '#fdfcf9'
const LINE = '#e2ded4'
const INK = '#1d1c19'
const SOFT = '#5d594f'
const ACCENT = '#24539f'

const COLORS = new Map(LANGUAGES.map(({ id, color }) => [id, color]))
const FONT = 'Inter'

let renderer: Promise<Renderer> | null = null

/** Begun once an isolate, when the first card is drawn. */
async function start(): Promise<Renderer> {
  await init({ module_or_path: wasm })
  const made = new Renderer()
  for (const { data, weight } of FONTS) await made.registerFont({ name: FONT, data, weight })
  return made
}

/**
 * @param picture to be shown beside the title; null: none is
 * @returns a PNG
 */
export async function drawCard(card: Card, picture: Uint8Array | null): Promise<Uint8Array<ArrayBuffer>> {
  renderer ??= start()
  try {
    const drawn = await (await renderer).render(design(card, picture !== null), {
      width: CARD_WIDTH,
      height: CARD_HEIGHT,
      format: 'png',
      images: picture === null ? [] : [{ src: PICTURE, data: picture }],
    })
    return new Uint8Array(drawn)
  } catch (error) {
    renderer = null
    throw error
  }
}

/** What the picture is called while it is drawn. */
const PICTURE = 'picture'
const PICTURE_SIZE = 168

function design({ over, title, text, facts, languages }: Card, hasPicture: boolean): CardNode {
  const name = drawable(title)
  return box(
    {
      width: '100%',
      height: '100%',
      flexDirection: 'column',
      justifyContent: 'space-between',
      backgroundColor: PAPER,
      color: INK,
      fontFamily: FONT,
    },
    box({ padding: '64px 72px 0', justifyContent: 'space-between' }, [
      box({ flexDirection: 'column', maxWidth: hasPicture ? 850 : 1056 }, [
        words(drawable(over), { fontSize: 34, color: SOFT, ...clamped(1) }),
        words(name, { fontSize: sizeOf(name), fontWeight: 700, lineHeight: 1.15, marginTop: 14, ...clamped(3) }),
        words(drawable(text), { fontSize: 34, lineHeight: 1.4, color: SOFT, marginTop: 28, ...clamped(3) }),
      ]),
      ...(hasPicture ? [portrait()] : []),
    ]),
    box({ flexDirection: 'column' }, [
      box({ justifyContent: 'space-between', padding: '0 72px 44px', fontSize: 28, color: SOFT }, [
        words(facts.map(drawable).join('   ·   '), { maxWidth: 880, ...clamped(1) }),
        words('skein', { color: ACCENT, fontWeight: 700 }),
      ]),
      bar(languages),
    ]),
  )
}

function portrait(): CardNode {
  const style: CardStyle = { borderRadius: '50%', objectFit: 'cover' }
  return { type: 'image', src: PICTURE, width: PICTURE_SIZE, height: PICTURE_SIZE, style }
}

/** What a repository is written in, along the lower edge. */
function bar(languages: Card['languages']): CardNode {
  const parts = languages.map(({ id, share }) =>
    box({ width: share * CARD_WIDTH, height: 20, backgroundColor: (id !== null && COLORS.get(id)) || LINE }, []),
  )
  return box({ width: '100%', height: 20, backgroundColor: languages.length === 0 ? ACCENT : LINE }, parts)
}

function sizeOf(title: string): number {
  return title.length <= 24 ? 88 : title.length <= 60 ? 64 : 52
}

function clamped(lines: number): CardStyle {
  return { lineClamp: lines, textOverflow: 'ellipsis', overflow: 'hidden', overflowWrap: 'anywhere' }
}

function words(text: string, style: CardStyle): CardNode {
  return { type: 'text', text, style }
}

function box(style: CardStyle, ...children: (CardNode | readonly CardNode[])[]): CardNode {
  return { type: 'container', style: { display: 'flex', ...style }, children: children.flat() }
}
