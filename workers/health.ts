import { drizzle } from 'drizzle-orm/d1'
import { type Environment, readUpstreams } from '../durable-objects/environment.ts'
import type { FirehoseStatus } from '../durable-objects/firehose/answers.ts'
import { followUpstreams } from '../durable-objects/firehose/upstreams.ts'
import { AccountWants } from '../storage/index/account-wants.ts'
import { DeadLetters } from '../storage/index/dead-letters.ts'
import { DroppedRecords } from '../storage/index/dropped-records.ts'
import { httpErrorFrom } from './http/error-from.ts'

/** An upstream that is so far behind, or cannot be reached for so long, is what somebody has to know of. Milliseconds. */
const BEHIND_AFTER = 5 * 60_000
const UNREACHABLE_AFTER = 3 * 60_000
/** Of a stream on which nothing has come for so long it is all read. Milliseconds. */
const QUIET_AFTER = 60_000

/**
 * - `behind`: what it says is read or applied minutes late.
 * - `unreachable`: it has not been connected for minutes, or its object does not answer.
 */
export type UpstreamState = 'ok' | 'behind' | 'unreachable'

/** Null: its object did not answer. @param now milliseconds since 1970 */
export function upstreamState(status: FirehoseStatus | null, now: number): UpstreamState {
  if (status === null) return 'unreachable'
  const { isConnected, lastFrameAt, lag, oldestPendingAt } = status
  if (!isConnected && (lastFrameAt === null || now - lastFrameAt > UNREACHABLE_AFTER)) return 'unreachable'
  if (oldestPendingAt !== null && now - oldestPendingAt > BEHIND_AFTER) return 'behind'
  const isReading = lastFrameAt !== null && now - lastFrameAt < QUIET_AFTER
  return isReading && lag !== null && lag > BEHIND_AFTER ? 'behind' : 'ok'
}

/** `GET /health`: how the following of the network goes. 503 where somebody has to look at it. See docs/operating.md. */
export async function health(environment: Environment): Promise<Response> {
  try {
    const now = Date.now()
    const upstreams = readUpstreams(environment)
    const db = drizzle(environment.DB)
    const wants = new AccountWants(db)
    const [statuses, all, due, deadLetters, dropped] = await Promise.all([
      followUpstreams(environment),
      wants.count(),
      wants.countDue(now),
      new DeadLetters(db).count(),
      new DroppedRecords(db).total(),
    ])
    const shown = upstreams.map(({ name, protocol }) => {
      const status = statuses.find(({ upstream }) => upstream === name) ?? null
      return { ...describe(name, status, now), state: upstreamState(status, now), protocol }
    })
    const isWell = shown.every(({ state }) => state === 'ok')
    return answer(isWell ? 200 : 503, {
      status: isWell ? 'ok' : 'failing',
      upstreams: shown,
      accountsWanted: { all, due },
      deadLetters,
      droppedRecords: dropped,
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
  const { isConnected, cursor, lag, lastEventAt, lastFrameAt, pendingBatches, oldestPendingAt, lastError, counts } =
    status
  const since = (time: number | null) => (time === null ? null : Math.max(0, Math.round((now - time) / 1000)))
  return {
    upstream,
    isConnected,
    lagSeconds: lag === null ? null : Math.round(lag / 1000),
    cursor,
    // What is read and applied up to there: as old as the oldest that is not, or as the newest that is.
    cursorAgeSeconds: since(oldestPendingAt ?? lastEventAt),
    lastFrameSeconds: since(lastFrameAt),
    pendingBatches,
    lastError: lastError && { secondsAgo: since(lastError.at), message: lastError.message },
    counts,
  }
}

function answer(status: number, body: object): Response {
  return Response.json(body, { status, headers: { 'Cache-Control': 'no-store', 'Access-Control-Allow-Origin': '*' } })
}
