import type { StreamEvent } from '../../atproto/firehose/stream-event.ts'

/**
 * What travels through the Queue. A message is a hint: that a batch is not applied yet, or that an account is to be listed,
 * is a row elsewhere, so a lost message delays and never loses.
 */
export type IndexMessage = EventsMessage | AccountMessage

/** Events of one upstream, in its order. At most 128,000 bytes of JSON. */
export interface EventsMessage {
  readonly kind: 'events'
  /** Name of the `Firehose` object that waits until they are applied. */
  readonly upstream: string
  /** Number of the batch there. */
  readonly batch: number
  readonly events: readonly StreamEvent[]
}

/** An account is to be listed: its row says so, too. */
export interface AccountMessage {
  readonly kind: 'account'
  readonly did: string
}
