import { log } from '../../../durable-objects/log.ts'
import { LruCache } from '../../../git/bytes/lru-cache.ts'
import type { Oid } from '../../../git/bytes/oid.ts'
import { factsKey } from '../../../storage/packs/pack-keys.ts'
import type { RepositoryView } from '../../../storage/repository-view.ts'
import { type Facts, gatherFacts } from './gather-facts.ts'

/** What is known of a repository beside what a request reads. */
export interface FactsKeeper {
  /** The newest that is kept; null: nothing yet. */
  find(): Promise<Facts | null>
  /** Has those of a commit gathered after the answer, where they are not what is kept. */
  renew(view: RepositoryView, tip: { readonly commit: Oid; readonly tree: Oid }, kept: Facts | null): void
}

/** Repositories whose facts an isolate keeps. */
const AT_HAND = 500
const atHand = new LruCache<string, Facts>(AT_HAND, () => 1)
/** Being gathered by this isolate. */
const underWay = new Set<string>()
/** Where commits come all day, what they change of this is not worth more. Milliseconds. */
const FRESH_FOR = 60 * 60_000

/** Raised where the same repository has other facts. */
const VERSION = 1

/** Kept in R2, beside the packs. */
export class R2Facts implements FactsKeeper {
  readonly #bucket: R2Bucket
  readonly #key: string
  readonly #waitUntil: (work: Promise<unknown>) => void

  constructor(bucket: R2Bucket, did: string, rkey: string, waitUntil: (work: Promise<unknown>) => void) {
    this.#bucket = bucket
    this.#key = factsKey(did, rkey)
    this.#waitUntil = waitUntil
  }

  async find(): Promise<Facts | null> {
    const known = atHand.get(this.#key)
    if (known !== undefined) return known
    const object = await this.#bucket.get(this.#key)
    if (object === null) return null
    const { version, facts } = await object.json<{ version: number; facts: Facts }>()
    if (version !== VERSION) return null
    atHand.set(this.#key, facts)
    return facts
  }

  renew(view: RepositoryView, tip: { readonly commit: Oid; readonly tree: Oid }, kept: Facts | null): void {
    if (kept !== null && (kept.commit === tip.commit || Date.now() - kept.at < FRESH_FOR)) return
    if (underWay.has(this.#key)) return
    underWay.add(this.#key)
    this.#waitUntil(this.#gather(view, tip).finally(() => underWay.delete(this.#key)))
  }

  async #gather(view: RepositoryView, tip: { readonly commit: Oid; readonly tree: Oid }): Promise<void> {
    try {
      const facts = await gatherFacts(view, tip, Date.now())
      atHand.set(this.#key, facts)
      await this.#bucket.put(this.#key, JSON.stringify({ version: VERSION, facts }))
    } catch (error) {
      // The page goes without.
      log('facts-not-gathered', { key: this.#key, reason: String(error) })
    }
  }
}
