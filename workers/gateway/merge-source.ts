import type { MergeStrategy } from '../../durable-objects/branch-queue/answers.ts'
import type { Oid } from '../../git/bytes/oid.ts'
import { shortBranch } from '../../git/refs/short-branch.ts'
import type { RepositoryView } from '../../storage/repository-view.ts'
import type { Revision } from '../../storage/revision.ts'
import { requireCommit, requireRevision } from '../repository-access.ts'

/** What is to be merged. */
export interface MergeSource {
  readonly oid: Oid
  /** As messages and conflict markers call it. */
  readonly name: string
  /** As git's own merge message calls it: `branch 'feature'`. */
  readonly title: string
}

/** Finds what a merge names. @param text a branch, a tag or a commit. @throws {@link HttpError} 404, 400 */
export async function resolveMergeSource(view: RepositoryView, text: string): Promise<MergeSource> {
  const revision = await requireRevision(view, text, 'commit')
  const { oid } = await requireCommit(view, revision)
  return { oid, ...namesOf(revision, text) }
}

function namesOf({ ref }: Revision, text: string): { name: string; title: string } {
  if (ref?.startsWith('refs/heads/')) return { name: shortBranch(ref), title: `branch '${shortBranch(ref)}'` }
  if (ref?.startsWith('refs/tags/')) {
    const name = ref.slice('refs/tags/'.length)
    return { name, title: `tag '${name}'` }
  }
  return { name: text, title: `commit '${text}'` }
}

/** The message of a merge as git words it; null where the strategy has its own. */
export function mergeMessage(strategy: MergeStrategy, title: string, into: string): string | null {
  if (strategy !== 'merge') return null
  const branch = shortBranch(into)
  return branch === 'main' || branch === 'master' ? `Merge ${title}` : `Merge ${title} into ${branch}`
}
