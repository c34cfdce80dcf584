import { showPath } from '../../files/show-path.ts'
import { callMethod } from '../../xrpc/router.ts'
import { CURSOR, limitArgument, pathArgument, REF, REPO } from '../arguments.ts'
import { defineTool } from '../tool.ts'

interface Args {
  readonly repo: string
  readonly ref?: string
  readonly path?: string
  readonly recursive?: boolean
  readonly limit?: number
  readonly cursor?: string
}

interface Entry {
  readonly path: string
  readonly mode: string
  readonly type: 'blob' | 'tree' | 'commit'
}

const USUAL_LIMIT = 500

export const listFiles = defineTool<Args>({
  name: 'list_files',
  title: 'List files',
  description: `Lists a directory at a revision, in tree order. Directories end in \`/\`. At most ${USUAL_LIMIT} entries, or \`limit\`, a call. To find a file by its name: search_files.`,
  arguments: {
    repo: REPO,
    ref: REF,
    path: pathArgument('Path of the directory. Default: the root.'),
    recursive: { type: 'boolean', description: 'Also what lies in directories. Default false.' },
    limit: limitArgument('entries', USUAL_LIMIT, 2000),
    cursor: CURSOR,
  },
  required: ['repo'],
  async run({ args, ...call }) {
    const answer = await callMethod('dev.skein.git.getTree', { limit: USUAL_LIMIT, ...args }, call)
    const { commit, tree, entries, cursor } = answer as {
      commit?: string
      tree: string
      entries: readonly Entry[]
      cursor?: string
    }
    const root = args.path?.split('/').filter(Boolean).join('/') ?? ''
    const lines = entries.map((entry) => line(root, entry))
    const from = commit === undefined ? `tree ${tree}` : `commit ${commit}`
    const heading = `${root === '' ? 'The root' : showPath(root)} at ${from}, ${entries.length} entries:`
    const more = cursor === undefined ? [] : [`There are more: cursor ${cursor}, with ref ${commit ?? tree}`]
    return { text: [[heading, ...lines, ...more].join('\n')] }
  },
})

/** Paths are told from the root of the repository, as other tools take them. */
function line(root: string, { path, mode, type }: Entry): string {
  const shown = showPath(root === '' ? path : `${root}/${path}`)
  if (type === 'tree') return `${shown}/`
  if (type === 'commit') return `${shown} (submodule)`
  if (mode === '120000') return `${shown} (symbolic link)`
  return mode === '100755' ? `${shown} (executable)` : shown
}
