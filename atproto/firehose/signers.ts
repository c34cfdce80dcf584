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
}

/** Milliseconds for which a document is believed: as long as identities are elsewhere. */
const TTL = 60 * 60_000
/** Milliseconds after which one that could not be read, or has no key, is asked for again: the first time, and, doubled, the longest. */
const FIRST_FAILURE_TTL = 60_000
const LONGEST_FAILURE_TTL = 15 * 60_000
/** A document is not read again within so many milliseconds, whatever signatures or the account say: anyone can send wrong ones. */
const SHORTEST_INTERVAL = 10_000
/** Milliseconds: the stream is held up meanwhile, and what is not proven does no harm. */
const LONGEST_WAIT = 2000
/** Where somebody has waited in vain, nobody waits for so many milliseconds: a stream is held up for a thirtieth of its time at most. */
const IMPATIENT_FOR = 60_000
/** Accounts that are kept: some MB. */
const MAX_ACCOUNTS = 10_000
/** Look-ups that wait for their turn. With more, it is as if a host did not answer. */
const MAX_WAITING = 500

/** What is known of an account. */
interface Known {
  readonly signer: Signer
  readonly readAt: number
  /** How often in a row nothing came of it. */
  readonly failures: number
  /** Whether it took longer than anybody waits: it is read behind the back of whoever asks. */
  readonly isSlow: boolean
  /** The account says that it has changed since. */
  isOutdated: boolean
}

interface Lookup {
  readonly did: string
  readonly done: PromiseWithResolvers<true>
  isOutdated: boolean
  isSlow: boolean
}

/**
 * Look-ups that do not wait for others: the PLC directory answers, and a did:web names a host that may be a stranger's, and
 * never do.
 */
interface Lane {
  /** How many go on at the same time. A Worker has six connections. */
  readonly atOnce: number
  running: number
  readonly waiting: Lookup[]
  impatientUntil: number
}

/**
 * The keys of accounts, read when they are first needed, again when one does not fit, and now and then. Whatever hosts of
 * documents do, a caller is held up seldom, and never for long: what cannot be told in time is not proven, which does no harm.
 */
export class Signers {
  readonly #deps: SignersDeps
  readonly #longestWait: number
  /** The oldest first. */
  readonly #known = new Map<string, Known>()
  readonly #lookups = new Map<string, Lookup>()
  readonly #plc: Lane = { atOnce: 2, running: 0, waiting: [], impatientUntil: 0 }
  readonly #web: Lane = { atOnce: 1, running: 0, waiting: [], impatientUntil: 0 }

  constructor(deps: SignersDeps) {
    this.#deps = deps
    this.#longestWait = deps.longestWait ?? LONGEST_WAIT
  }

  /** Null: it cannot be told in time. It may be later. */
  async of(did: string): Promise<Signer | null> {
    const known = this.#known.get(did)
    if (known === undefined || this.#isDue(known)) return this.#read(did)
    return known.isOutdated ? null : known.signer
  }

  /** The same, read again unless that was just now: a signature does not fit. Null also where nothing can be new. */
  async again(did: string): Promise<Signer | null> {
    const known = this.#known.get(did)
    if (known === undefined || this.#isDue(known)) return this.#read(did)
    const isRecent = this.#deps.now() - known.readAt < SHORTEST_INTERVAL
    return known.failures > 0 || isRecent ? null : this.#read(did)
  }

  /** The account says that its document has changed. One that cannot be read is not asked for sooner because of that. */
  forget(did: string): void {
    const known = this.#known.get(did)
    if (known !== undefined) known.isOutdated = true
    const lookup = this.#lookups.get(did)
    if (lookup !== undefined) lookup.isOutdated = true
  }

  #isDue({ readAt, failures, isOutdated }: Known): boolean {
    const age = this.#deps.now() - readAt
    if (failures > 0) return age >= Math.min(LONGEST_FAILURE_TTL, FIRST_FAILURE_TTL * 2 ** (failures - 1))
    return age >= (isOutdated ? SHORTEST_INTERVAL : TTL)
  }

  async #read(did: string): Promise<Signer | null> {
    const { now, sleep } = this.#deps
    const lookup = this.#lookups.get(did) ?? this.#begin(did)
    const lane = this.#laneOf(did)
    if (lookup === null || this.#known.get(did)?.isSlow || now() < lane.impatientUntil) return null
    const isDone = await Promise.race([lookup.done.promise, sleep(this.#longestWait)])
    if (isDone !== true) {
      lookup.isSlow = true
      lane.impatientUntil = now() + IMPATIENT_FOR
      return null
    }
    const known = this.#known.get(did)
    return known === undefined || known.isOutdated ? null : known.signer
  }

  /** Null: too many wait. */
  #begin(did: string): Lookup | null {
    const lane = this.#laneOf(did)
    if (lane.waiting.length >= MAX_WAITING) return null
    const lookup = { did, done: Promise.withResolvers<true>(), isOutdated: false, isSlow: false }
    this.#lookups.set(did, lookup)
    lane.waiting.push(lookup)
    this.#runNext(lane)
    return lookup
  }

  #laneOf(did: string): Lane {
    return did.startsWith('did:plc:') ? this.#plc : this.#web
  }

  #runNext(lane: Lane): void {
    while (lane.running < lane.atOnce) {
      const lookup = lane.waiting.shift()
      if (lookup === undefined) return
      lane.running++
      void this.#run(lookup).finally(() => {
        lane.running--
        this.#runNext(lane)
      })
    }
  }

  async #run(lookup: Lookup): Promise<void> {
    const { did, done } = lookup
    const { now } = this.#deps
    const begunAt = now()
    // What the account says from here on, the document may not say yet.
    lookup.isOutdated = false
    const signer = await this.#readSigner(did)
    const failures = signer.key === null ? (this.#known.get(did)?.failures ?? 0) + 1 : 0
    const isSlow = lookup.isSlow || now() - begunAt >= this.#longestWait
    this.#known.delete(did)
    if (this.#known.size === MAX_ACCOUNTS) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(did, { signer, readAt: now(), failures, isSlow, isOutdated: lookup.isOutdated })
    this.#lookups.delete(did)
    done.resolve(true)
  }

  async #readSigner(did: string): Promise<Signer> {
    try {
      const { signingKey, pds } = await this.#deps.readDocument(did)
      return { key: signingKey === null ? null : await readPublicKey(signingKey), pds }
    } catch {
      // Not there, or not now: either way nothing is proven.
      return { key: null, pds: null }
    }
  }
}
