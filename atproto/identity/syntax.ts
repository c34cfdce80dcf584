import { isValidDid, isValidHandle } from '@atproto/syntax'

/** Top-level names that the specification rules out for handles; `.test` is for local use. https://atproto.com/specs/handle */
const REFUSED_TLDS = ['local', 'arpa', 'invalid', 'localhost', 'internal', 'example', 'alt', 'onion']

/** A DID of a method that atproto uses. A did:web is a host name alone, without a path. */
export function isSupportedDid(text: string): boolean {
  if (!isValidDid(text)) return false
  return /^did:plc:[a-z2-7]{24}$/.test(text) || /^did:web:[a-zA-Z0-9.-]+(%3A[0-9]{1,5})?$/.test(text)
}

/** The handle in lower case, or null if it is none. */
export function normalizeHandle(text: string): string | null {
  const handle = text.toLowerCase()
  const tld = handle.slice(handle.lastIndexOf('.') + 1)
  return isValidHandle(handle) && !REFUSED_TLDS.includes(tld) ? handle : null
}
