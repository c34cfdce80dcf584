import { escapeHtml, visibleText } from '../render/text.ts'

/** A feed as RFC 4287 has it. Addresses are absolute. */
export interface Feed {
  /** A URI that stays with it for good. */
  readonly id: string
  /** Of this feed. */
  readonly url: string
  /** Of the page that shows the same. */
  readonly page: string
  readonly title: string
  readonly author: string
  readonly entries: readonly FeedEntry[]
}

export interface FeedEntry {
  /** A URI that stays with it for good. */
  readonly id: string
  readonly url: string
  readonly title: string
  readonly author: string
  /** Milliseconds since 1970; null where it has none. */
  readonly time: number | null
  /** Plain text; empty: there is none. */
  readonly content: string
}

/** The last moment that RFC 3339 can write. */
const LATEST = Date.UTC(9999, 11, 31)

export function atomFeed({ id, url, page, title, author, entries }: Feed): string {
  const newest = entries.reduce((latest, { time }) => Math.max(latest, clamped(time)), 0)
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${text(id)}</id>
  <title>${text(title)}</title>
  <updated>${date(newest)}</updated>
  <author><name>${text(author)}</name></author>
  <link rel="self" type="application/atom+xml" href="${text(url)}"/>
  <link rel="alternate" href="${text(page)}"/>
${entries.map(entryXml).join('')}</feed>
`
}

function entryXml({ id, url, title, author, time, content }: FeedEntry): string {
  return `  <entry>
    <id>${text(id)}</id>
    <title>${text(title)}</title>
    <updated>${date(clamped(time))}</updated>
    <author><name>${text(author)}</name></author>
    <link rel="alternate" href="${text(url)}"/>
${content === '' ? '' : `    <content type="text">${text(content)}</content>\n`}  </entry>
`
}

/** Strangers write their dates themselves. */
function clamped(time: number | null): number {
  return Math.min(Math.max(time ?? 0, 0), LATEST)
}

function date(time: number): string {
  return new Date(time).toISOString()
}

/** What XML cannot hold are controls and halves of characters, which are shown as what they are. */
function text(value: string): string {
  return escapeHtml(visibleText(value).replace(/[\ufffe\uffff]/g, '\ufffd'))
}
