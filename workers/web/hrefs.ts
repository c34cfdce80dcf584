/** URLs of pages. What strangers have named is percent-encoded byte by byte, so that it can be nothing but a name. */

const PLAIN = /^[A-Za-z0-9\-._~:@+,=/]$/
const ENCODED = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  return PLAIN.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
})
const encoder = new TextEncoder()

/** Names with the slashes between them; any bytes but those stay what they are when the URL is decoded. */
export function encodePath(path: Uint8Array | string): string {
  let text = ''
  for (const byte of typeof path === 'string' ? encoder.encode(path) : path) text += ENCODED[byte]
  return text
}

export function accountHref(actor: string): string {
  return `/${encodePath(actor)}`
}

/** @param cid of the picture */
export function avatarHref(did: string, cid: string): string {
  return `/-/avatar/${encodePath(did)}/${cid}`
}

export function repositoryHref(actor: string, name: string): string {
  return `/${encodePath(actor)}/${encodePath(name)}`
}

/** Pages that show something of a revision, by what stands in their URLs. */
export type RevisionPage = 'tree' | 'blob' | 'raw' | 'blame' | 'commits'

/**
 * @param base of the repository
 * @param revision as a URL names it
 * @param path default: the root
 */
export function revisionHref(base: string, page: RevisionPage, revision: string, path?: Uint8Array | string): string {
  const start = `${base}/${page}/${encodePath(revision)}`
  return path === undefined || path.length === 0 ? start : `${start}/${encodePath(path)}`
}

export function commitHref(base: string, oid: string): string {
  return `${base}/commit/${oid}`
}

/** The same URL with another query; what is undefined is left out. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(String(value))}`],
  )
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
}

/** A URL that a stranger has written, if it is one that a link may lead to. */
export function outsideHref(text: string): string | null {
  const url = URL.parse(text)
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : null
}
