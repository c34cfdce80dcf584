import type { MirrorStore } from '../../storage/mirror/mirror-store.ts'
import { GRACE_PERIOD } from '../../storage/mirror/pack-merges.ts'
import type { StandingState } from '../../storage/mirror/standing.ts'
import { blockReason } from '../../storage/operator/blocks.ts'
import type { MirrorRegister } from '../../storage/operator/mirror-register.ts'
import type { RepositoryKey } from '../../storage/repository-key.ts'
import type { SizeCaps } from '../environment.ts'
import { blockedMessage } from '../operator-words.ts'
import { type Room, roomOf } from '../size-caps.ts'
import type { Refused, Unavailable } from './answers.ts'

export interface OversightDeps {
  readonly store: Pick<MirrorStore, 'accountBytes' | 'head' | 'packs' | 'standing'>
  readonly register: Pick<MirrorRegister, 'exchange' | 'remove'>
  readonly caps: SizeCaps
  /** After how many milliseconds without a use a mirror is dropped; null: never. */
  readonly evictAfter: number | null
  /** Milliseconds since 1970. */
  now(): number
  log(event: string, fields: Record<string, unknown>): void
}

/** D1 is not asked again sooner. Milliseconds. */
const ASKED_FOR = 10_000
/** After so long it is asked behind the back of whoever comes, where an answer from then may keep them out. Milliseconds. */
const STALE_AFTER = 60_000
/** An account whose repository was too large is looked at again, for whoever asks: it may have shrunk. Milliseconds. */
const REFUSED_FOR = 10 * 60_000
/** The times of use that D1 has are so far behind at most. Milliseconds. */
const USE_TOLD_EVERY = 24 * 60 * 60_000

/**
 * What the operator has to say of one repository: whether it is blocked, how large it may be, and when its mirror is
 * dropped. D1 knows who is blocked, and what all mirrors of an account take. It is asked before an account is read, and
 * the operator's methods tell the object itself; so no request to a warm mirror waits for D1.
 */
export class Oversight {
  readonly #deps: OversightDeps
  /** Questions to D1, and the last of them whose answer has come. */
  #asked = 0
  #heard = 0

  constructor(deps: OversightDeps) {
    this.#deps = deps
  }

