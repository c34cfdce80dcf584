import type { StreamEvent } from '../../atproto/firehose/stream-event.ts'

/** A record that is not in the index because it is not valid. */
export interface DroppedRecord {
  /** at-uri, cut where it is long. */
  readonly uri: string
  readonly collection: string
  /** What is wrong with it, for people; cut where it is long. */
  readonly reason: string
}

/** What {@link IndexWriter.apply} did. */
export interface ApplyOutcome {
  /** Records that have changed; an event that was applied before counts nothing. */
  readonly applied: number
  readonly dropped: readonly DroppedRecord[]
  readonly wanted: readonly WantedAccount[]
}

/** An account that is to be listed and was not before: that it is is a row. */
export interface WantedAccount {
  readonly did: string
  /** Milliseconds since 1970: of one that was listed often lately, a while from now. */
  readonly dueAt: number
}

/** Who an account is, as it was resolved. */
export interface ResolvedAccount {
  readonly did: string
  /** Null: none that verifies in both directions. */
  readonly handle: string | null
  /** Where that is null: one that could not be checked. If the account has it, it keeps it. */
  readonly uncheckedHandle?: string
  /** Origin of the PDS. */
  readonly pds: string
}

/** An account as it was listed. */
export interface AccountSnapshot extends ResolvedAccount {
  /** What `com.atproto.sync.getRepoStatus` said. */
  readonly isActive: boolean
  /** As in an account event; null where it is active or nothing is said. */
  readonly status: string | null
  /** The account's rev BEFORE its records were listed: what is listed is at least as new. A TID. */
  readonly rev: string
  /** When the listing began, in milliseconds since 1970. */
  readonly listedAt: number
  /** All records of the collections that the index knows; others are ignored. */
  readonly records: readonly SnapshotRecord[]
}

export interface SnapshotRecord {
  readonly collection: string
  readonly rkey: string
  /** JSON, or the `CondensedValue` of it (condensed-value.ts). */
  readonly value: unknown
}

/** What `IndexStore` (index-store.ts) does. */
export interface IndexWriter {
  /**
   * Takes events over, in whatever order, and however often: all or nothing. Records that are proven change the index. What
   * else is said becomes wants: identity, sync and account events of accounts that it knows, and what is not proven.
   *
   * @param now milliseconds since 1970
   */
  apply(events: readonly StreamEvent[], now: number): Promise<ApplyOutcome>
  /**
   * Takes over a whole listing of an account: what is in the index and not listed goes, but for what events newer than the
   * snapshot's rev have said. A snapshot older than one that was taken over before changes nothing. Where the account is
   * not active its records are not looked at: they stay, hidden, and if it is deleted they go. The handle that it had before
   * leads to it from now on, too.
   *
   * @param now milliseconds since 1970
   */
  replaceAccount(snapshot: AccountSnapshot, now: number): Promise<readonly DroppedRecord[]>
  /** Drops all that the index has of a deleted account, but that it was. @param now as above */
  forgetAccount(did: string, now: number): Promise<void>
}

/** An account that is to be listed, by somebody who begins to. */
export interface AccountWant {
  readonly did: string
  readonly reason: string
  /** Milliseconds since 1970, of the last time that it was wanted. Larger each time. */
  readonly wantedAt: number
  /** How often its listing has begun. */
  readonly tries: number
  /** Origin of its PDS as it was known before; null: it was not. */
  readonly host: string | null
  /** When it may be listed after this time, in milliseconds since 1970. */
  readonly nextAt: number
}

/**
 * What `AccountWants` (account-wants.ts) does: durable, since a message of a Queue is but a hint. Nobody can have an account
 * listed all the time: the pause between two listings grows as they come. Nor can a host keep all to itself who list.
 */
export interface WantQueue {
  /**
   * @param now milliseconds since 1970. One that is wanted already stays due when it is
   * @param isUrgent whether all are due now but those that are being listed: also those that were listed often lately, or failed
   * @returns those that were not wanted before, or are due sooner
   */
  want(dids: readonly string[], reason: string, now: number, isUrgent?: boolean): Promise<WantedAccount[]>
  /** Those that are due: a few of each host, taken in turns. */
  due(now: number, limit: number): Promise<WantedAccount[]>
  /** Another one of a host that is due. @param host null: not known */
  next(host: string | null, now: number): Promise<string | null>
  /** @returns false: it has been wanted again meanwhile, and stays */
  done(did: string, wantedAt: number): Promise<boolean>
  /**
   * Counts that a listing begins, and puts it off, longer each time: should it be killed, nobody else could tell.
   *
   * @param until when it is cut off; the first time it is due again then
   * @returns the want; null: it is not due, or not wanted any more, or as many of its host are being listed as may be
   */
  begin(did: string, now: number, until: number): Promise<AccountWant | null>
  /**
   * Notes who hosts an account whose listing has begun.
   *
   * @returns false: as many of that host are being listed as may be, and it is due again as if it had not begun
   */
  place(did: string, host: string, now: number): Promise<boolean>
  /** It was listed, and is wanted anew as if for the first time: else the next failure would count as one of many. */
  renew(did: string, dueAt: number): Promise<void>
  /** Its listing has ended, and it is due then. @param reason for the operator: of a failure, or why it is wanted */
  putOff(did: string, dueAt: number, reason: string): Promise<void>
  count(): Promise<number>
}

/** What `DeadLetters` (dead-letters.ts) keeps. */
export interface DeadLetter {
  readonly id: number
  /** JSON of the message. */
  readonly payload: string
  readonly error: string
  /** Milliseconds since 1970. */
  readonly diedAt: number
}
