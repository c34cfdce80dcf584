import type { StreamEvent } from '../../atproto/firehose/stream-event.ts'
import type { FirehoseLimits } from './limits.ts'

export type GatherLimits = Pick<FirehoseLimits, 'batchBytes' | 'batchEvents' | 'gatherFor' | 'gatherQuietlyFor'>

/** The comma. Bytes. */
const EVENT_OVERHEAD = 1

/** Events that wait until they are worth a message. */
export class GatheredEvents {
  readonly #limits: GatherLimits
  #events: StreamEvent[] = []
  #bytes = 0
  /** Milliseconds since 1970; null: nothing waits. */
  #dueAt: number | null = null

  constructor(limits: GatherLimits) {
    this.#limits = limits
  }

  /** When they are to be sent. */
  get dueAt(): number | null {
    return this.#dueAt
  }

  /** How many there are. */
  get size(): number {
    return this.#events.length
  }

  /** Whether another event of so many bytes still has room. */
  hasRoomFor(bytes: number): boolean {
    const { batchBytes, batchEvents } = this.#limits
    return this.#events.length < batchEvents && this.#bytes + bytes + EVENT_OVERHEAD <= batchBytes
  }

  add(event: StreamEvent, bytes: number, now: number): void {
    const { gatherFor, gatherQuietlyFor } = this.#limits
    const isAwaited = event.kind === 'record' || event.kind === 'sync'
    this.#events.push(event)
    this.#bytes += bytes + EVENT_OVERHEAD
    this.#dueAt = Math.min(this.#dueAt ?? Number.POSITIVE_INFINITY, now + (isAwaited ? gatherFor : gatherQuietlyFor))
  }

  take(): readonly StreamEvent[] {
    const events = this.#events
    this.#events = []
    this.#bytes = 0
    this.#dueAt = null
    return events
  }
}

/**
 * An event as it fits into a message: of one that is too large, that its account is to be listed. There it may be of any size.
 *
 * @returns with the bytes of its JSON
 */
export function fitEvent(event: StreamEvent, maxBytes: number): { event: StreamEvent; bytes: number } {
  const bytes = eventBytes(event)
  if (bytes <= maxBytes) return { event, bytes }
  const { did, cursor, time } = event
  const listed: StreamEvent = { kind: 'sync', did, cursor, time, rev: 'rev' in event ? event.rev : '' }
  return { event: listed, bytes: eventBytes(listed) }
}

function eventBytes(event: StreamEvent): number {
  return Buffer.byteLength(JSON.stringify(event))
}
