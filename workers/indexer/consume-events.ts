import type { StreamEvent } from '../../atproto/firehose/stream-event.ts'
import type { ApplyOutcome } from '../../storage/index/index-types.ts'
import type { EventsMessage } from '../../storage/index/messages.ts'
import { applyInHalves } from './apply-in-halves.ts'
import { type Delivery, readEventsMessage } from './read-message.ts'

export interface ConsumeEventsDeps {
  apply(events: readonly StreamEvent[]): Promise<ApplyOutcome>
  /** Whether it may go well another time, with the same events. */
  isPassing(error: unknown): boolean
  /** Keeps what cannot be applied, for the operator. @param payload JSON of a message */
  bury(payload: string, error: string): Promise<void>
  /** Tells the object of an upstream that it need not send batches again. */
  tellApplied(upstream: string, batches: readonly number[]): Promise<void>
  /** What is to be done once events are applied, for whoever has to hear of it. It does not throw. */
  follow(events: readonly StreamEvent[], outcome: ApplyOutcome): Promise<void>
  log(event: string, fields: Record<string, unknown>): void
}

/** After so many deliveries the events that make a message fail are taken out of it. */
const ISOLATE_AFTER = 3
/** How soon what failed is delivered again, doubled with each delivery. Seconds. */
const FIRST_DELAY = 1
const LONGEST_DELAY = 5 * 60

interface Delivered {
  readonly delivery: Delivery
  readonly message: EventsMessage
}

/**
 * Applies what a Queue has delivered in one go. One bad message takes no other along: what fails is tried by halves, what
 * fails alone is delivered again, and in the end its good events are applied and its bad ones buried.
 */
export async function consumeEvents(deps: ConsumeEventsDeps, deliveries: readonly Delivery[]): Promise<void> {
  const delivered: Delivered[] = []
  for (const delivery of deliveries) {
    const message = readEventsMessage(delivery.body)
    if (message !== null) delivered.push({ delivery, message })
    else await buryWhole(deps, delivery)
  }
  const { applied, failed } = await applyInHalves(
    delivered,
    (items) => deps.apply(items.flatMap(({ message }) => message.events)),
    deps.isPassing,
  )
  for (const { items, outcome } of applied) await finish(deps, items, outcome)
  for (const { items, error } of failed) {
    for (const item of items) await tryAlone(deps, item, error)
  }
}

async function finish(deps: ConsumeEventsDeps, items: readonly Delivered[], outcome: ApplyOutcome): Promise<void> {
  for (const { delivery } of items) delivery.ack()
  const events = items.flatMap(({ message }) => message.events)
  await Promise.all([tellApplied(deps, items), deps.follow(events, outcome)])
}

async function tellApplied(deps: ConsumeEventsDeps, items: readonly Delivered[]): Promise<void> {
  const byUpstream = new Map<string, number[]>()
  for (const { message } of items) {
    const { upstream, batch } = message
    byUpstream.set(upstream, [...(byUpstream.get(upstream) ?? []), batch])
  }
  for (const [upstream, batches] of byUpstream) {
    try {
      await deps.tellApplied(upstream, batches)
    } catch (error) {
      // It sends them again, and that changes nothing.
      deps.log('applied-untold', { upstream, batches, reason: String(error) })
    }
  }
}

async function tryAlone(deps: ConsumeEventsDeps, item: Delivered, error: unknown): Promise<void> {
  const { delivery, message } = item
  const { upstream, batch } = message
  const isLast = delivery.attempts >= ISOLATE_AFTER && !deps.isPassing(error)
  deps.log('events-failed', { upstream, batch, attempts: delivery.attempts, isLast, reason: String(error) })
  try {
    if (!isLast || !(await applyApart(deps, item))) retry(delivery)
  } catch (fault) {
    deps.log('events-failed', { upstream, batch, attempts: delivery.attempts, isLast, reason: String(fault) })
    retry(delivery)
  }
}

/** @returns false: it is not the events that are at fault */
async function applyApart(deps: ConsumeEventsDeps, item: Delivered): Promise<boolean> {
  const { message } = item
  const { applied, failed } = await applyInHalves(message.events, (events) => deps.apply(events), deps.isPassing)
  for (const { items: events, outcome } of applied) await deps.follow(events, outcome)
  if (failed.some(({ error }) => deps.isPassing(error))) return false
  for (const { items: events, error } of failed) {
    await deps.bury(JSON.stringify({ ...message, events }), String(error))
  }
  item.delivery.ack()
  await tellApplied(deps, [item])
  return true
}

function retry(delivery: Delivery): void {
  delivery.retry({ delaySeconds: Math.min(FIRST_DELAY * 2 ** (delivery.attempts - 1), LONGEST_DELAY) })
}

async function buryWhole(deps: ConsumeEventsDeps, delivery: Delivery): Promise<void> {
  try {
    await deps.bury(JSON.stringify(delivery.body) ?? 'null', 'this is no message of events')
    delivery.ack()
  } catch (error) {
    deps.log('events-failed', { upstream: null, attempts: delivery.attempts, isLast: true, reason: String(error) })
    retry(delivery)
  }
}

/** What the platform has given up, since whoever consumed it was cut off each time: kept, and no more waited for. */
export async function consumeDead(
  deps: Pick<ConsumeEventsDeps, 'bury' | 'tellApplied' | 'log'>,
  deliveries: readonly Delivery[],
): Promise<void> {
  for (const delivery of deliveries) {
    const message = readEventsMessage(delivery.body)
    try {
      await deps.bury(JSON.stringify(delivery.body) ?? 'null', 'it failed each time that it was delivered')
      if (message !== null) await deps.tellApplied(message.upstream, [message.batch])
      delivery.ack()
    } catch (error) {
      deps.log('events-failed', {
        upstream: message?.upstream ?? null,
        attempts: delivery.attempts,
        isLast: true,
        reason: String(error),
      })
      retry(delivery)
    }
  }
}
