import type { Author, MergeStrategy, PathConflict, RefusedWork } from '../../durable-objects/branch-queue/answers.ts'
import { applyWork } from '../../durable-objects/branch-queue/apply-work.ts'
import { type AppliedWork, Ground, readTip } from '../../durable-objects/branch-queue/ground.ts'
import type { Oid } from '../../git/bytes/oid.ts'
import { diffTrees, type TreeChange } from '../../git/diff/diff-trees.ts'
import { mergeBases } from '../../git/merge/merge-bases.ts'
import { OverlaySource } from '../../git/merge/overlay-source.ts'
import { MissingObjectError } from '../../git/object/missing-object-error.ts'
import type { RepositoryView } from '../../storage/repository-view.ts'

/** What a merge would do to a branch. */
export interface MergePreview {
  readonly mergeBases: readonly Oid[]
  /** Whether the branch has no commit that the source lacks. */
  readonly canFastForward: boolean
  /** Whether the source has no commit that the branch lacks. */
  readonly isUpToDate: boolean
  readonly result:
    | { readonly ok: true; readonly tree: Oid; readonly changes: readonly TreeChange[]; readonly hasMore: boolean }
    | { readonly ok: false; readonly refusal: RefusedWork; readonly conflicts: readonly PathConflict[] }
}

/** Files that a preview lists. */
const MAX_CHANGES = 1_000

/** Nobody sees who would have made the commit. */
const NOBODY: Author = { name: 'nobody', email: '' }

/**
 * Makes the merge that a branch's queue would make, by the same code, and stores nothing.
 *
 * @param ref full name of the branch
 * @param tip where it is
 * @throws {@link MissingObjectError}, {@link MalformedObjectError} where the repository cannot be read
 */
export async function previewMerge(
  view: RepositoryView,
  { ref, tip: commit }: { readonly ref: string; readonly tip: Oid },
  { source, sourceName }: { readonly source: Oid; readonly sourceName: string },
  strategy: MergeStrategy,
): Promise<MergePreview> {
  const tip = await readTip(view.objects, commit)
  if (tip === null) throw new MissingObjectError(commit)
  const ground = new Ground({ ref, tip, unreadable: null, mayBegin: false, inTheWay: null }, view)
  const work = {
    kind: 'merge',
    source,
    sourceName,
    strategy,
    message: null,
    author: NOBODY,
    expectedTip: null,
  } as const
  const outcome = await applyWork(ground, work, tip.time)
  const graph = await view.graph()
  const bases = mergeBases(graph, [graph.find(commit)], [graph.find(source)]).map((base) => graph.oid(base))
  return {
    mergeBases: bases,
    canFastForward: bases.includes(commit),
    isUpToDate: bases.includes(source),
    result: outcome.ok
      ? { ok: true, ...(await changesOf(view, tip.tree, outcome.applied)) }
      : { ok: false, refusal: outcome.refusal, conflicts: conflictsOf(outcome.refusal) },
  }
}

function conflictsOf(refusal: RefusedWork): readonly PathConflict[] {
  return refusal.reason === 'merge-conflict' ? refusal.conflicts : []
}

async function changesOf(
  view: RepositoryView,
  before: Oid,
  { tip, objects }: AppliedWork,
): Promise<{ tree: Oid; changes: TreeChange[]; hasMore: boolean }> {
  const source = new OverlaySource(view.objects)
  source.add(objects)
  const { tree } = tip!
  const changes: TreeChange[] = []
  for await (const change of diffTrees(source, before, tree)) {
    if (changes.length === MAX_CHANGES) return { tree, changes, hasMore: true }
    changes.push(change)
  }
  return { tree, changes, hasMore: false }
}
