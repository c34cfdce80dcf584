import type { Oid } from '../../git/bytes/oid.ts'
import type { TreeEdit } from '../../git/edit/tree-edit.ts'
import type { ConflictKind } from '../../git/merge/merge-conflict.ts'
import type { RepositoryAddress } from '../repository/answers.ts'

/** Which branch a `BranchQueue` object lands on; it is the same with every call. */
export interface BranchAddress extends RepositoryAddress {
  /** Full name, `refs/heads/main`. */
  readonly ref: string
}

/** Whom a commit names. */
export interface Author {
  readonly name: string
  readonly email: string
}

/** Who hands work in, as the audit keeps it. */
export interface Submitter {
  /** The account that acts. */
  readonly did: string
  /** The token that it came with, and what that is called; null: it came without. */
  readonly tokenId: string | null
  readonly tokenLabel: string | null
}

/** A file that must be as the caller last saw it. */
export interface Expectation {
  readonly path: Uint8Array
  /** Of the blob; null: there must be nothing. */
  readonly oid: Oid | null
}

/** One commit, made of changes, on whatever the branch is by then. */
export interface CommitWork {
  readonly kind: 'commit'
  readonly message: string
  readonly author: Author
  readonly edits: readonly TreeEdit[]
  /** The commit that the changes were made on: they are merged with what came since. Null: they are made as they are. */
  readonly base: Oid | null
  readonly expect: readonly Expectation[]
}

/** How the commits of another branch come into this one. */
export type MergeStrategy = 'fast-forward' | 'merge' | 'squash' | 'rebase'

export interface MergeWork {
  readonly kind: 'merge'
  /** The commit to merge. */
  readonly source: Oid
  readonly strategy: MergeStrategy
  /** Of the merge or squash commit; null: as git words it. */
  readonly message: string | null
  /** How the source is called in messages and conflict markers. */
  readonly sourceName: string
  readonly author: Author
  /** The branch must be here, or null: wherever it is. */
  readonly expectedTip: Oid | null
}

/** The branch comes to be. */
export interface CreateBranchWork {
  readonly kind: 'create'
  readonly target: Oid
}

export interface DeleteBranchWork {
  readonly kind: 'delete'
  /** The branch must be here, or null: wherever it is. */
  readonly expectedTip: Oid | null
}

export type BranchWork = CommitWork | MergeWork | CreateBranchWork | DeleteBranchWork

export interface Submission {
  readonly address: BranchAddress
  readonly work: BranchWork
  readonly submitter: Submitter
  /** Handed in twice under one key, work is done once. */
  readonly idempotencyKey: string | null
  /**
   * Digest of what the caller asked for: equal for equal calls, also where the names in them have come to stand for
   * something else. Absent: the work says it.
   */
  readonly asked?: string
  /** How long to wait for its landing, in milliseconds; 0: only until it is stored. */
  readonly waitMilliseconds: number
}

/** What is asked of a queue about work that may have been handed in before. */
export type Repetition = Pick<Submission, 'submitter' | 'waitMilliseconds'> & {
  readonly idempotencyKey: string
  readonly asked: string
}

/** One path on which work conflicts with what has landed before it. */
export interface PathConflict {
  readonly path: Uint8Array
  readonly kind: ConflictKind
  /** Blobs: as both were, as the branch has it, as the caller wants it; null: nothing. */
  readonly base: Oid | null
  readonly ours: Oid | null
  readonly theirs: Oid | null
  /** Of a text: both sides between markers. Null also for what is more than an answer takes (`CONFLICT_LIMITS`). */
  readonly merged: Uint8Array | null
}

/** Why work was not done. Nothing of it is in the branch. */
export type RefusedWork =
  /** Changes on both sides that do not go together. */
  | { readonly reason: 'merge-conflict'; readonly message: string; readonly conflicts: readonly PathConflict[] }
  /** A file is not as expected. `present`: what it is. */
  | { readonly reason: 'unexpected'; readonly message: string; readonly path: Uint8Array; readonly present: Oid | null }
  /** The branch is not where it must be. */
  | { readonly reason: 'tip-moved'; readonly message: string; readonly present: Oid | null }
  | { readonly reason: 'branch-missing' | 'branch-exists' | 'not-fast-forward'; readonly message: string }
  /** A base, source or target that the repository does not have. */
  | { readonly reason: 'unknown-commit'; readonly message: string }
  /** A change that cannot be made: the path is not there, or something stands in its way. */
  | { readonly reason: 'invalid-change'; readonly message: string; readonly path: Uint8Array }
  /** The branch has it all already. */
  | { readonly reason: 'nothing-to-do'; readonly message: string }
  /** More differs than is merged here. */
  | { readonly reason: 'too-large'; readonly message: string }
  /** What the repository holds cannot be read, so that nothing can be made of it. */
  | { readonly reason: 'damaged'; readonly message: string }
  /** Whoever handed it in had the right to do so taken back before its turn came. */
  | { readonly reason: 'withdrawn'; readonly message: string }
  /** The account could not be written to, and will not be until its owner does something. */
  | { readonly reason: 'account-refused'; readonly message: string }
  /** The operator of this edge has blocked the repository or its account, or has a cap on its size that this would exceed. */
  | { readonly reason: 'blocked' | 'over-cap'; readonly message: string }
  /** Something is wrong here, not with the work: it has been given up so that the others go on. */
  | { readonly reason: 'fault'; readonly message: string }

/** What became of work. */
export type WorkOutcome =
  | {
      readonly state: 'landed'
      /** Where the branch was after it; null: it was deleted. */
      readonly commit: Oid | null
      readonly tree: Oid | null
      /** Where the branch was before it; null: it did not exist. */
      readonly parent: Oid | null
      /** The landing that it was part of, and how many pieces of work that had. */
      readonly landing: { readonly id: string; readonly commits: number }
    }
  | { readonly state: 'refused'; readonly refusal: RefusedWork }

/** Work that is stored and waits for its turn, or for the account. */
export interface WaitingWork {
  readonly state: 'waiting'
  /** How many pieces of work come before it. */
  readonly ahead: number
  /** What it waits for where that is not its turn: words for the caller; null otherwise. */
  readonly reason: string | null
  /** When it is worth asking again. */
  readonly retryAfterSeconds: number
}

export type WorkState = WorkOutcome | WaitingWork

/** `ticket` names accepted work for 24 hours. Where it is not accepted, nothing is stored. */
export type SubmitAnswer =
  | { readonly accepted: true; readonly ticket: string; readonly work: WorkState }
  | {
      readonly accepted: false
      readonly reason: 'queue-full' | 'rate-limited' | 'key-reused'
      readonly message: string
      readonly retryAfterSeconds: number | null
    }
