import type { MergeStrategy } from '../../durable-objects/branch-queue/answers.ts'
import type { DiffSide, TreeChange } from '../../git/diff/diff-trees.ts'
import { formatMode } from '../../git/object/file-mode.ts'
import { findRef } from '../../git/refs/ref-order.ts'
import type { RepositoryView } from '../../storage/repository-view.ts'
import { openRepository } from '../repository-access.ts'
import type { XrpcCall } from '../xrpc/call.ts'
import { answerHashedJson } from '../xrpc/json-answer.ts'
import { pathJson } from '../xrpc/path-json.ts'
import { parseRepositoryParam } from '../xrpc/repository-param.ts'
import { parseBranchParam } from './branch-param.ts'
import { conflictsJson } from './conflict-json.ts'
import { resolveMergeSource } from './merge-source.ts'
import { type MergePreview, previewMerge } from './preview-merge.ts'
import { refusalName } from './refusal-error.ts'
import { noBranch } from './require-branch.ts'

interface Params {
  readonly repo: string
  readonly branch: string
  readonly source: string
  readonly strategy: MergeStrategy
}

/** `dev.skein.gateway.mergePreview` */
export async function mergePreview({ request, params, deps }: XrpcCall<Params>): Promise<Response> {
  const ref = parseBranchParam(params.branch)
  const view = await openRepository(deps, parseRepositoryParam(params.repo))
  const branch = findRef(view.manifest.refs, ref)
  if (branch === null) throw noBranch(ref)
  const source = await resolveMergeSource(view, params.source)
  const merged = { source: source.oid, sourceName: source.name }
  const { result, ...preview } = await previewMerge(view, { ref, tip: branch.target }, merged, params.strategy)
  return answerHashedJson(request, {
    branch: branch.target,
    source: source.oid,
    ...preview,
    canMerge: result.ok,
    ...(await resultJson(view, result)),
  })
}

async function resultJson(view: RepositoryView, result: MergePreview['result']): Promise<Record<string, unknown>> {
  if (result.ok) return { tree: result.tree, changes: result.changes.map(changeJson), hasMore: result.hasMore }
  const { refusal, conflicts } = result
  return {
    error: refusalName(refusal),
    message: refusal.message,
    conflicts: conflicts.length === 0 ? undefined : await conflictsJson(conflicts, view.objects),
  }
}

/** `dev.skein.gateway.defs#fileChange` */
function changeJson({ path, old, new: fresh }: TreeChange): Record<string, unknown> {
  return { ...pathJson(path), old: fileJson(old), new: fileJson(fresh) }
}

function fileJson(side: DiffSide | null): { mode: string; oid: string } | undefined {
  return side === null ? undefined : { mode: formatMode(side.mode), oid: side.oid }
}
