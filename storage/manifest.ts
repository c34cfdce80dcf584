import type { Oid } from '../git/bytes/oid.ts'
import { isNothing, type RefSelection } from '../git/refs/ref-selection.ts'

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

/** All that a reader must know of a repository before it reads R2 itself, but for its refs. */
export interface ManifestBase {
  readonly did: string
  /** Record key of `dev.skein.repo`: the repository's id for life. */
  readonly rkey: string
  readonly name: string
  readonly description: string | null
  /** Short branch name. It may name a branch that does not exist (yet). */
  readonly defaultBranch: string
  /** Grows with every change of refs, packs or description: caches are keyed by it. */
  readonly version: number
  /** Oldest first: a delta's base lies in the same pack or in an older one. */
  readonly packs: readonly ManifestPack[]
}

/** The same with the refs that were asked for: one answer of the `Repository` object. */
export interface Manifest extends ManifestBase {
  /** Sorted by the bytes of their names. Where any was asked for, the default branch is among them. */
  readonly refs: readonly ManifestRef[]
}

/** What has become of a ref since a version: what it is now, or that it is not shown any more. */
export type RefChange = ManifestRef | { readonly name: string; readonly target: null }

/** What a reader who asks for some refs is given: where HEAD points it is always told. */
export function withDefaultBranch(selection: RefSelection, defaultBranch: string): RefSelection {
  if (isNothing(selection)) return selection
  return { ...selection, names: [...selection.names, `refs/heads/${defaultBranch}`] }
}
