import { canonicalMode, formatMode, isDirectory, isGitlink } from '../../git/object/file-mode.ts'
import { resolveTreePath } from '../../git/walk/tree-path.ts'
import { NoSuchPathError, type WalkedEntry, walkTree } from '../../git/walk/walk-tree.ts'
import type { RepositoryObjects } from '../../storage/repository-view.ts'
import { HttpError } from '../http/http-error.ts'
import { openRepository, requireRevision, requireTree } from '../repository-access.ts'
import type { XrpcCall } from './call.ts'
import { decodeCursor, encodeCursor, invalidCursor } from './cursor.ts'
import { answerJson, objectValidator } from './json-answer.ts'
import { pathJson } from './path-json.ts'
import { parseRepositoryParam } from './repository-param.ts'

interface Params {
  readonly repo: string
  readonly ref: string
  readonly path: string
  readonly recursive: boolean
  readonly limit: number
  /** Path of the last entry of the page before, from the directory. */
  readonly cursor?: string
}

/** `dev.skein.git.getTree` */
export async function getTree({ request, params, deps }: XrpcCall<Params>): Promise<Response> {
  const view = await openRepository(deps, parseRepositoryParam(params.repo))
  const revision = await requireRevision(view, params.ref, 'tree')
  const { tree, commit } = await requireTree(view, revision)
  return answerJson(request, objectValidator(commit ?? tree, revision.exact), async () => {
    const directory = await resolveTreePath(view.objects, tree, new TextEncoder().encode(params.path))
    if (directory === null) throw new HttpError(404, 'PathNotFound', 'no such directory in this revision')
    if (!isDirectory(directory.mode)) throw new HttpError(404, 'PathNotFound', 'this path is no directory')
    const { entries, next } = await listEntries(view.objects, directory.oid, params)
    return {
      commit: commit ?? undefined,
      tree: directory.oid,
      cursor: next === null ? undefined : encodeCursor(next),
      entries: entries.map(entryJson),
    }
  })
}

async function listEntries(
  objects: RepositoryObjects,
  tree: string,
  { recursive, limit, cursor }: Params,
): Promise<{ entries: WalkedEntry[]; next: Uint8Array | null }> {
  const after = cursor === undefined ? null : decodeCursor(cursor)
  const entries: WalkedEntry[] = []
  try {
    for await (const entry of walkTree(objects, tree, { recursive, after })) {
      if (entries.length === limit) return { entries, next: entries.at(-1)!.path }
      entries.push(entry)
    }
  } catch (error) {
    if (error instanceof NoSuchPathError) throw invalidCursor()
    throw error
  }
  return { entries, next: null }
}

/** `dev.skein.git.defs#treeEntry` */
function entryJson({ path, mode, oid }: WalkedEntry): Record<string, unknown> {
  return {
    ...pathJson(path),
    mode: formatMode(canonicalMode(mode)),
    type: isDirectory(mode) ? 'tree' : isGitlink(mode) ? 'commit' : 'blob',
    oid,
  }
}
