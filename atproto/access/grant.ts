import { matchesBranch } from '../../git/refs/branch-pattern.ts'

/**
 * What somebody may do: `read`; `commit` puts commits on a branch that exists; `branch` creates, deletes and rewrites
 * branches; `merge` brings one branch into another.
 */
export type Right = 'read' | 'commit' | 'branch' | 'merge'

export const RIGHTS: readonly Right[] = ['read', 'commit', 'branch', 'merge']

export function isRight(text: string): text is Right {
  return (RIGHTS as readonly string[]).includes(text)
}

/** What the owner of an account lets somebody else, or a token, do with it. */
export interface Grant {
  /** Record keys; null: every repository, also those that are yet to come. */
  readonly repositories: readonly string[] | null
  /** Patterns as in `git/refs/branch-pattern.ts`; null: every branch, and tags. */
  readonly branches: readonly string[] | null
  readonly rights: readonly Right[]
}

/** The owner's own. */
export const EVERYTHING: Grant = { repositories: null, branches: null, rights: RIGHTS }

/** What somebody wants to act on. */
export interface AccessTarget {
  /** Record key of the repository; null: one that does not exist yet. */
  readonly rkey: string | null
  /** Full name, `refs/heads/main`; null: no ref in particular. */
  readonly ref: string | null
}

const BRANCHES = 'refs/heads/'

/**
 * Whether a grant covers an action.
 *
 * Reading comes with every right, and on every branch. A ref that is no branch is covered only where all branches are:
 * patterns say nothing of tags. So is what does not exist yet, only where all repositories are.
 */
export function permits(grant: Grant, right: Right, { rkey, ref }: AccessTarget): boolean {
  const { repositories, branches, rights } = grant
  if (repositories !== null && (rkey === null || !repositories.includes(rkey))) return false
  if (right === 'read') return rights.length > 0
  if (!rights.includes(right)) return false
  if (ref === null || branches === null) return true
  if (!ref.startsWith(BRANCHES)) return false
  const branch = ref.slice(BRANCHES.length)
  return branches.some((pattern) => matchesBranch(pattern, branch))
}
