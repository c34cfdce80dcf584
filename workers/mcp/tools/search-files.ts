import { isDirectory } from '../../../git/object/file-mode.ts'
import { joinPath, splitPath } from '../../../git/object/path.ts'
import { decodeText } from '../../../git/object/text.ts'
import { resolveTreePath } from '../../../git/walk/tree-path.ts'
import { NoSuchPathError } from '../../../git/walk/walk-tree.ts'
import { type FileMatch, SEARCH_LIMITS, type SearchPage, searchFiles } from '../../files/search-files.ts'
import { showPath } from '../../files/show-path.ts'
import { HttpError, invalidRequest } from '../../http/http-error.ts'
import { openRepository, requireRevision, requireTree } from '../../repository-access.ts'
import { decodeCursor, encodeCursor, invalidCursor } from '../../xrpc/cursor.ts'
import { parseRepositoryParam } from '../../xrpc/repository-param.ts'
import { CURSOR, limitArgument, pathArgument, REF, REPO } from '../arguments.ts'
import { defineTool } from '../tool.ts'

interface Args {
  readonly repo: string
  readonly text?: string
  readonly name?: string
  readonly ref?: string
  readonly path?: string
  readonly ignoreCase?: boolean
  readonly limit?: number
  readonly cursor?: string
}

const USUAL_LIMIT = 100
/** UTF-16 units: what is looked for is written by hand. */
const MAX_PATTERN = 500
const MEBIBYTE = 1024 * 1024

export const search = defineTool<Args>({
  name: 'search_files',
  title: 'Search files',
  description: `Finds files by name, or lines by text (then \`path:line: text\`), or lines in the files of a name. Text is literal, not a regular expression, and must lie in one line. A call reads at most ${SEARCH_LIMITS.files} files, ${SEARCH_LIMITS.bytes / MEBIBYTE} MiB, and says when it was cut: go on with its cursor, or narrow it by path and name. Binary files and files over ${SEARCH_LIMITS.fileBytes / MEBIBYTE} MiB are left out.`,
  arguments: {
    repo: REPO,
    text: { type: 'string', minLength: 1, maxLength: MAX_PATTERN, description: 'Text to find in files.' },
    name: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_PATTERN,
      description:
        'Part of the path; or a pattern with `*`, `?` (not over `/`) and `**`: with a `/` in it for the whole path, else for the file name. As `*.ts`, `src/**/index.*`.',
    },
    ref: REF,
    path: pathArgument('Directory to search in. Default: all.'),
    ignoreCase: { type: 'boolean', description: 'Whether `a` finds `A`. Default false.' },
    limit: limitArgument('lines, or files where no text is given', USUAL_LIMIT, 500),
    cursor: CURSOR,
  },
  required: ['repo'],
  async run({ args, deps }) {
    const { repo, text = null, name = null, ref = 'HEAD', ignoreCase = false, limit = USUAL_LIMIT, cursor } = args
    if (text === null && name === null) throw invalidRequest('give text, or name, or both')
    if (text !== null && /[\r\n]/.test(text)) throw invalidRequest('text must lie in one line')
    const view = await openRepository(deps, parseRepositoryParam(repo))
    const { tree, commit } = await requireTree(view, await requireRevision(view, ref, 'tree'))
    const path = splitPath(new TextEncoder().encode(args.path ?? '')).reduce(joinPath, new Uint8Array(0))
    const entry = await resolveTreePath(view.objects, tree, path)
    if (entry === null || !isDirectory(entry.mode)) {
      throw new HttpError(404, 'PathNotFound', 'path is no directory in this revision')
    }
    const after = cursor === undefined ? null : decodeCursor(cursor)
    const options = { after, limit }
    const directory = { tree: entry.oid, path }
    const page = await asCursorError(searchFiles(view.objects, directory, { name, text, ignoreCase }, options))
    return { text: [show(page, commit ?? tree, text !== null)] }
  },
})

async function asCursorError<T>(search: Promise<T>): Promise<T> {
  try {
    return await search
  } catch (error) {
    if (error instanceof NoSuchPathError) throw invalidCursor()
    throw error
  }
}

function show({ matches, searched, binary, tooLarge, next }: SearchPage, revision: string, hasText: boolean): string {
  const lines = matches.flatMap((match) => showMatch(match))
  const found = hasText
    ? `${countOf(matches)} lines in ${matches.length} of ${searched} files`
    : `${lines.length} files`
  const left = [...(binary > 0 ? [`${binary} binary`] : []), ...(tooLarge > 0 ? [`${tooLarge} too large`] : [])]
  const leftOut = left.length === 0 ? '' : `; left out: ${left.join(', ')}`
  const heading = `Found at ${revision}: ${found}${leftOut}.`
  if (next === null) return [heading, ...lines].join('\n')
  return [
    heading,
    ...lines,
    `Cut here, there is more to search: cursor ${encodeCursor(next)}, with ref ${revision}`,
  ].join('\n')
}

function countOf(matches: readonly FileMatch[]): number {
  return matches.reduce((sum, { lines, moreLines }) => sum + lines.length + moreLines, 0)
}

function showMatch({ path, lines, moreLines }: FileMatch): string[] {
  const shown = showPath(decodeText(path))
  if (lines.length === 0) return [shown]
  const found = lines.map(({ number, text }) => `${shown}:${number}: ${text}`)
  return moreLines === 0 ? found : [...found, `${shown}: and ${moreLines} more lines`]
}
