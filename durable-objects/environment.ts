import { InvalidUpstreamError, parseUpstream, type Upstream } from '../atproto/firehose/upstream.ts'
import { isSupportedDid } from '../atproto/identity/syntax.ts'
import type { EventsMessage, WorkMessage } from '../storage/index/messages.ts'
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
  readonly EVENTS: Queue<EventsMessage>
  /** What asks strangers' servers: accounts that are to be listed. */
  readonly WORK: Queue<WorkMessage>
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
  /** Origin of a relay, which is asked what accounts there are when all are listed; none unless set. */
  readonly RELAY_URL?: string
  /** URLs of what is followed, separated by blanks; none unless set. See docs/operating.md. */
  readonly UPSTREAMS?: string
  /** Packs of an account with more entries are taken in by parts of so many; 400,000 and 250,000 unless set. */
  readonly INGEST_ENTRIES?: string
  /** Objects that a repository may have, to be mirrored and pushed to; 1,500,000 unless set. */
  readonly REPOSITORY_OBJECTS?: string
  /** DIDs, separated by blanks, of the accounts that are mirrored and served; all unless set. */
  readonly MIRROR_FOR?: string
  /** DIDs, separated by blanks, of the accounts that are written to through this edge; all unless set. */
  readonly PUSH_FOR?: string
  /** The largest repository, in bytes of the packs that its account has of it; no limit unless set. */
  readonly MAX_REPOSITORY_BYTES?: string
  /** The same of all repositories of an account that are mirrored here. */
  readonly MAX_ACCOUNT_BYTES?: string
  /** Mirrors that nobody has used for so many days are dropped; none unless set. */
  readonly EVICT_AFTER_DAYS?: string
  /** Secret: opens the operator's methods; without it there are none. */
  readonly OPERATOR_TOKEN?: string
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

/**
 * Whoever reads a repository has some 65 bytes an object in memory: indexes and graphs. An isolate has 128 MB for these and
 * for all else that it does.
 */
export const DEFAULT_REPOSITORY_OBJECTS = 1_500_000

/** Objects that a repository may have. @throws {@link ConfigError} */
export function readRepositoryObjects({ REPOSITORY_OBJECTS: text }: Environment): number {
  return readNumber('REPOSITORY_OBJECTS', text) ?? DEFAULT_REPOSITORY_OBJECTS
}

/** Whether this edge mirrors and serves an account's repositories. @throws {@link ConfigError} */
export function mayMirror({ MIRROR_FOR: text }: Pick<Environment, 'MIRROR_FOR'>, did: string): boolean {
  return isListed('MIRROR_FOR', text, did)
}

/**
 * Whether an account may be written to through this edge: by pushes, the gateway, and what creates repositories and
 * tokens. @throws {@link ConfigError}
 */
export function mayPush(settings: Pick<Environment, 'MIRROR_FOR' | 'PUSH_FOR'>, did: string): boolean {
  return mayMirror(settings, did) && isListed('PUSH_FOR', settings.PUSH_FOR, did)
}

/** How much of strangers' repositories is taken in, in bytes; null: there is no limit. */
export interface SizeCaps {
  readonly repository: number | null
  readonly account: number | null
}

/** @throws {@link ConfigError} */
export function readSizeCaps({
  MAX_REPOSITORY_BYTES: repository,
  MAX_ACCOUNT_BYTES: account,
}: Pick<Environment, 'MAX_REPOSITORY_BYTES' | 'MAX_ACCOUNT_BYTES'>): SizeCaps {
  return {
    repository: readNumber('MAX_REPOSITORY_BYTES', repository),
    account: readNumber('MAX_ACCOUNT_BYTES', account),
  }
}

const DAY = 24 * 60 * 60_000

/** After how many milliseconds without a use a mirror is dropped; null: never. @throws {@link ConfigError} */
export function readEvictAfter({ EVICT_AFTER_DAYS: text }: Pick<Environment, 'EVICT_AFTER_DAYS'>): number | null {
  const days = readNumber('EVICT_AFTER_DAYS', text)
  return days && days * DAY
}

/** Shorter ones can be guessed. */
const OPERATOR_TOKEN_LENGTH = 32

/** What the operator's requests must carry, or null: this edge takes none. @throws {@link ConfigError} */
export function readOperatorToken({ OPERATOR_TOKEN: text }: Pick<Environment, 'OPERATOR_TOKEN'>): string | null {
  if (text === undefined || text === '') return null
  if (/^[\x21-\x7e]+$/.test(text) && text.length >= OPERATOR_TOKEN_LENGTH) return text
  // It is a secret: the message does not show it.
  throw new ConfigError(`OPERATOR_TOKEN must be ${OPERATOR_TOKEN_LENGTH} characters or more, without blanks`)
}

/** The edge's own DID, or null if it has none. It is a did:web of a host alone. @throws {@link ConfigError} */
export function readEdgeDid({ EDGE_DID: text }: Environment): string | null {
  if (text === undefined || text === '') return null
  if (text.startsWith('did:web:') && isSupportedDid(text)) return text
  throw new ConfigError(`EDGE_DID must be did:web:<host>, and is ${JSON.stringify(text)}`)
}

/** Who is asked what accounts there are; null: nobody. @throws {@link ConfigError} */
export function readRelay({ RELAY_URL: text }: Pick<Environment, 'RELAY_URL'>): string | null {
  return text === undefined || text === '' ? null : readUrl('RELAY_URL', text)
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

/** Lists of DIDs as they were last read: they are looked into with every request. */
const lists = new Map<string, { readonly text: string; readonly dids: ReadonlySet<string> }>()

/** An empty list is none: then all are on it. */
function isListed(name: string, text: string | undefined, did: string): boolean {
  if (text === undefined || text.trim() === '') return true
  let list = lists.get(name)
  if (list?.text !== text) {
    list = { text, dids: readDids(name, text) }
    lists.set(name, list)
  }
  return list.dids.has(did)
}

function readDids(name: string, text: string): ReadonlySet<string> {
  const dids = text.trim().split(/\s+/)
  const wrong = dids.find((did) => !isSupportedDid(did))
  if (wrong === undefined) return new Set(dids)
  throw new ConfigError(`${name} must be DIDs with blanks between them, and has ${JSON.stringify(wrong)}`)
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
