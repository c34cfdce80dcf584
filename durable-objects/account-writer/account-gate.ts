import { type AccountBlocks, blockReason } from '../../storage/operator/blocks.ts'
import { blockedMessage, NOT_WRITTEN } from '../operator-words.ts'
import { type Refusal, refusal } from './answers.ts'

export interface AccountGateDeps {
  /** The object's own: what D1 said is kept there. */
  readonly store: Pick<DurableObjectStorage, 'get' | 'put'>
  /** What D1 says of the account. */
  blocksOf(did: string): Promise<AccountBlocks>
  mayPush(did: string): boolean
  /** Milliseconds since 1970. */
  now(): number
  /** Lets work go on for which nobody waits. */
  waitUntil(work: Promise<unknown>): void
  log(event: string, fields: Record<string, unknown>): void
}

interface Heard {
  readonly blocks: AccountBlocks
  /** Milliseconds since 1970. */
  readonly askedAt: number
}

const KEY = 'operator-blocks'
/** What keeps somebody out is looked up again after so long, behind their back. Milliseconds. */
const STALE_AFTER = 60_000
/** Where D1 does not answer. Seconds. */
const RETRY_AFTER = 10

/** What the operator lets be written to one account. D1 is asked once; from then on, the operator's methods say what is new. */
export class AccountGate {
  readonly #deps: AccountGateDeps
  #heard: Promise<Heard> | null = null
  #asked = 0

  constructor(deps: AccountGateDeps) {
    this.#deps = deps
  }

  /**
   * Why the account, or one repository of it, may not be written to; null: it may.
   *
   * @param rkey null: it is about no repository
   */
  async refusal(did: string, rkey: string | null): Promise<Refusal | null> {
    const { mayPush, now, waitUntil, log } = this.#deps
    if (!mayPush(did)) return refusal('blocked', NOT_WRITTEN)
    this.#heard ??= this.#load(did)
    const heard = await this.#heard.catch((error: unknown) => {
      log('operator-unasked', { did, reason: String(error) })
      return null
    })
    if (heard === null) {
      this.#heard = null
      return refusal('unreachable', 'a part of the edge cannot be reached now', RETRY_AFTER)
    }
    const { blocks, askedAt } = heard
    const reason = rkey === null ? blocks.account : blockReason(blocks, rkey)
    if (reason === null) return null
    if (now() - askedAt >= STALE_AFTER) waitUntil(this.#lookAgain(did))
    return refusal('blocked', blockedMessage(reason))
  }

  /** Asks D1 now: something has changed there. @throws what D1 throws */
  async askAgain(did: string): Promise<void> {
    const number = ++this.#asked
    const askedAt = this.#deps.now()
    const heard = { blocks: await this.#deps.blocksOf(did), askedAt }
    // Who has asked later knows better.
    if (number < this.#asked) return
    await this.#deps.store.put(KEY, heard)
    this.#heard = Promise.resolve(heard)
  }

  async #load(did: string): Promise<Heard> {
    const kept = await this.#deps.store.get<Heard>(KEY)
    if (kept !== undefined) return kept
    const askedAt = this.#deps.now()
    const heard = { blocks: await this.#deps.blocksOf(did), askedAt }
    if (this.#asked === 0) await this.#deps.store.put(KEY, heard)
    return heard
  }

  async #lookAgain(did: string): Promise<void> {
    try {
      await this.askAgain(did)
    } catch (error) {
      this.#deps.log('operator-unasked', { did, reason: String(error) })
    }
  }
}
