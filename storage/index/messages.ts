import type { StreamEvent } from '../../atproto/firehose/stream-event.ts'

/**
 * What travels through the Queues. A message is a hint: that a batch is not applied yet, or that an account is to be listed,
 * is a row elsewhere, so a lost message delays and never loses.
 *
 * This one: events of one upstream, in its order. At most 128,000 bytes of JSON.
 */
export interface EventsMessage {
  readonly kind: 'events'
  /** Name of the `Firehose` object that waits until they are applied. */
  readonly upstream: string
  /** Number of the batch there. */
  readonly batch: number
  readonly events: readonly StreamEvent[]
}

/**
 * What asks strangers' servers, which may be slow, goes through a Queue of its own: the stream does not wait for it.
 */
export type WorkMessage = AccountMessage | ReconcileMessage

/** An account is to be listed: its row says so, too. */
export interface AccountMessage {
  readonly kind: 'account'
  readonly did: string
}

/** The next accounts of a list are to be wanted: how far it has come is a row. */
export interface ReconcileMessage {
  readonly kind: 'reconcile'
  /** Which list, see `Reconciles`. */
  readonly source: string
}
