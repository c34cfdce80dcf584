import type { RefSeq } from '../../atproto/account/landing.ts'
import type { RepoRecord } from '../../atproto/records/record-types.ts'
import type { RefState } from '../../atproto/refs/ref-state.ts'
import type { RefSelection } from '../../git/refs/ref-selection.ts'
import type { ManifestBase, ManifestPack, ManifestRef, RefChange } from '../../storage/manifest.ts'
import type { Room } from '../size-caps.ts'

/** Which repository a `Repository` object is asked to be the mirror of; it is the same with every call. */
export interface RepositoryAddress {
  readonly did: string
  /** Record key of `dev.skein.repo`. */
  readonly rkey: string
  /** Origin of the account's PDS, as it is now. */
  readonly pds: string
}

export interface ManifestRequest extends RepositoryAddress {
  /** The manifest at hand, if any. */
  readonly known: KnownManifest | null
  /** The refs that the caller needs. */
  readonly selection: RefSelection
  /** Whether the account may be looked at again, behind the caller's back, should the mirror be old. */
  readonly mayRecheck: boolean
}

export interface KnownManifest {
  readonly version: number
  /** Whether all refs of that version are at hand, or none. */
  readonly hasRefs: boolean
}

/**
 * What a reader is answered. `gone`: the account has no such record (any more). `unavailable`: nothing is mirrored and
 * the PDS does not answer.
 */
export type ManifestAnswer =
  | {
      readonly state: 'found'
      /** Bytes of the packs that are not there yet: follow `ingest`. Null: the mirror is complete. */
      readonly wantedBytes: number | null
      /** What may be added to it; null: there is no cap. */
      readonly room: Room | null
      readonly news: ManifestNews
    }
  | { readonly state: 'gone' }
  | Refused
  | Unavailable

/**
 * What the caller does not know of the manifest yet. `changed`: refs since the known version, which had all of them.
 * `all`: the caller has all refs now. `selected`: those that it asked for, and the default branch where it asked for any.
 * Lists are sorted by the bytes of the names.
 */
export type ManifestNews =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed'; readonly base: ManifestBase; readonly changes: readonly RefChange[] }
  | { readonly kind: 'all' | 'selected'; readonly base: ManifestBase; readonly refs: readonly ManifestRef[] }

/** The operator of this edge has it so: it is blocked, or larger than what is taken in. */
export interface Refused {
  readonly state: 'refused'
  readonly reason: 'blocked' | 'over-cap'
  /** For whoever asks. */
  readonly message: string
}

/** The account's PDS does not answer, or refuses. */
export interface Unavailable {
  readonly state: 'unavailable'
  readonly message: string
  readonly retryAfterSeconds: number | null
}

/** What came of reading an account. `gone`: it has no such repository. */
export type ReadAccountOutcome = { readonly state: 'read' } | { readonly state: 'gone' } | Refused | Unavailable

/** One line, as JSON, of what `ingest` streams. The last one has `done` or `error`. */
export type IngestNews =
  | { readonly progress: string }
  | { readonly done: true }
  | { readonly error: string; readonly retryAfterSeconds: number | null }

/** What has just been written to the account through the edge. */
export interface Landed {
  /** Of a repository that was created. */
  readonly record: RepoRecord | null
  readonly pack: ManifestPack | null
  readonly states: readonly RefState[]
  /** Seq of the head shard; it may only be taken over by who knows the refs of `headNeeds`, see `LandingResult`. */
  readonly head: number | null
  readonly headNeeds: readonly RefSeq[]
}

/** A ref as the mirror knows it, deleted ones too. */
export interface WriterRef {
  readonly state: RefState
  /** Its target is not to be had, so readers are not shown it. */
  readonly isBroken: boolean
}

/** What a writer needs to know of the refs it wants to move. */
export interface WriterView {
  /** Names that never existed are left out. */
  readonly refs: readonly WriterRef[]
  readonly head: number | null
}
