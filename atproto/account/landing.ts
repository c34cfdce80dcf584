import type { Oid } from '../../git/bytes/oid.ts'
import type { PackRecord, RepoRecord } from '../records/record-types.ts'
import type { RefState } from '../refs/ref-state.ts'

/** One wanted change of a ref. */
export interface RefMove {
  /** Full name. */
  readonly name: string
  /** The ref as the writer knows it, tombstones included; null: it never existed. */
  readonly from: RefState | null
  /** Null deletes it. */
  readonly target: Oid | null
  /** What the target peels to where it is a tag object, else null. */
  readonly peeled: Oid | null
}

/** That a ref has come as far as this. */
export interface RefSeq {
  readonly name: string
  readonly seq: number
}

/** Whether the move makes a ref where readers saw none: it never existed, or was deleted. */
export function createsRef({ from, target }: RefMove): boolean {
  return target !== null && (from === null || from.target === null)
}

/**
 * Whether the move has to move the head as well (`docs/storage.md`, "Why the head"): it relies on there being no loose
 * record of the name, or on no ref having come that stands in its way.
 */
export function reliesOnHead(move: RefMove): boolean {
  return move.from?.at.kind !== 'loose' || createsRef(move)
}

/** What is to appear in an account at once: a pack and the refs that move to it. */
export interface Landing {
  readonly did: string
  /** Origin of the account's PDS. */
  readonly pds: string
  /** Record key of the repository. */
  readonly repo: string
  /** The record of a repository that this landing creates, or null. */
  readonly create: RepoRecord | null
  /** `rkey` is the whole record key, `packKey(repo, tid)`. */
  readonly pack: { readonly rkey: string; readonly record: PackRecord } | null
  readonly moves: readonly RefMove[]
  /** All moves or none. */
  readonly atomic: boolean
  /**
   * Seq of the head shard as the writer knows it (`StoredRepository.head`), null if there is none. It makes the creation
   * of a ref fail when refs were created that the writer does not know of. A stale one costs a re-read, nothing more.
   */
  readonly head: number | null
}

/**
 * What became of one move. `lost`: somebody else moved the ref first, `state` is what it is now. `failed`: nothing
 * was written, for a reason that is not a race; `message` can be shown to the person who pushed.
 */
export type MoveOutcome =
  | { readonly name: string; readonly outcome: 'landed'; readonly state: RefState }
  | { readonly name: string; readonly outcome: 'lost'; readonly state: RefState | null }
  | {
      readonly name: string
      readonly outcome: 'failed'
      readonly message: string
      readonly retryAfterSeconds: number | null
    }

/** Bytes of memory that a move takes, its ref as the writer knows it included: some 200 of them are text. */
const MOVE_BYTES = 600

/** About how many bytes of memory a landing takes. */
export function memoryOf({ pack, moves }: Landing): number {
  return (pack?.record.bytes?.length ?? 0) + moves.length * MOVE_BYTES
}

export interface LandingFailure {
  readonly message: string
  readonly retryAfterSeconds: number | null
  /**
   * Whether what was tried may be in the account all the same, or come there yet: a write was not answered, or no look
   * since has shown what became of it.
   */
  readonly isUncertain: boolean
  /** Whether the account cannot be written to until its owner does something: signs in again, has it reactivated. */
  readonly isForOwner: boolean
  /** Whether the PDS refuses what was to be written for what it is, although it was alone: it would again. */
  readonly isRefused: boolean
}

export interface LandingResult {
  /** One a move, in the order of the landing. */
  readonly moves: readonly MoveOutcome[]
  /** Whether the pack's record is in the account. */
  readonly packLanded: boolean
  /** `taken`: another repository of the account has the name; nothing was written. */
  readonly repository: 'unchanged' | 'created' | { readonly taken: string }
  /** Why not all of it was tried, or null. What was not tried says so in its own outcome too. */
  readonly failure: LandingFailure | null
  /**
   * The head for the next landing by who knows the refs that this one knew, its outcomes, and what is in `headNeeds`. It
   * stays behind where refs were created that nobody here knows of: with the newer head they could be created again.
   */
  readonly head: number | null
  /**
   * Refs of other landings that have moved the head on, each at least that far: they were brought up one after the other,
   * or written together. Whoever does not know them yet must not take over `head`.
   */
  readonly headNeeds: readonly RefSeq[]
  /** Others have written to the repository, or may have: read it again when there is time. */
  readonly isStale: boolean
}
