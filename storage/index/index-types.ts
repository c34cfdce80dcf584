import type { StreamEvent } from '../../atproto/firehose/stream-event.ts'

/** A record that is not in the index because it is not valid. */
export interface DroppedRecord {
  /** at-uri, cut where it is long. */
  readonly uri: string
  readonly collection: string
  /** What is wrong with it, for people; cut where it is long. */
  readonly reason: string
}

/** A repository by the account and the record key of its `dev.skein.repo`. */
export interface RepositoryKey {
  readonly did: string
  readonly rkey: string
}

/** What {@link IndexWriter.apply} did. Lists have no account and no repository twice. */
export interface ApplyOutcome {
  /** Records that have changed; an event that was applied before counts nothing. */
  readonly applied: number
  readonly dropped: readonly DroppedRecord[]
  /** Accounts of the events' records that nobody has resolved yet: `putAccount` is to be called for them. */
  readonly unknownAccounts: readonly string[]
  /** Repositories of which newer refs or packs came. */
  readonly moved: readonly RepositoryKey[]
  /** Accounts for which a want was put down: they changed identity, are active again, or an event does not spell out what. */
  readonly wanted: readonly string[]
  /** Accounts that are not active any more, for whatever reason: they are served no longer. */
  readonly inactive: readonly string[]
  /** Those of them that were deleted: what the index had of them is gone, and their mirrors are to go. */
  readonly deleted: readonly string[]
}

/** Who an account is, as it was resolved. */
export interface ResolvedAccount {
  readonly did: string
  /** Null: none that verifies in both directions. */
  readonly handle: string | null
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
   * Takes events over, in whatever order, and however often: all or nothing. Record events and account events change the
   * index; identity and sync events of accounts that it knows become wants.
   *
   * @param now milliseconds since 1970
   */
  apply(events: readonly StreamEvent[], now: number): Promise<ApplyOutcome>
  /**
   * Takes over a whole listing of an account: what is in the index and not listed goes, but for what events newer than the
   * snapshot's rev have said. A snapshot older than one that was taken over before changes nothing. Where the account is
   * not active its records are not looked at: they stay, hidden, and if it is deleted they go.
   *
   * @param now milliseconds since 1970
   */
  replaceAccount(snapshot: AccountSnapshot, now: number): Promise<readonly DroppedRecord[]>
  /** Notes who an account is. The handle that it had before leads to it from now on, too. @param now as above */
  putAccount(account: ResolvedAccount, now: number): Promise<void>
  /** Drops all that the index has of a deleted account, but that it was. @param now as above */
  forgetAccount(did: string, now: number): Promise<void>
}

/** An account that is to be listed. */
export interface AccountWant {
  readonly did: string
  readonly reason: string
  /** Milliseconds since 1970, of the last time that it was wanted. Larger each time. */
  readonly wantedAt: number
  /** How often its listing has begun. */
  readonly tries: number
  /** Milliseconds since 1970. */
  readonly dueAt: number
}

/** What `AccountWants` (account-wants.ts) does: durable, since a message of a Queue is but a hint. */
export interface WantQueue {
  /** @param now milliseconds since 1970. One that has failed stays due when it is. */
  want(dids: readonly string[], reason: string, now: number): Promise<void>
  /** Those that are due, the longest due first. */
  due(now: number, limit: number): Promise<AccountWant[]>
  find(did: string): Promise<AccountWant | null>
  /** @returns false: it has been wanted again meanwhile, and stays */
  done(did: string, wantedAt: number): Promise<boolean>
  /**
   * Counts that a listing begins, and puts it off, longer each time: should it be killed, nobody else could tell.
   *
   * @param until when it is cut off; the first time it is due again then
   * @returns the want; null: it is not due, or not wanted any more
   */
  begin(did: string, now: number, until: number): Promise<AccountWant | null>
  /** It is due then. @param reason for the operator: of a failure, or why it is wanted */
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
