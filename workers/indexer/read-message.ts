import { isObject } from '../../atproto/network/json.ts'
import type { EventsMessage, WorkMessage } from '../../storage/index/messages.ts'

/** What a Queue has delivered, as far as an answer to it needs it. */
export interface Delivery {
  readonly body: unknown
  /** How often it has been delivered, this time included. */
  readonly attempts: number
  ack(): void
  retry(options: { readonly delaySeconds: number }): void
}

/** A message of the edge's own, as its sender has written it; null: it is none. Another version may have sent it. */
export function readEventsMessage(body: unknown): EventsMessage | null {
  if (!isObject(body) || body.kind !== 'events') return null
  const { upstream, batch, events } = body
  if (typeof upstream !== 'string' || typeof batch !== 'number' || !Array.isArray(events)) return null
  return events.every(isEvent) ? (body as unknown as EventsMessage) : null
}

function isEvent(event: unknown): boolean {
  return isObject(event) && typeof event.kind === 'string' && typeof event.did === 'string'
}

/** The same of what asks strangers' servers. */
export function readWorkMessage(body: unknown): WorkMessage | null {
  if (!isObject(body)) return null
  if (body.kind === 'account' && typeof body.did === 'string') return { kind: 'account', did: body.did }
  if (body.kind === 'reconcile' && typeof body.source === 'string') return { kind: 'reconcile', source: body.source }
  return null
}
