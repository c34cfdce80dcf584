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

/**
 * What a reader is answered. `ingesting`: the refs are there and some packs are not; follow `ingest`.
 * `gone`: the account has no such record (any more). `unavailable`: nothing is mirrored and the PDS does not answer.
 */
export type ManifestAnswer =
  | { readonly state: 'unchanged' }
  | { readonly state: 'ready'; readonly manifest: Manifest }
  | { readonly state: 'ingesting'; readonly manifest: Manifest; readonly wantedBytes: number }
  | { readonly state: 'gone' }
  | { readonly state: 'unavailable'; readonly message: string; readonly retryAfterSeconds: number | null }

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
  readonly head: number | null
}

/** What a writer needs to know of the refs it wants to move. */
export interface WriterView {
  readonly states: readonly RefState[]
  readonly head: number | null
}
