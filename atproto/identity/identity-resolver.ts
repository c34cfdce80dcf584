import { createGuardedFetch, type GuardedFetch } from '../network/guarded-fetch.ts'
import type { AccountDocument, SigningKey } from './did-document.ts'
import { type Identity, IdentityNotFoundError, IdentityUnavailableError, InvalidActorError } from './identity.ts'
import { type IdentityCache, MemoryIdentityCache } from './identity-cache.ts'
import { resolveDid } from './resolve-did.ts'
import { resolveHandle } from './resolve-handle.ts'
import { normalizeHandle } from './syntax.ts'

export interface IdentityResolverOptions {
  /** Default: one that refuses private addresses, or not, as `allowPrivateHosts` says. */
  readonly fetch?: GuardedFetch
  /** Default: one in memory. */
  readonly cache?: IdentityCache
  /** Default `https://plc.directory`. */
  readonly plcUrl?: string | undefined
  /** DNS over https with JSON answers. Default `https://cloudflare-dns.com/dns-query`. */
  readonly dnsUrl?: string | undefined
  /** Local use: an XRPC service that is asked for handles instead of DNS and their hosts. Default: none. */
  readonly handleResolverUrl?: string | undefined
  /** Local use: plain http and private addresses. Default false. */
  readonly allowPrivateHosts?: boolean
}

const PLC_URL = 'https://plc.directory'
const DNS_URL = 'https://cloudflare-dns.com/dns-query'
/** Seconds: accounts move, and handles change hands, seldom. */
const TTL = 60 * 60
/** Seconds, where a handle could not be checked: it may be the host's bad minute. */
const UNCHECKED_TTL = 5 * 60

/** Finds out who a handle or DID is, and checks that handle and DID document name each other. */
export class IdentityResolver {
  readonly #cache: IdentityCache
  readonly #options: {
    readonly fetch: GuardedFetch
    readonly plcUrl: string
    readonly dnsUrl: string
    readonly handleResolverUrl: string | null
    readonly allowPrivateHosts: boolean
  }

  constructor(options: IdentityResolverOptions = {}) {
    const allowPrivateHosts = options.allowPrivateHosts ?? false
    this.#cache = options.cache ?? new MemoryIdentityCache()
    this.#options = {
      fetch: options.fetch ?? createGuardedFetch({ allowPrivateHosts }),
      plcUrl: options.plcUrl ?? PLC_URL,
      dnsUrl: options.dnsUrl ?? DNS_URL,
      handleResolverUrl: options.handleResolverUrl ?? null,
      allowPrivateHosts,
    }
  }

  /**
   * @param actor a handle or a DID
   * @throws {@link InvalidActorError}; {@link IdentityNotFoundError} also for a handle that its DID does not claim, and
   * for an account without a PDS; {@link IdentityUnavailableError}
   */
  async resolve(actor: string): Promise<Identity> {
    const isDid = actor.startsWith('did:')
    const key = isDid ? actor : normalizeHandle(actor)
    if (key === null) throw new InvalidActorError(actor, 'is neither a handle nor a DID')
    const known = await this.#cache.get(key)
    if (known) return known
    const { identity, ttl } = isDid ? await this.#resolveDid(actor) : await this.#resolveHandle(key)
    await this.#cache.put(key, identity, ttl)
    return identity
  }

  /**
   * The key that an account's signatures are checked by, as its DID document has it now; null if it names none.
   *
   * @throws {@link InvalidActorError}, {@link IdentityNotFoundError}, {@link IdentityUnavailableError}
   */
  async readSigningKey(did: string): Promise<SigningKey | null> {
    return (await this.readDocument(did)).signingKey
  }

  /**
   * An account's DID document as it is now; what it claims is not checked in the other direction.
   *
   * @throws {@link InvalidActorError}, {@link IdentityNotFoundError}, {@link IdentityUnavailableError}
   */
  async readDocument(did: string): Promise<AccountDocument> {
    return resolveDid(did, this.#options)
  }

  async #resolveHandle(handle: string): Promise<{ identity: Identity; ttl: number }> {
    const did = await resolveHandle(handle, this.#options)
    const document = await resolveDid(did, this.#options)
    if (document.claimedHandle !== handle)
      throw new IdentityNotFoundError(handle, `it names ${did}, which does not claim it`)
    return { identity: { did, handle, pds: requirePds(handle, document.pds) }, ttl: TTL }
  }

  async #resolveDid(did: string): Promise<{ identity: Identity; ttl: number }> {
    const { claimedHandle, pds } = await resolveDid(did, this.#options)
    const base = { did, pds: requirePds(did, pds) }
    if (claimedHandle === null) return { identity: { ...base, handle: null }, ttl: TTL }
    const isTheirs = await this.#pointsAt(claimedHandle, did)
    if (isTheirs !== 'unknown') return { identity: { ...base, handle: isTheirs ? claimedHandle : null }, ttl: TTL }
    return { identity: { ...base, handle: null, uncheckedHandle: claimedHandle }, ttl: UNCHECKED_TTL }
  }

  /** A DID works without its handle, so that a handle which cannot be looked up now is no fault. */
  async #pointsAt(handle: string, did: string): Promise<boolean | 'unknown'> {
    try {
      return (await resolveHandle(handle, this.#options)) === did
    } catch (fault) {
      if (fault instanceof IdentityNotFoundError) return false
      if (fault instanceof IdentityUnavailableError) return 'unknown'
      throw fault
    }
  }
}

function requirePds(actor: string, pds: string | null): string {
  if (pds === null) throw new IdentityNotFoundError(actor, 'its DID document names no PDS')
  return pds
}
