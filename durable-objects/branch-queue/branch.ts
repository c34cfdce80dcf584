import type { Fold } from './fold-batch.ts'
import type { BranchPlace, Stored } from './ground.ts'
import type { Attempt } from './queue-store.ts'

/**
 * How what is known of a branch has come here: it is at hand since the last landing; the mirror was asked; or the
 * mirror has read the account before it was.
 */
export type Freshness = 'kept' | 'mirror' | 'account'

/** Where a branch is, as far as is known. */
export interface BranchPosition {
  readonly place: BranchPlace
  readonly stored: Stored
  /** Seq of its ref; null: it never existed. */
  readonly seq: number | null
  readonly freshness: Freshness
}

/** What became of a landing. */
export type LandOutcome =
  | { readonly state: 'landed' }
  /** Somebody else was first. It is not in the account, and never will be. */
  | { readonly state: 'lost' }
  | LandFailure

export interface LandFailure {
  readonly state: 'failed'
  readonly message: string
  readonly retryAfterSeconds: number | null
  /** It may be in the account all the same. */
  readonly isUncertain: boolean
  /** Trying again is of no use until the account's owner has done something. */
  readonly isForOwner: boolean
  /** It was refused for what it is: it would be again. */
  readonly isRefused: boolean
}

export interface LandingCost {
  /** Packs of the repository that it was made with. */
  readonly packs: number
  /** Of the pack that it brings, in bytes. */
  readonly packBytes: number
  /** Requests to R2 to read packs since the last landing. */
  readonly r2Reads: number
}

/** A landing that is ready to be sent. */
export interface PreparedLanding {
  readonly id: string
  /** Record key of its pack; null: it brings none. */
  readonly pack: string | null
  /** What it has cost so far, for the log. */
  readonly cost: LandingCost
  land(): Promise<LandOutcome>
}

/** The branch of a queue, in its account: what the queue asks of the world. */
export interface Branch {
  /** By what is at hand, or else by the mirror. @throws as `reload` */
  position(): Promise<BranchPosition>
  /**
   * By the mirror as it is now.
   *
   * @param fromAccount whether the mirror is to read the account first
   * @throws {@link RepositoryGoneError}, {@link MirrorUnavailableError}, {@link StillMirroringError}, and what the
   * platform throws
   */
  reload(fromAccount: boolean): Promise<BranchPosition>
  /** What is at hand may be wrong. */
  forget(): void
  /** Makes one pack and one move of the ref of what was folded on this position. @throws faults of the PDS and of R2 */
  prepare(position: BranchPosition, fold: Fold): Promise<PreparedLanding>
  /** Whether a landing of before is in the account: it is asked. @throws faults of the PDS */
  hasLanded(attempt: Attempt): Promise<boolean>
}