  get #state(): StandingState | null {
    return this.#deps.store.standing.state
  }

  /** Why nothing of the repository is served or taken in, as far as is known here; null: it is. */
  refusal(): Refused | null {
    const state = this.#state
    if (state === null) return null
    if (state.blocked !== null) return blockedBy(state.blocked)
    if (state.refused === null || this.#deps.now() - state.refused.at >= REFUSED_FOR) return null
    return this.#overCap(state.refused.bytes)
  }

  /** Whether D1 must be asked before anybody is answered: a mirror of before it could be. */
  get isUnknown(): boolean {
    return this.#state === null && this.#deps.store.head() !== null
  }

  /** Whether D1 is to be asked, though nobody needs to wait for it: what it said may not be so any more. */
  get isStale(): boolean {
    const state = this.#state
    if (state === null || this.#deps.now() - state.askedAt < STALE_AFTER) return false
    return state.blocked !== null || this.#deps.caps.account !== null
  }

  /**
   * Exchanges what is known with D1, unless that was done a moment ago.
   *
   * @returns why the repository may not be read; null: it may
   */
  async ask(key: RepositoryKey): Promise<Refused | Unavailable | null> {
    const { now, log } = this.#deps
    const state = this.#state
    if (state !== null && now() - state.askedAt < ASKED_FOR) return this.refusal()
    try {
      await this.#exchange(key)
    } catch (error) {
      log('operator-unasked', { ...keyOf(key), reason: String(error) })
      if (this.#state === null) return UNASKED
    }
    return this.refusal()
  }

  /** Asks D1 now: something has changed there. @throws what D1 throws */
  async askAgain(key: RepositoryKey): Promise<Refused | null> {
    await this.#exchange(key)
    return this.refusal()
  }

  async #exchange(key: RepositoryKey): Promise<void> {
    const { register, store, now } = this.#deps
    const number = ++this.#asked
    const askedAt = now()
    const told = { bytes: store.accountBytes(), usedAt: this.#state?.usedAt ?? askedAt }
    const isNews = this.#isNews(told)
    const { blocks, othersBytes } = await register.exchange({ ...keyOf(key), ...told }, isNews)
    // Answers may overtake each other.
    if (number < this.#heard) return
    this.#heard = number
    const usedAt = this.#state?.usedAt ?? askedAt
    const news = isNews ? { told } : {}
    store.standing.set({ blocked: blockReason(blocks, key.rkey), askedAt, othersBytes, usedAt, ...news })
  }

  #isNews({ bytes, usedAt }: { readonly bytes: number; readonly usedAt: number }): boolean {
    const told = this.#state?.told ?? null
    return told === null || told.bytes !== bytes || usedAt - told.usedAt >= USE_TOLD_EVERY
  }

  /** What may still be pushed; null: there is no cap. */
  room(): Room | null {
    const { caps, store } = this.#deps
    if (caps.repository === null && caps.account === null) return null
    return roomOf(caps, { repository: store.accountBytes(), others: this.#state?.othersBytes ?? 0 })
  }

  /**
   * Whether what is wanted is more than may be. What is here already is served on, also where a cap was lowered.
   *
   * @returns why it is not taken in; null: it may be. From then on it is refused, until it or the cap has changed
   */
  judgeSize(): Refused | null {
    const { store, now } = this.#deps
    const room = this.room()
    const isOver = room !== null && room.bytes < 0 && store.packs('wanted').length > 0
    if (isOver) {
      store.standing.set({ refused: { bytes: store.accountBytes(), at: now() } })
      return refusedFor(room)
    }
    if (this.#state?.refused != null) store.standing.set({ refused: null })
    return null
  }

  #overCap(repository: number): Refused | null {
    const room = roomOf(this.#deps.caps, { repository, others: this.#state?.othersBytes ?? 0 })
    return room === null || room.bytes >= 0 ? null : refusedFor(room)
  }

  /** When the object has to look after itself, in milliseconds since 1970; null: there is nothing. */
  nextDue(): number | null {
    const times = [this.#unusedAt(), this.#tellAt()].filter((time) => time !== null)
    return times.length === 0 ? null : Math.min(...times)
  }

  /** Whether nobody has used the mirror for so long that it is to be dropped. */
  isUnused(): boolean {
    const time = this.#unusedAt()
    return time !== null && time <= this.#deps.now()
  }

  /** Whether D1 should hear how large the mirror is by now: it is what other repositories of the account go by. */
  mustTell(): boolean {
    const time = this.#tellAt()
    return time !== null && time <= this.#deps.now()
  }

  #unusedAt(): number | null {
    const { evictAfter, store } = this.#deps
    if (evictAfter === null || this.#state === null || store.head() === null) return null
    // Whoever began to read then may read still.
    return this.#state.usedAt + Math.max(evictAfter, GRACE_PERIOD)
  }

  #tellAt(): number | null {
    const state = this.#state
    if (this.#deps.caps.account === null || state === null || this.#deps.store.head() === null) return null
    return state.told?.bytes === this.#deps.store.accountBytes() ? null : state.askedAt + STALE_AFTER
  }

  /** Has D1 forget the mirror, before it is dropped. @returns false: somebody uses it again, or it is blocked */
  async giveUp(key: RepositoryKey): Promise<boolean> {
    const { register, store } = this.#deps
    await register.remove(key)
    if (this.#state?.blocked == null && (store.head() === null || this.isUnused())) return true
    store.standing.set({ told: null, askedAt: 0 })
    await this.ask(key)
    return false
  }
}

function keyOf({ did, rkey }: RepositoryKey): RepositoryKey {
  return { did, rkey }
}

const UNASKED: Unavailable = {
  state: 'unavailable',
  message: 'a part of the edge cannot be reached now',
  retryAfterSeconds: 10,
}

function blockedBy(reason: string): Refused {
  return { state: 'refused', reason: 'blocked', message: blockedMessage(reason) }
}

function refusedFor({ message }: Room): Refused {
  return { state: 'refused', reason: 'over-cap', message: `this repository is not mirrored: ${message}` }
}
