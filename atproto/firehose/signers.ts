import type { PublicKey } from '@atcute/crypto'
import type { AccountDocument } from '../identity/did-document.ts'
import { readPublicKey } from './commit-signature.ts'

export interface SignersDeps {
  /** What an account's DID document says now. It may throw: then nothing of the account's can be proven for a while. */
  readonly readDocument: (did: string) => Promise<Pick<AccountDocument, 'signingKey' | 'pds'>>
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly sleep: (milliseconds: number) => Promise<void>
  /** Milliseconds that a caller waits for a document. Default {@link LONGEST_WAIT}. */
  readonly longestWait?: number
}

/** Who signs for an account, and who hosts it. */
export interface Signer {
  readonly key: PublicKey | null
  /** Origin of its PDS. */
  readonly pds: string | null
  readonly readAt: number
}

/** Milliseconds for which a document is believed: as long as identities are elsewhere. */
const TTL = 60 * 60_000
/** Milliseconds after which one that could not be read is asked for again. */
const FAILURE_TTL = 60_000
/** A document is not read again within so many milliseconds, whatever signatures say: anyone can send wrong ones. */
const SHORTEST_INTERVAL = 10_000
/** Milliseconds: the stream is held up meanwhile, and what is not proven does no harm. */
const LONGEST_WAIT = 2000
/** A Worker has six connections, and a document's host can be a stranger that never answers. */
const MAX_LOOKUPS = 3
/** Accounts that are kept: some MB. */
const MAX_ACCOUNTS = 10_000

interface Lookup {
  readonly did: string
  readonly done: PromiseWithResolvers<void>
}

/** The keys of accounts, read when they are first needed, again when one does not fit, and now and then. */
export class Signers {
  readonly #deps: SignersDeps
  /** The oldest first. */
  readonly #known = new Map<string, Signer>()
  readonly #lookups = new Map<string, Lookup>()
  readonly #waiting: Lookup[] = []
  #running = 0

  constructor(deps: SignersDeps) {
    this.#deps = deps
  }

  /** Null: it cannot be told in time. It may be later. */
  async of(did: string): Promise<Signer | null> {
    const known = this.#fresh(did)
    return known ?? this.#read(did)
  }

  /** The same, read again unless that was just now: a signature does not fit. Null also where nothing can be new. */
  async again(did: string): Promise<Signer | null> {
    const known = this.#known.get(did)
    if (known !== undefined && this.#deps.now() - known.readAt < SHORTEST_INTERVAL) return null
    return this.#read(did)
  }

  /** The account says that its document has changed. */
  forget(did: string): void {
    this.#known.delete(did)
  }

  #fresh(did: string): Signer | null {
    const known = this.#known.get(did)
    if (known === undefined) return null
    const ttl = known.key === null ? FAILURE_TTL : TTL
    return this.#deps.now() - known.readAt < ttl ? known : null
  }

  async #read(did: string): Promise<Signer | null> {
    const lookup = this.#lookups.get(did) ?? this.#begin(did)
    await Promise.race([lookup.done.promise, this.#deps.sleep(this.#deps.longestWait ?? LONGEST_WAIT)])
    return this.#lookups.get(did) === lookup ? null : this.#fresh(did)
  }

  #begin(did: string): Lookup {
    const lookup = { did, done: Promise.withResolvers<void>() }
    this.#lookups.set(did, lookup)
    this.#waiting.push(lookup)
    this.#runNext()
    return lookup
  }

  #runNext(): void {
    while (this.#running < MAX_LOOKUPS) {
      const lookup = this.#waiting.shift()
      if (lookup === undefined) return
      this.#running++
      void this.#run(lookup).finally(() => {
        this.#running--
        this.#runNext()
      })
    }
  }

  async #run({ did, done }: Lookup): Promise<void> {
    const signer = await this.#readSigner(did)
    this.#known.delete(did)
    if (this.#known.size === MAX_ACCOUNTS) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(did, signer)
    this.#lookups.delete(did)
    done.resolve()
  }

  async #readSigner(did: string): Promise<Signer> {
    try {
      const { signingKey, pds } = await this.#deps.readDocument(did)
      const key = signingKey === null ? null : await readPublicKey(signingKey)
      return { key, pds, readAt: this.#deps.now() }
    } catch {
      // Not there, or not now: either way nothing is proven.
      return { key: null, pds: null, readAt: this.#deps.now() }
    }
  }
}
