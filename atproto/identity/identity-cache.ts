import type { Identity } from './identity.ts'

/** Keeps identities by the handle or DID that they were asked for. */
export interface IdentityCache {
  /** Null if it is not kept, or no longer fresh. */
  get(actor: string): Promise<Identity | null>
  /** Keeps it for `ttl` seconds. */
  put(actor: string, identity: Identity, ttl: number): Promise<void>
}

/** At most this many are kept in memory: a few hundred bytes each. */
const DEFAULT_CAPACITY = 10_000

/** An {@link IdentityCache} in memory that forgets the longest unused first. */
export class MemoryIdentityCache implements IdentityCache {
  readonly #kept = new Map<string, { identity: Identity; until: number }>()
  readonly #capacity: number
  readonly #now: () => number

  /** @param now milliseconds since 1970 */
  constructor(capacity = DEFAULT_CAPACITY, now = () => Date.now()) {
    this.#capacity = capacity
    this.#now = now
  }

  async get(actor: string): Promise<Identity | null> {
    const kept = this.#kept.get(actor)
    if (!kept) return null
    this.#kept.delete(actor)
    if (kept.until <= this.#now()) return null
    this.#kept.set(actor, kept)
    return kept.identity
  }

  async put(actor: string, identity: Identity, ttl: number): Promise<void> {
    this.#kept.delete(actor)
    this.#kept.set(actor, { identity, until: this.#now() + ttl * 1000 })
    if (this.#kept.size > this.#capacity) this.#kept.delete(this.#kept.keys().next().value!)
  }
}
