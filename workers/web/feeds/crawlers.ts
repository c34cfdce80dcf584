import type { RepositoryPlace } from '../../../storage/index/account-queries.ts'
import { accountHref, repositoryHref } from '../hrefs.ts'
import { escapeHtml } from '../render/text.ts'

/**
 * For search engines (RFC 9309): all but what is costly to draw and the same in another form. A crawler that follows every link
 * of a history would draw each file of each commit.
 */
export function robotsText(origin: string): string {
  const costly = [
    '/*/*/blame/',
    '/*/*/compare$',
    '/*/*/compare?',
    '/*/*/compare/',
    '/*/*/archive/',
    '/*/*/raw/',
    '/*?*view=',
    '/*?*after=',
    '/*?*from=',
    '/*/*/tree/*/*',
    '/*/*/commits/*/*',
    // Accounts may be called alike: what these begin with is no whole name.
    '/search$',
    '/search?',
    '/-/find',
    '/xrpc/',
    '/mcp$',
  ]
  return `User-agent: *
${costly.map((path) => `Disallow: ${path}\n`).join('')}
Sitemap: ${origin}/sitemap.xml
`
}

/** What the DIDs of a part of the sitemap start with: those of did:plc are spread evenly over their first characters. */
export const SITEMAP_PARTS: readonly string[] = [
  'did:web:',
  ...Array.from('abcdefghijklmnopqrstuvwxyz234567', (character) => `did:plc:${character}`),
]
/** Repositories of one part. A sitemap may have 50,000 addresses, and each repository may bring its account's. */
export const SITEMAP_REPOSITORIES = 24_000

const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
const HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'

/** https://www.sitemaps.org/protocol.html */
export function sitemapIndex(origin: string): string {
  const parts = SITEMAP_PARTS.map(
    (_, part) => `<sitemap><loc>${escapeHtml(origin)}/-/sitemap/${part}</loc></sitemap>\n`,
  )
  return `${HEAD}<sitemapindex ${NAMESPACE}>\n${parts.join('')}</sitemapindex>\n`
}

/** @param places in the order of their accounts */
export function sitemapOf(places: readonly RepositoryPlace[], origin: string): string {
  const urls: string[] = []
  let account: string | null = null
  for (const { did, handle, name, pushedAt } of places) {
    const actor = handle ?? did
    if (did !== account) urls.push(urlOf(origin + accountHref(actor), 0))
    account = did
    urls.push(urlOf(origin + repositoryHref(actor, name), pushedAt))
  }
  return `${HEAD}<urlset ${NAMESPACE}>\n${urls.join('')}</urlset>\n`
}

function urlOf(url: string, changedAt: number): string {
  const when = changedAt > 0 ? `<lastmod>${new Date(changedAt).toISOString()}</lastmod>` : ''
  return `<url><loc>${escapeHtml(url)}</loc>${when}</url>\n`
}
