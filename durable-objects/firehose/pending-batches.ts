import type { StreamEvent } from '../../atproto/firehose/stream-event.ts'
import type { EventsMessage } from '../../storage/index/messages.ts'
import type { BatchStore } from './batch-store.ts'
import type { FirehoseLimits } from './limits.ts'
import { patienceAfter } from './pauses.ts'

export interface BatchDeps {
  readonly store: BatchStore
  readonly limits: FirehoseLimits
  /** Hands a batch to whoever applies it. */
  readonly send: (message: EventsMessage) => Promise<void>
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly onRewind: (batch: number) => void
}

/**
 * What was sent and is not applied, or not known to be. Each batch is a row before it is sent; one that is not applied in time is
 * read again, it and all after it.
 */
export class PendingBatches {
  readonly #deps: BatchDeps
  readonly #upstream: string
  readonly #onUnsent: (error: unknown) => void
  /** What was sent and has not arrived. */
  readonly #sending = new Set<Promise<void>>()
  /** How often in a row something was read again. */
  #rewinds = 0
  /** When a batch was last applied. */
  #progressAt: number
  #highestApplied = 0
  readonly #counts = { batches: 0, rewinds: 0 }

  /** @param onUnsent one did not arrive: the place is before it again */
  constructor(deps: BatchDeps, upstream: string, onUnsent: (error: unknown) => void) {
    this.#deps = deps
    this.#upstream = upstream
    this.#onUnsent = onUnsent
    this.#progressAt = deps.now()
  }

  /** Whether there are as many as there may be. */
  get isFull(): boolean {
    return this.#deps.store.pendingCount() >= this.#deps.limits.pendingBatches
  }

  /** Whether there are so few that it is worth to read on. */
  get isHalfEmpty(): boolean {
    return this.#deps.store.pendingCount() <= this.#deps.limits.pendingBatches / 2
  }

  /** Since the object woke. */
  get counts(): { readonly batches: number; readonly rewinds: number } {
    return this.#counts
  }

  /** Writes a batch down, and sends it. @param position up to which all is in batches with it */
  add(events: readonly StreamEvent[], position: number | null): void {
    const { store, now } = this.#deps
    const batch = store.addBatch(position, now())
    this.#counts.batches++
    const sending = this.#send({ kind: 'events', upstream: this.#upstream, batch, events }).finally(() => {
      this.#sending.delete(sending)
    })
    this.#sending.add(sending)
  }

  /** Waits until another may be on its way. */
  async hasRoom(): Promise<void> {
    while (this.#sending.size >= this.#deps.limits.sendsAtOnce) await Promise.race(this.#sending)
  }

  /** @returns whether any of them was waited for */
  applied(numbers: readonly number[]): boolean {
    const { store, now } = this.#deps
    const oldest = store.oldest()
    if (store.removeBatches(numbers) === 0) return false
    this.#progressAt = now()
    this.#highestApplied = Math.max(this.#highestApplied, ...numbers)
    if (oldest !== null && numbers.includes(oldest.number)) this.#rewinds = 0
    return true
  }

  /** Goes back to before the oldest one, if that was waited for long enough. @returns whether it did */
  rewindIfStuck(): boolean {
    const { store, limits, now, onRewind } = this.#deps
    const oldest = store.oldest()
    if (oldest === null) return false
    // As long as others are applied that were sent before it, it has its turn.
    const isOvertaken = this.#highestApplied > oldest.number
    const since = isOvertaken ? oldest.sentAt : Math.max(oldest.sentAt, this.#progressAt)
    if (now() - since < patienceAfter(this.#rewinds, limits)) return false
    this.#rewinds++
    this.#counts.rewinds++
    onRewind(oldest.number)
    store.rewind()
    this.#progressAt = now()
    return true
  }

  async #send(message: EventsMessage): Promise<void> {
    const { send, store } = this.#deps
    try {
      await send(message)
    } catch (error) {
      if (store.rewind(message.batch)) this.#onUnsent(error)
    }
  }
}
