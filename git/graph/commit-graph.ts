import type { Oid } from '../bytes/oid.ts'
import type { ObjectType } from '../object/object-type.ts'

/**
 * The commits of a repository, from the graphs of all its packs, numbered from 0. A number is meaningful within one
 * graph only. Parents that no pack holds are left out of `parents` and said in `isComplete`.
 */
export interface CommitGraph {
  /** How many commits there are. */
  readonly size: number
  /** The number of a commit, or -1. */
  find(oid: Oid): number
  oid(commit: number): Oid
  /** Numbers of its parents, in their order. */
  parents(commit: number): readonly number[] | Uint32Array
  tree(commit: number): Oid
  /** Committer time in seconds since 1970. */
  time(commit: number): number
  /** 1 for a root, else 1 + the largest of the parents'. */
  generation(commit: number): number
  /** Whether all parents are here. */
  isComplete(commit: number): boolean
  /** What a tag object points at directly, or null if no pack has that tag object. */
  tagTarget(oid: Oid): { readonly oid: Oid; readonly type: ObjectType } | null
}
