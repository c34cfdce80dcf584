import { InvalidUpstreamError, parseUpstream, type Upstream } from '../atproto/firehose/upstream.ts'
import { isSupportedDid } from '../atproto/identity/syntax.ts'
import type { IndexMessage } from '../storage/index/messages.ts'
import type { AccountWriter } from './account-writer/account-writer.ts'
import type { BranchQueue } from './branch-queue/branch-queue.ts'
import type { Firehose } from './firehose/firehose.ts'
import type { Repository } from './repository/repository.ts'

/** The bindings and settings of wrangler.toml, as the runtime hands them over. */
export interface Environment {
  /** Packs, their indexes and graphs. */
  readonly PACKS: R2Bucket
  /** Identities, repository names, tokens, and who landed what. */
  readonly DB: D1Database
  readonly REPOSITORY: DurableObjectNamespace<Repository>
  readonly ACCOUNT_WRITER: DurableObjectNamespace<AccountWriter>
  readonly BRANCH_QUEUE: DurableObjectNamespace<BranchQueue>
  readonly FIREHOSE: DurableObjectNamespace<Firehose>
  /** What happens on the network, on its way into the index. */
  readonly EVENTS: Queue<IndexMessage>
  /** Counts the requests of each token. */
  readonly CALL_LIMIT: RateLimit
  /** Secret, 32 bytes in base64: encrypts kept sessions. */
  readonly SESSION_KEY: string
  /** The edge's own DID, did:web; without it no service-auth JWT is taken. */
  readonly EDGE_DID?: string
  /** PLC directory; https://plc.directory unless set. */
  readonly PLC_URL?: string
  /** DNS over https (JSON); https://cloudflare-dns.com/dns-query unless set. */
  readonly DNS_URL?: string
  /** For local use: an XRPC service that resolves handles in place of DNS and well-known files. */
  readonly HANDLE_RESOLVER_URL?: string
  /** For local use: `true` allows plain http, and loopback and private addresses. */
  readonly ALLOW_PRIVATE_HOSTS?: string
  /** Largest push in bytes; 95,000,000 unless set. */
  readonly MAX_PUSH_BYTES?: string
  /** URLs of what is followed, separated by blanks; none unless set. See docs/operating.md. */
  readonly UPSTREAMS?: string
  /** Packs of an account with more entries are taken in by parts of so many; 400,000 and 250,000 unless set. */
  readonly INGEST_ENTRIES?: string
}

/** How this deployment reaches the Atmosphere. */
export interface NetworkConfig {
  readonly plcUrl: string
  readonly dnsUrl: string
  readonly handleResolverUrl: string | null
  readonly allowPrivateHosts: boolean
}

/** A setting that cannot be used, named so that an operator finds it. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** Cloudflare cuts a request off at 100 MB: this is a little less, so that the pusher is told in words. Bytes. */
const DEFAULT_PUSH_LIMIT = 95_000_000

/** The largest push that is taken, in bytes. @throws {@link ConfigError} */
export function readPushLimit({ MAX_PUSH_BYTES: text }: Environment): number {
  return readNumber('MAX_PUSH_BYTES', text) ?? DEFAULT_PUSH_LIMIT
}

/** Entries of a pack that are taken in at once, or null if it is not set. @throws {@link ConfigError} */
export function readIngestEntries({ INGEST_ENTRIES: text }: Environment): number | null {
  return readNumber('INGEST_ENTRIES', text)
}

/** The edge's own DID, or null if it has none. It is a did:web of a host alone. @throws {@link ConfigError} */
export function readEdgeDid({ EDGE_DID: text }: Environment): string | null {
  if (text === undefined || text === '') return null
  if (text.startsWith('did:web:') && isSupportedDid(text)) return text
  throw new ConfigError(`EDGE_DID must be did:web:<host>, and is ${JSON.stringify(text)}`)
}

/** What is followed, each once. @throws {@link ConfigError} */
export function readUpstreams({ UPSTREAMS, ALLOW_PRIVATE_HOSTS }: Environment): Upstream[] {
  const allowPrivateHosts = readFlag('ALLOW_PRIVATE_HOSTS', ALLOW_PRIVATE_HOSTS)
  const urls = new Set((UPSTREAMS ?? '').split(/\s+/).filter((url) => url !== ''))
  return [...urls].map((url) => readUpstream(url, allowPrivateHosts))
}

function readUpstream(url: string, allowPrivateHosts: boolean): Upstream {
  try {
    return parseUpstream(url, allowPrivateHosts)
  } catch (error) {
    if (error instanceof InvalidUpstreamError) throw new ConfigError(`UPSTREAMS: ${error.message}`)
    throw error
  }
}

/** @throws {@link ConfigError} */
export function readNetworkConfig(environment: Environment): NetworkConfig {
  return {
    plcUrl: readUrl('PLC_URL', environment.PLC_URL ?? 'https://plc.directory'),
    dnsUrl: readUrl('DNS_URL', environment.DNS_URL ?? 'https://cloudflare-dns.com/dns-query'),
    handleResolverUrl: environment.HANDLE_RESOLVER_URL
      ? readUrl('HANDLE_RESOLVER_URL', environment.HANDLE_RESOLVER_URL)
      : null,
    allowPrivateHosts: readFlag('ALLOW_PRIVATE_HOSTS', environment.ALLOW_PRIVATE_HOSTS),
  }
}

function readNumber(name: string, text: string | undefined): number | null {
  if (text === undefined || text === '') return null
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text)
  throw new ConfigError(`${name} must be a number, and is ${JSON.stringify(text)}`)
}

function readUrl(name: string, text: string): string {
  if (!URL.canParse(text)) throw new ConfigError(`${name} is not a URL: ${JSON.stringify(text)}`)
  return text.replace(/\/+$/, '')
}

function readFlag(name: string, text: string | undefined): boolean {
  if (text === undefined || text === '' || text === 'false') return false
  if (text === 'true') return true
  throw new ConfigError(`${name} must be true or false, and is ${JSON.stringify(text)}`)
}
