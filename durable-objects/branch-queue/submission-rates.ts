import { SUBMISSIONS } from './limits.ts'

/** Submitters that are counted at once; those who came least lately are counted anew. */
const MOST_SUBMITTERS = 1_000

export interface RateLimit {
  /** So many may come at the same time. */
  readonly atOnce: number
  /** Then one in each of these, in milliseconds. */
  readonly eachMilliseconds: number
}

/** How often each submitter may hand something in. Counted in memory: an object that has slept counts anew. */
export class SubmissionRates {
  readonly #limit: RateLimit
  /** When each will have all of them free again, in milliseconds since 1970. */
  readonly #fullAt = new Map<string, number>()

  constructor(limit: RateLimit = SUBMISSIONS) {
    this.#limit = limit
  }

  /** Counts one more. @returns after how many seconds to come again instead, or null. */
  take(submitter: string, now: number): number | null {
    const { atOnce, eachMilliseconds } = this.#limit
    const fullAt = Math.max(this.#fullAt.get(submitter) ?? 0, now) + eachMilliseconds
    const early = fullAt - now - atOnce * eachMilliseconds
    if (early > 0) return Math.ceil(early / 1000)
    this.#fullAt.delete(submitter)
    this.#fullAt.set(submitter, fullAt)
    if (this.#fullAt.size > MOST_SUBMITTERS) this.#fullAt.delete(this.#fullAt.keys().next().value!)
    return null
  }
}
