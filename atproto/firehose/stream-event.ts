/**
 * What an upstream says of accounts, whichever protocol it speaks: `com.atproto.sync.subscribeRepos` of a PDS or relay, or
 * Jetstream. An upstream repeats, reorders and drops; only `rev` and `time` say what is newer.
 */
export type StreamEvent = RecordEvent | SyncEvent | IdentityEvent | AccountEvent

interface EventOrigin {
  readonly did: string
  /** Where it stands in the upstream's stream: a sequence number, or microseconds since 1970 (Jetstream v1). */
  readonly cursor: number
  /** When the upstream saw it, in milliseconds since 1970. */
  readonly time: number
}

/** A record was written or deleted. */
export interface RecordEvent extends EventOrigin {
  readonly kind: 'record'
  readonly collection: string
  readonly rkey: string
  /** TID of the account's commit that it is in. */
  readonly rev: string
  /** The record as JSON (`$link`, `$bytes`), not checked against a lexicon; null: it was deleted. */
  readonly value: unknown
  /** Whether the account has signed it, or its own PDS says so. What is not proven is a reason to ask the account. */
  readonly isProven: boolean
  /**
   * Where in R2 the `bytes` of a pack's record lie that were taken out of `value`: a message of a Queue has no room. Null: they
   * were left out, as nobody here mirrors the repository, or as it is not proven: the account is asked if need be.
   */
  readonly parked?: string | null
}

/** The account's repository has changed in a way that the event does not spell out: it is to be listed. */
export interface SyncEvent extends EventOrigin {
  readonly kind: 'sync'
  readonly rev: string
}

/** The account's handle, key or PDS may have changed: they are to be resolved anew. */
export interface IdentityEvent extends EventOrigin {
  readonly kind: 'identity'
}

/** Whether the account is served. https://atproto.com/specs/account#account-status */
export interface AccountEvent extends EventOrigin {
  readonly kind: 'account'
  readonly isActive: boolean
  /** `takendown`, `suspended`, `deleted`, `deactivated`, `desynchronized`, `throttled` or another; null: none is given. */
  readonly status: string | null
}
