import type { Oid } from '../../../git/bytes/oid.ts'
import { diffAtPath } from '../../../git/diff/diff-at-path.ts'
import { parseCommit } from '../../../git/object/commit.ts'
import { COMMIT } from '../../../git/object/object-type.ts'
import { joinPath, splitPath } from '../../../git/object/path.ts'
import { readObject } from '../../../git/object/read-object.ts'
import type { RepositoryView } from '../../../storage/repository-view.ts'
import { DIFF_LIMITS, diffFiles, type FilesDiff } from '../../files/diff-files.ts'
import { HttpError } from '../../http/http-error.ts'
import { openRepository, requireCommit, requireRevision, requireTree } from '../../repository-access.ts'
import { parseRepositoryParam } from '../../xrpc/repository-param.ts'
import { pathArgument, REF, REPO } from '../arguments.ts'
import { defineTool } from '../tool.ts'

interface Args {
  readonly repo: string
  readonly to?: string
  readonly from?: string
  readonly path?: string
  readonly context?: number
}

export const diff = defineTool<Args>({
  name: 'diff',
  title: 'Diff',
  description: `Shows what differs between two revisions, or what one commit changed (without \`from\`: against its first parent), as a unified diff. Moved files show as deleted and added. At most ${DIFF_LIMITS.textLength / 1024} KiB; files beyond are only named (A, M, D): narrow it by path.`,
  arguments: {
    repo: REPO,
    to: REF,
    from: { ...REF, description: 'The revision to compare with. Default: the first parent of `to`.' },
    path: pathArgument('Only this file or directory.'),
    context: { type: 'integer', minimum: 0, maximum: 20, description: 'Lines around each change. Default 3.' },
  },
  required: ['repo'],
  async run({ args: { repo, to = 'HEAD', from, path = '', context = 3 }, deps }) {
    const view = await openRepository(deps, parseRepositoryParam(repo))
    const sides = from === undefined ? await parentAndCommit(view, to) : await both(view, from, to)
    const directory = splitPath(new TextEncoder().encode(path)).reduce(joinPath, new Uint8Array(0))
    const changes = await diffAtPath(view.objects, sides.old.tree, sides.new.tree, directory)
    if (changes === null) throw new HttpError(404, 'PathNotFound', 'neither revision has anything at this path')
    const found = await diffFiles(view.objects, changes, { context })
    const heading = `From ${sides.old.name} to ${sides.new.name}`
    return { text: show(heading, found) }
  },
})

interface Side {
  readonly tree: Oid | null
  readonly name: string
}

async function parentAndCommit(view: RepositoryView, text: string): Promise<{ old: Side; new: Side }> {
  const { oid, commit } = await requireCommit(view, await requireRevision(view, text, 'commit'))
  const fresh = { tree: commit.tree, name: `commit ${oid}` }
  const [parent] = commit.parents
  if (parent === undefined) return { old: { tree: null, name: 'nothing' }, new: fresh }
  const { tree } = parseCommit(await readObject(view.objects, parent, COMMIT))
  return { old: { tree, name: `its parent ${parent}` }, new: fresh }
}

async function both(view: RepositoryView, from: string, to: string): Promise<{ old: Side; new: Side }> {
  const [old, fresh] = await Promise.all([sideOf(view, from), sideOf(view, to)])
  return { old, new: fresh }
}

async function sideOf(view: RepositoryView, text: string): Promise<Side> {
  const { tree, commit } = await requireTree(view, await requireRevision(view, text, 'tree'))
  return { tree, name: commit === null ? `tree ${tree}` : `commit ${commit}` }
}

function show(heading: string, { text, isCut, others, hasMore }: FilesDiff): string[] {
  if (text === '') return [`${heading}: nothing differs.`]
  const notes = [
    ...(isCut ? ['The last file is cut: read its sides by read_file.'] : []),
    ...(others.length > 0 ? ['Not shown, but different too:', ...others] : []),
    ...(hasMore ? ['… and more'] : []),
  ]
  return [`${heading}:`, text, ...(notes.length === 0 ? [] : [notes.join('\n')])]
}
