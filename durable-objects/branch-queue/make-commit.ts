import type { Oid } from '../../git/bytes/oid.ts'
import { serializeCommit } from '../../git/object/commit.ts'
import { hashObject } from '../../git/object/hash-object.ts'
import type { NewObject } from '../../git/object/new-object.ts'
import { COMMIT } from '../../git/object/object-type.ts'
import type { Person } from '../../git/object/signature.ts'
import type { Author } from './answers.ts'
import type { AppliedWork, BranchTip } from './ground.ts'

export interface CommitParts {
  readonly tree: Oid
  /** The tip comes first. */
  readonly parents: readonly Oid[]
  readonly author: Author
  readonly message: string
  /** When it was handed in, in seconds since 1970. */
  readonly time: number
}

/** A commit on the tip. Made twice of the same, it has the same id. @throws {@link FieldError} */
export function makeCommit(
  tip: BranchTip | null,
  { tree, parents, author, message, time }: CommitParts,
  objects: readonly NewObject[],
): AppliedWork {
  const committer = committerOf(author, time, tip)
  const bytes = serializeCommit({ tree, parents, author: committer, committer, message })
  const commit = newCommit(bytes)
  return {
    tip: { commit: commit.oid, tree, time: committer.time },
    objects: [commit, ...objects],
    commits: [{ oid: commit.oid, tree, parents, time: committer.time }],
  }
}

/** Never older than what it is made on: git walks histories by time. */
export function committerOf({ name, email }: Author, time: number, tip: BranchTip | null): Person {
  return { name, email, time: Math.max(time, tip?.time ?? 0), zone: 0 }
}

export function newCommit(bytes: Uint8Array): NewObject {
  return { type: COMMIT, bytes, oid: hashObject(COMMIT, bytes), base: null }
}
