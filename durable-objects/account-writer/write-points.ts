import { PdsBudgetError } from '../../atproto/pds/pds-error.ts'
import type { Write } from '../../atproto/pds/write.ts'
import type { AccountStore } from './session-keeper.ts'

/** What the reference PDS counts for a write (`rate-limits.ts` of @atproto/pds). */
const POINTS: Record<Write['action'], number> = { create: 3, update: 2, delete: 1 }

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** So many points in so many milliseconds. */
export interface PointLimit {
  readonly points: number
  readonly window: number
}

/** What the reference PDS grants an account. */
const POINT_LIMITS: readonly PointLimit[] = [
  { points: 5_000, window: HOUR },
  { points: 35_000, window: DAY },
]

/** Points are kept by intervals of this length, in milliseconds: 145 numbers are a day. */
const INTERVAL = 10 * MINUTE
const STORED_AS = 'write-points'

/** Points by the interval that they were spent in, the oldest first. `at` is its start in milliseconds since 1970. */
type Spent = readonly { readonly at: number; readonly points: number }[]

interface Kept {
  readonly spent: Spent
  /** Whether the host counts writes, by its last answer; null: it has not answered one yet. */
  readonly isCounted: boolean | null
}

export interface WritePointsDeps {
  /** Of the PDS, for messages. */
  readonly host: string
  readonly store: AccountStore
  /** Milliseconds since 1970. */
  now(): number
  readonly limits?: readonly PointLimit[]
}

/** The points that these writes cost. */
export function pointsOf(writes: readonly Write[]): number {
  return writes.reduce((sum, { action }) => sum + POINTS[action], 0)
}

/**
 * The write points that an account has left. A PDS grants so many an hour and a day, and answers 429 beyond: whoever
 * counts himself can say when there will be room, and leaves the PDS alone until then. Counted over the last hour and
 * day, so that wherever the host's own window begins, it has not more in it. Hosts that do not count are not counted for.
 */
export class WritePoints {
  readonly #deps: WritePointsDeps
  #kept: Kept | null = null

  constructor(deps: WritePointsDeps) {
    this.#deps = deps
  }

  /**
   * Takes what a batch costs, whether it will succeed or not: the PDS counts before it looks.
   *
   * @throws {@link PdsBudgetError} with the seconds until there is room for it
   */
  async take(writes: readonly Write[]): Promise<void> {
    const kept = await this.#load()
    const { host, limits = POINT_LIMITS, now } = this.#deps
    const time = now()
    const cost = pointsOf(writes)
    if (kept.isCounted !== false) {
      const until = Math.max(...limits.map((limit) => roomAt(kept.spent, limit, cost, time)))
      if (until > time) throw new PdsBudgetError(host, new Date(until), Math.ceil((until - time) / 1000))
    }
    await this.#save({ ...kept, spent: spend(kept.spent, cost, time, Math.max(...limits.map(({ window }) => window))) })
  }

  /** Learns from an answer whether the host counts writes. */
  async learn(isCounted: boolean): Promise<void> {
    const kept = await this.#load()
    if (kept.isCounted !== isCounted) await this.#save({ ...kept, isCounted })
  }

  async #load(): Promise<Kept> {
    this.#kept ??= (await this.#deps.store.get<Kept>(STORED_AS)) ?? { spent: [], isCounted: null }
    return this.#kept
  }

  async #save(kept: Kept): Promise<void> {
    this.#kept = kept
    await this.#deps.store.put(STORED_AS, kept)
  }
}

/** When a batch of this cost has room in a window, in milliseconds since 1970: `now`, or later. */
function roomAt(spent: Spent, { points, window }: PointLimit, cost: number, now: number): number {
  const counted = spent.filter(({ at }) => endOf(at) + window > now)
  let sum = counted.reduce((total, each) => total + each.points, 0)
  let time = now
  // What is larger than the whole window goes when nothing else is in it: the host says what it makes of that.
  for (const { at, points: gone } of counted) {
    if (sum + cost <= points) break
    sum -= gone
    time = endOf(at) + window
  }
  return time
}

function spend(spent: Spent, points: number, now: number, longest: number): Spent {
  const at = now - (now % INTERVAL)
  const current = spent.filter((each) => endOf(each.at) + longest > now)
  const last = current.at(-1)
  if (last?.at !== at) return [...current, { at, points }]
  return [...current.slice(0, -1), { at, points: last.points + points }]
}

/** All that was spent in an interval counts as if it had been spent at its end. */
function endOf(at: number): number {
  return at + INTERVAL
}
