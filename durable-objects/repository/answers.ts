import type { RefSeq } from '../../atproto/account/landing.ts'
import type { RepoRecord } from '../../atproto/records/record-types.ts'
import type { RefState } from '../../atproto/refs/ref-state.ts'
import type { Manifest, ManifestPack } from '../../storage/manifest.ts'

/** Which repository a `Repository` object is asked to be the mirror of; it is the same with every call. */
export interface RepositoryAddress {
  readonly did: string
  /** Record key of `dev.skein.repo`. */
  readonly rkey: string
  /** Origin of the account's PDS, as it is now. */
  readonly pds: string
}

export interface ManifestRequest extends RepositoryAddress {
  /** The version of the manifest at hand, or null. */
  readonly knownVersion: number | null
  /** Whether the account may be looked at again, behind the caller's back, should the mirror be old. */
  readonly mayRecheck: boolean
}

/**
 * What a reader is answered. `ingesting`: the refs are there and some packs are not; follow `ingest`.
 * `gone`: the account has no such record (any more). `unavailable`: nothing is mirrored and the PDS does not answer.
 */
export type ManifestAnswer =
  | { readonly state: 'unchanged' }
  | { readonly state: 'ready'; readonly manifest: Manifest }
  | { readonly state: 'ingesting'; readonly manifest: Manifest; readonly wantedBytes: number }
  | { readonly state: 'gone' }
  | Unavailable

/** The account's PDS does not answer, or refuses. */
export interface Unavailable {
  readonly state: 'unavailable'
  readonly message: string
  readonly retryAfterSeconds: number | null
}

/** What came of reading an account. `gone`: it has no such repository. */
export type ReadAccountOutcome = { readonly state: 'read' } | { readonly state: 'gone' } | Unavailable

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
