import type { ReconcileWant } from './batch-store.ts'

/** How the following of an upstream goes. Times are in milliseconds since 1970. */
export interface FirehoseStatus {
  readonly upstream: string
  readonly isConnected: boolean
  /** Too much is not applied: nothing is read until there is less. */
  readonly isPaused: boolean
  /** When it was last connected, or paused, to the heartbeat; else when it was begun to be followed. */
  readonly reachedAt: number
  /** From where it would be read again if all that is not applied were lost; null: from now on. */
  readonly cursor: number | null
  /** When the newest message was sent, by the upstream's own word; null: none has come since the object woke. */
  readonly lastEventAt: number | null
  readonly lastFrameAt: number | null
  /** How old the newest message was when it was read, in milliseconds; null as above. */
  readonly lag: number | null
  readonly pendingBatches: number
  /** When the oldest of them was sent; null: there is none. */
  readonly oldestPendingAt: number | null
  /** Whoever begins it calls `reconcileBegun`. */
  readonly reconcileWanted: ReconcileWant | null
  readonly lastError: { readonly at: number; readonly message: string } | null
  /** Since the object woke. */
  readonly counts: FirehoseCounts
}

export interface FirehoseCounts {
  readonly frames: number
  readonly events: number
  readonly batches: number
  readonly connects: number
  /** How often something was read again because it was not applied. */
  readonly rewinds: number
  /** Messages that nothing could be made of. */
  readonly unreadable: number
  /** Records of collections or keys that cannot be. */
  readonly dropped: number
  /** Events too large for a message: their accounts are to be listed. */
  readonly tooLarge: number
}
