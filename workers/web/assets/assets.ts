import { createHash } from 'node:crypto'
import { languageColors } from '../render/languages.ts'
import icon from './icon.svg'
import pageScript from './page.client.js'
import paletteScript from './palette.client.js'
import base from './style/base.css'
import code from './style/code.css'
import colours from './style/colours.css'
import diff from './style/diff.css'
import document from './style/document.css'
import files from './style/files.css'
import frame from './style/frame.css'
import lists from './style/lists.css'
import palette from './style/palette.css'
import screens from './style/screens.css'
import themeScript from './theme.client.js'

interface Asset {
  readonly type: string
  readonly text: string
}

/** One stylesheet: of rules of equal weight the later one counts, so the order matters. */
const style = [base, frame, files, document, code, diff, lists, palette, colours, languageColors(), screens].join('\n')

const ASSETS = {
  'icon.svg': { type: 'image/svg+xml', text: icon },
  'page.js': { type: 'text/javascript; charset=utf-8', text: pageScript },
  'palette.js': { type: 'text/javascript; charset=utf-8', text: paletteScript },
  'style.css': { type: 'text/css; charset=utf-8', text: style },
  'theme.js': { type: 'text/javascript; charset=utf-8', text: themeScript },
} satisfies Readonly<Record<string, Asset>>

export type AssetName = keyof typeof ASSETS

/** Of all assets: a page that links to them is another page when one of them has changed. */
export const ASSETS_HASH = createHash('sha256').update(JSON.stringify(ASSETS)).digest('base64url').slice(0, 12)

/** The URL of an asset. */
export function assetHref(name: AssetName): string {
  return `/-/assets/${ASSETS_HASH}/${name}`
}

const FOREVER = 'public, max-age=31536000, immutable'
const BRIEFLY = 'public, max-age=60'

/** Answers for an asset; null: there is none. A page that a cache has kept names those of its day: it gets today's. */
export function serveAsset(hash: string, name: string): Response | null {
  if (!Object.hasOwn(ASSETS, name)) return null
  const { type, text } = ASSETS[name as AssetName]
  return new Response(text, {
    headers: {
      'Content-Type': type,
      'Cache-Control': hash === ASSETS_HASH ? FOREVER : BRIEFLY,
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'X-Content-Type-Options': 'nosniff',
    },
  })
}
