import type { Oid } from '../git/bytes/oid.ts'

/** A ref as readers see it. */
export interface ManifestRef {
  /** Full name, `refs/heads/main`. */
  readonly name: string
  readonly target: Oid
  /** What an annotated tag points at in the end, or null where the target is no tag object. */
  readonly peeled: Oid | null
}

/** A pack of the mirror; its bytes, index and graph lie in R2 under keys derived from the id. */
export interface ManifestPack {
  readonly id: string
  /** Bytes, header and trailer included. */
  readonly size: number
  readonly objects: number
}

/** All that a reader must know of a repository before it reads R2 itself: one answer of the `Repository` object. */
export interface Manifest {
  readonly did: string
  /** Record key of `dev.skein.repo`: the repository's id for life. */
  readonly rkey: string
  readonly name: string
  readonly description: string | null
  /** Short branch name. It may name a branch that does not exist (yet). */
  readonly defaultBranch: string
  /** Grows with every change of refs, packs or description: caches are keyed by it. */
  readonly version: number
  /** Sorted by the bytes of their names. */
  readonly refs: readonly ManifestRef[]
  /** Oldest first: a delta's base lies in the same pack or in an older one. */
  readonly packs: readonly ManifestPack[]
}
