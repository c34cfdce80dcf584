import { lineStarts } from '../../../git/diff/text-lines.ts'
import { isSymlink } from '../../../git/object/file-mode.ts'
import { decodeText, isUtf8 } from '../../../git/object/text.ts'
import { readBlobText } from '../../files/blob-text.ts'
import { type FoundFile, findFile } from '../../files/find-file.ts'
import { showPath } from '../../files/show-path.ts'
import { invalidRequest } from '../../http/http-error.ts'
import { openRepository } from '../../repository-access.ts'
import { parseRepositoryParam } from '../../xrpc/repository-param.ts'
import { pathArgument, REF, REPO } from '../arguments.ts'
import { defineTool, type ToolAnswer } from '../tool.ts'

interface Args {
  readonly repo: string
  readonly path: string
  readonly ref?: string
  readonly startLine?: number
  readonly endLine?: number
}

/** Larger files are not read: to count lines, all of it is. Bytes. */
const MAX_FILE = 8 * 1024 * 1024
/** What one call gives at most: a model's context is what it fills. Lines, and bytes. */
const MAX_LINES = 2_000
const MAX_BYTES = 128 * 1024

export const readFile = defineTool<Args>({
  name: 'read_file',
  title: 'Read a file',
  description: `Reads a text file at a revision. The first block says which commit and blob id (for \`base\` and \`expect\` of commit) and lines it is, the second is the text as it stands. At most ${MAX_LINES} lines and ${MAX_BYTES / 1024} KiB a call: give startLine and endLine for more. Files over ${MAX_FILE / 1024 / 1024} MiB and binary files are not read.`,
  arguments: {
    repo: REPO,
    path: { ...pathArgument('Path of the file, from the root.'), minLength: 1 },
    ref: REF,
    startLine: { type: 'integer', minimum: 1, description: 'First line, counted from 1. Default 1.' },
    endLine: { type: 'integer', minimum: 1, description: 'Last line, included.' },
  },
  required: ['repo', 'path'],
  async run({ args, deps }) {
    const { repo, path, ref = 'HEAD', startLine = 1, endLine = Number.MAX_SAFE_INTEGER } = args
    if (endLine < startLine) throw invalidRequest('endLine must not be before startLine')
    const view = await openRepository(deps, parseRepositoryParam(repo))
    const file = await findFile(view, ref, new TextEncoder().encode(path))
    const content = await readBlobText(view.objects, file.oid, MAX_FILE)
    const about = describe(path, file)
    switch (content.kind) {
      case 'too-large':
        return { text: [`${about}: ${content.size} bytes, too large to be read here.`] }
      case 'binary':
        return { text: [`${about}: binary, ${content.bytes.length} bytes. It is not shown.`] }
      case 'text':
        return showLines(about, content.bytes, startLine, endLine)
    }
  },
})

function describe(path: string, { mode, oid, commit }: FoundFile): string {
  const link = isSymlink(mode) ? ', a symbolic link whose target follows' : ''
  return `${showPath(path)} (blob ${oid}${commit === null ? '' : `, commit ${commit}`}${link})`
}

function showLines(about: string, bytes: Uint8Array, startLine: number, endLine: number): ToolAnswer {
  const starts = lineStarts(bytes)
  const total = starts.length - 1
  if (total === 0) return { text: [`${about}: empty.`] }
  if (startLine > total) throw invalidRequest(`startLine is ${startLine}, and the file has ${total} lines`)
  const last = Math.min(endLine, total, startLine + MAX_LINES - 1)
  const start = starts[startLine - 1]!
  let end = last
  while (end > startLine && starts[end]! - start > MAX_BYTES) end--
  const isLineCut = starts[end]! - start > MAX_BYTES
  const shown = bytes.subarray(start, isLineCut ? start + MAX_BYTES : starts[end]!)
  const notes = [
    ...(isLineCut ? [`line ${end} is cut after ${MAX_BYTES} bytes`] : []),
    ...(end < Math.min(endLine, total) ? [`go on with startLine ${end + 1}`] : []),
    ...(isUtf8(bytes) ? [] : ['not UTF-8, shown as Latin-1: writing it back would change it']),
  ]
  const note = notes.length === 0 ? '' : ` (${notes.join('; ')})`
  return { text: [`${about}: lines ${startLine} to ${end} of ${total}${note}.`, decodeShown(shown, bytes)] }
}

/** A cut may fall into a character, which is then left out. */
function decodeShown(shown: Uint8Array, whole: Uint8Array): string {
  return isUtf8(whole) ? new TextDecoder().decode(shown, { stream: true }) : decodeText(shown)
}
