import type { StreamEvent } from '../../atproto/firehose/stream-event.ts'
import type { ApplyOutcome } from '../../storage/index/index-types.ts'
import type { EventsMessage } from '../../storage/index/messages.ts'
import { applyInHalves } from './apply-in-halves.ts'
import { type Delivery, readEventsMessage } from './read-message.ts'

export interface ConsumeEventsDeps {
  apply(events: readonly StreamEvent[]): Promise<ApplyOutcome>
  /** Whether it may go well another time, with the same events. */
  isPassing(error: unknown): boolean
  /** Whether the index can be written to at all: where it cannot, no events are at fault. It does not throw. */
  isWell(): Promise<boolean>
  /** Whether an upstream is followed: what its object is not told is applied, it reads again, however late. */
  isFollowed(upstream: string): boolean
  /** Keeps what cannot be applied, for the operator. @param payload JSON of a message */
  bury(payload: string, error: string): Promise<void>
  /** Tells the object of an upstream that it need not send batches again. */
  tellApplied(upstream: string, batches: readonly number[]): Promise<void>
  /** What is to be done once events are applied, for whoever has to hear of it. It does not throw. */
  follow(events: readonly StreamEvent[], outcome: ApplyOutcome): Promise<void>
  log(event: string, fields: Record<string, unknown>): void
}

/** After so many deliveries what makes messages fail is looked for: among them, and among the events of one. */
const ISOLATE_AFTER = 3
/** After so many, a quarter of an hour, a fault that calls itself passing is not believed any more, if all else goes well. */
const DOUBT_AFTER = 11
/**
 * After so many an upstream reads it again anyway, each quarter of an hour: nothing is gained by keeping it. So while the index
 * is away for hours, the Queue does not fill, and nothing that is good becomes a dead letter.
 */
const LET_GO_AFTER = 12
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
    (error, items) => isTheirs(deps, error, Math.max(...items.map(({ delivery }) => delivery.attempts)), ISOLATE_AFTER),
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

/** Whether a fault is one of events: it says so, or it says that it is passing, and does not pass. @param doubtAfter deliveries */
async function isTheirs(
  deps: ConsumeEventsDeps,
  error: unknown,
  attempts: number,
  doubtAfter: number,
): Promise<boolean> {
  return !deps.isPassing(error) || (attempts >= doubtAfter && (await deps.isWell()))
}

async function tryAlone(deps: ConsumeEventsDeps, item: Delivered, error: unknown): Promise<void> {
  const { delivery, message } = item
  const { upstream, batch } = message
  const { attempts } = delivery
  const isLast = attempts >= ISOLATE_AFTER && (await isTheirs(deps, error, attempts, DOUBT_AFTER))
  deps.log('events-failed', { upstream, batch, attempts, isLast, reason: String(error) })
  try {
    if (isLast && (await applyApart(deps, item))) return
  } catch (fault) {
    deps.log('events-failed', { upstream, batch, attempts, isLast, reason: String(fault) })
  }
  putOff(deps, item)
}

/** @returns false: it is not the events that are at fault */
async function applyApart(deps: ConsumeEventsDeps, item: Delivered): Promise<boolean> {
  const { message, delivery } = item
  const areTheirs = (error: unknown) => isTheirs(deps, error, delivery.attempts, DOUBT_AFTER)
  const { applied, failed } = await applyInHalves(message.events, (events) => deps.apply(events), areTheirs)
  for (const { items: events, outcome } of applied) await deps.follow(events, outcome)
  for (const { error } of failed) if (!(await areTheirs(error))) return false
  for (const { items: events, error } of failed) {
    await deps.bury(JSON.stringify({ ...message, events }), String(error))
  }
  delivery.ack()
  await tellApplied(deps, [item])
  return true
}

function putOff(deps: ConsumeEventsDeps, { delivery, message }: Delivered): void {
  const { upstream, batch } = message
  if (delivery.attempts >= LET_GO_AFTER && deps.isFollowed(upstream)) {
    delivery.ack()
    deps.log('events-let-go', { upstream, batch })
  } else retry(delivery)
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

/**
 * What the platform has given up: its consumer was cut off each time, by one of all the messages that it had. Each is tried
 * once more, alone. If that is cut off, too, or fails, it is kept, and no more waited for.
 */
export async function consumeDead(deps: ConsumeEventsDeps, deliveries: readonly Delivery[]): Promise<void> {
  for (const delivery of deliveries) {
    const message = readEventsMessage(delivery.body)
    try {
      if (message === null || delivery.attempts > 1) await buryDead(deps, delivery, message, NEVER_DONE)
      else await tryDead(deps, { delivery, message })
    } catch (error) {
      const { attempts } = delivery
      deps.log('events-failed', { upstream: message?.upstream ?? null, attempts, isLast: true, reason: String(error) })
      retry(delivery)
    }
  }
}

const NEVER_DONE = 'it failed each time that it was delivered'

async function tryDead(deps: ConsumeEventsDeps, item: Delivered): Promise<void> {
  const { delivery, message } = item
  let outcome: ApplyOutcome
  try {
    outcome = await deps.apply(message.events)
  } catch (error) {
    if (deps.isPassing(error)) throw error
    return buryDead(deps, delivery, message, String(error))
  }
  await finish(deps, [item], outcome)
}

async function buryDead(
  deps: ConsumeEventsDeps,
  delivery: Delivery,
  message: EventsMessage | null,
  error: string,
): Promise<void> {
  await deps.bury(JSON.stringify(delivery.body) ?? 'null', error)
  if (message !== null) await deps.tellApplied(message.upstream, [message.batch])
  delivery.ack()
}
