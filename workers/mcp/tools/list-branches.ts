import { callMethod } from '../../xrpc/router.ts'
import { CURSOR, limitArgument, REPO } from '../arguments.ts'
import { defineTool } from '../tool.ts'

interface Args {
  readonly repo: string
  readonly prefix?: string
  readonly limit?: number
  readonly cursor?: string
}

interface Ref {
  readonly name: string
  readonly target: string
  readonly peeled?: string
}

const BRANCHES = 'refs/heads/'

export const listBranches = defineTool<Args>({
  name: 'list_branches',
  title: 'List branches',
  description: 'Lists branches and the commit that each is at, by name. With `prefix` `refs/tags/`: tags.',
  arguments: {
    repo: REPO,
    prefix: {
      type: 'string',
      maxLength: 1024,
      description: 'Only names that start so: of a branch, `agents/`; of any ref, in full, `refs/tags/v1`.',
    },
    limit: limitArgument('names', 100, 1000),
    cursor: CURSOR,
  },
  required: ['repo'],
  async run({ args: { prefix = '', ...args }, ...call }) {
    const full = prefix.startsWith('refs/') ? prefix : BRANCHES + prefix
    const answer = await callMethod('dev.skein.git.listRefs', { ...args, prefix: full }, call)
    const { refs, cursor } = answer as { refs: readonly Ref[]; cursor?: string }
    const lines = refs.map(({ name, target, peeled }) => {
      return `${peeled ?? target} ${name.startsWith(BRANCHES) ? name.slice(BRANCHES.length) : name}`
    })
    if (lines.length === 0) lines.push('There are none of that name.')
    if (cursor !== undefined) lines.push(`There are more: cursor ${cursor}`)
    return { text: [lines.join('\n')] }
  },
})
