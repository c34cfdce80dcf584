import type { GuardedFetch } from '../network/guarded-fetch.ts'
import { isObject, parseJson } from '../network/json.ts'
import { IdentityNotFoundError, IdentityUnavailableError } from './identity.ts'
import { readText } from './read-text.ts'
import { isSupportedDid } from './syntax.ts'

export interface HandleOptions {
  readonly fetch: GuardedFetch
  /** A DNS-over-https resolver that answers JSON. */
  readonly dnsUrl: string
  /** Local use: a service asked `com.atproto.identity.resolveHandle` instead of DNS and the host itself. */
  readonly handleResolverUrl: string | null
}

/** The longest answers that make sense. */
const MAX_DNS_BYTES = 64 * 1024
const MAX_DID_BYTES = 8 * 1024

/**
 * The DID that a handle points at: by DNS, else by its host. The two are asked at once, DNS wins.
 * https://atproto.com/specs/handle
 *
 * @param handle normalized
 * @throws {@link IdentityNotFoundError}, {@link IdentityUnavailableError}
 */
export async function resolveHandle(handle: string, options: HandleOptions): Promise<string> {
  if (options.handleResolverUrl !== null) return askService(handle, options.handleResolverUrl, options.fetch)
  const [dns, wellKnown] = await Promise.allSettled([askDns(handle, options), askHost(handle, options.fetch)])
  for (const answer of [dns, wellKnown]) {
    if (answer.status === 'fulfilled' && answer.value !== null) return answer.value
  }
  // Only where DNS said that there is nothing does the host's failure matter, and most hosts are no handle's.
  if (dns.status === 'rejected') throw dns.reason
  if (wellKnown.status === 'rejected' && !(wellKnown.reason instanceof IdentityNotFoundError)) throw wellKnown.reason
  throw new IdentityNotFoundError(handle, 'neither DNS nor its host names a DID')
}

async function askDns(handle: string, { fetch, dnsUrl }: HandleOptions): Promise<string | null> {
  const url = new URL(dnsUrl)
  url.searchParams.set('name', `_atproto.${handle}`)
  url.searchParams.set('type', 'TXT')
  const { status, text } = await readText(fetch, url, handle, MAX_DNS_BYTES, { accept: 'application/dns-json' })
  if (status !== 200) throw new IdentityUnavailableError(handle, url.host, `answered ${status}`)
  const dids = parseTxtAnswer(text)
  if (dids === null) throw new IdentityUnavailableError(handle, url.host, 'sent no DNS answer')
  // The specification: several different ones mean none.
  return dids.length === 1 ? dids[0]! : null
}

const DNS_OK = 0
const DNS_NXDOMAIN = 3
const TXT = 16

/**
 * The different DIDs in the `did=` TXT records of a DNS answer as JSON, null if it is none or the resolver failed.
 * https://developers.google.com/speed/public-dns/docs/doh/json
 */
export function parseTxtAnswer(text: string): string[] | null {
  const answer = parseJson(text)
  if (!isObject(answer)) return null
  if (answer.Status === DNS_NXDOMAIN) return []
  if (answer.Status !== DNS_OK) return null
  const records = Array.isArray(answer.Answer) ? (answer.Answer as { type?: unknown; data?: unknown }[]) : []
  const values = records.flatMap((record) =>
    record?.type === TXT && typeof record.data === 'string' ? [unquote(record.data)] : [],
  )
  const dids = values.filter((value) => value.startsWith('did=')).map((value) => value.slice('did='.length))
  return [...new Set(dids.filter(isSupportedDid))]
}

/** A TXT record is one or more quoted strings, which count as one: `"did=did:plc:" "abc"`. Some resolvers leave the quotes out. */
function unquote(data: string): string {
  const strings = data.match(/"(?:[^"\\]|\\.)*"/g)
  return strings ? strings.map((string) => string.slice(1, -1)).join('') : data
}

async function askHost(handle: string, fetch: GuardedFetch): Promise<string | null> {
  const url = new URL(`https://${handle}/.well-known/atproto-did`)
  const { status, text } = await readText(fetch, url, handle, MAX_DID_BYTES)
  if (status >= 500 || status === 429) throw new IdentityUnavailableError(handle, url.host, `answered ${status}`)
  const did = text.trim()
  return status === 200 && isSupportedDid(did) ? did : null
}

async function askService(handle: string, service: string, fetch: GuardedFetch): Promise<string> {
  const url = new URL(`/xrpc/com.atproto.identity.resolveHandle?${new URLSearchParams({ handle })}`, service)
  const { status, text } = await readText(fetch, url, handle, MAX_DID_BYTES)
  if (status === 400 || status === 404) throw new IdentityNotFoundError(handle, `${url.host} does not know it`)
  if (status !== 200) throw new IdentityUnavailableError(handle, url.host, `answered ${status}`)
  const answer = parseJson(text)
  const did = isObject(answer) ? answer.did : undefined
  if (typeof did !== 'string' || !isSupportedDid(did))
    throw new IdentityUnavailableError(handle, url.host, 'sent no DID')
  return did
}
