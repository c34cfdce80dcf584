import { drizzle } from 'drizzle-orm/d1'
import { type Environment, readUpstreams } from '../durable-objects/environment.ts'
import type { FirehoseStatus } from '../durable-objects/firehose/answers.ts'
import { followUpstreams } from '../durable-objects/firehose/upstreams.ts'
import { httpErrorFrom } from './http/error-from.ts'
import { type IndexCounts, readIndexCounts } from './index-counts.ts'

/** An upstream that is so far behind, or cannot be reached for so long, is what somebody has to know of. Milliseconds. */
const BEHIND_AFTER = 5 * 60_000
const UNREACHABLE_AFTER = 3 * 60_000
/** Of a stream on which nothing has come for so long it is all read. Milliseconds. */
const QUIET_AFTER = 60_000
/** Whoever asks: whole tables are counted no more often in an isolate. Milliseconds. */
const COUNTS_KEPT_FOR = 5_000

/**
 * - `behind`: what it says is read or applied minutes late.
 * - `unreachable`: it has not been connected for minutes though it was to be, or its object does not answer.
 */
export type UpstreamState = 'ok' | 'behind' | 'unreachable'

/** Null: its object did not answer. @param now milliseconds since 1970 */
export function upstreamState(status: FirehoseStatus | null, now: number): UpstreamState {
  if (status === null) return 'unreachable'
  const { isConnected, isPaused, reachedAt, lastFrameAt, lag, oldestPendingAt } = status
  // While it is paused, nobody tries to reach it: too much of what it has said is not applied.
  if (!isConnected && !isPaused && now - Math.max(reachedAt, lastFrameAt ?? 0) > UNREACHABLE_AFTER) return 'unreachable'
  if (oldestPendingAt !== null && now - oldestPendingAt > BEHIND_AFTER) return 'behind'
  const isReading = lastFrameAt !== null && now - lastFrameAt < QUIET_AFTER
  return isReading && lag !== null && lag > BEHIND_AFTER ? 'behind' : 'ok'
}

/** A value that is read anew when it is old. */
export class KeptValue<T> {
  readonly #keptFor: number
  #kept: { readonly value: Promise<T>; readonly readAt: number } | null = null

  /** @param keptFor milliseconds */
  constructor(keptFor: number) {
    this.#keptFor = keptFor
  }

  /** Those who come at the same time wait for one reading; one that has failed is not kept. */
  read(readNow: () => Promise<T>, now: number): Promise<T> {
    if (this.#kept !== null && now - this.#kept.readAt < this.#keptFor) return this.#kept.value
    const kept = { value: readNow(), readAt: now }
    this.#kept = kept
    kept.value.catch(() => {
      if (this.#kept === kept) this.#kept = null
    })
    return kept.value
  }
}

const counts = new KeptValue<IndexCounts>(COUNTS_KEPT_FOR)

/** `GET /health`: how the following of the network goes. 503 where somebody has to look at it. See docs/operating.md. */
export async function health(environment: Environment): Promise<Response> {
  try {
    const now = Date.now()
    const upstreams = readUpstreams(environment)
    const [statuses, { accountsWanted, accountsDue, deadLetters, droppedRecords }] = await Promise.all([
      followUpstreams(environment),
      counts.read(() => readIndexCounts(drizzle(environment.DB), now), now),
    ])
    const shown = upstreams.map(({ name, protocol }) => {
      const status = statuses.find(({ upstream }) => upstream === name) ?? null
      return { ...describe(name, status, now), state: upstreamState(status, now), protocol }
    })
    const isWell = shown.every(({ state }) => state === 'ok')
    return answer(isWell ? 200 : 503, {
      status: isWell ? 'ok' : 'failing',
      upstreams: shown,
      accountsWanted: { all: accountsWanted, due: accountsDue },
      deadLetters,
      droppedRecords,
    })
  } catch (error) {
    const { message } = httpErrorFrom(error)
    return answer(503, { status: 'failing', message })
  }
}

/** Times as seconds that have passed. The query of a URL may hold what is nobody else's. */
function describe(name: string, status: FirehoseStatus | null, now: number): Record<string, unknown> {
  const upstream = name.split('?')[0]
  if (status === null) return { upstream }
  const { isConnected, isPaused, cursor, lag, lastEventAt, lastFrameAt, pendingBatches, oldestPendingAt, lastError } =
    status
  const since = (time: number | null) => (time === null ? null : Math.max(0, Math.round((now - time) / 1000)))
  return {
    upstream,
    isConnected,
    isPaused,
    lagSeconds: lag === null ? null : Math.round(lag / 1000),
    cursor,
    // What is read and applied up to there: as old as the oldest that is not, or as the newest that is.
    cursorAgeSeconds: since(oldestPendingAt ?? lastEventAt),
    lastFrameSeconds: since(lastFrameAt),
    pendingBatches,
    lastError: lastError && { secondsAgo: since(lastError.at), message: lastError.message },
    counts: status.counts,
  }
}

function answer(status: number, body: object): Response {
  return Response.json(body, { status, headers: { 'Cache-Control': 'no-store', 'Access-Control-Allow-Origin': '*' } })
}
