import type { Oid } from '../bytes/oid.ts'
import { findRef } from '../refs/ref-order.ts'

/** A ref as clients are told of it. */
export interface AdvertisedRef {
  /** Full name. */
  readonly name: string
  readonly target: Oid
  /** What an annotated tag points at in the end, or null where the target is no tag object. */
  readonly peeled: Oid | null
}

/** Where HEAD points. */
export interface Head {
  /** Full name of the default branch. */
  readonly branch: string
  /** Its tip, or null if there is no such branch (yet): HEAD is unborn. */
  readonly target: Oid | null
}

/** What a repository shows: refs sorted by the bytes of their names, and its HEAD. */
export interface AdvertisedRefs {
  readonly head: Head
  readonly refs: Iterable<AdvertisedRef>
}

/** HEAD of a repository whose default branch has this short name. @param refs sorted by the bytes of their names */
export function resolveHead(refs: readonly AdvertisedRef[], defaultBranch: string): Head {
  const branch = `refs/heads/${defaultBranch}`
  return { branch, target: findRef(refs, branch)?.target ?? null }
}
