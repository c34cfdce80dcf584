import { callMethod } from '../../xrpc/router.ts'
import { CURSOR, limitArgument } from '../arguments.ts'
import { oneLine } from '../one-line.ts'
import { defineTool } from '../tool.ts'

interface Args {
  readonly actor: string
  readonly limit?: number
  readonly cursor?: string
}

interface Repository {
  readonly did: string
  readonly handle?: string
  readonly name: string
  readonly description?: string
  readonly defaultBranch: string
}

export const listRepos = defineTool<Args>({
  name: 'list_repos',
  title: 'List repositories',
  description: 'Lists the repositories of an account, oldest first: name for `repo`, default branch, description.',
  arguments: {
    actor: { type: 'string', minLength: 1, maxLength: 2048, description: 'Handle or DID of the account.' },
    limit: limitArgument('repositories', 50, 100),
    cursor: CURSOR,
  },
  required: ['actor'],
  async run({ args, ...call }) {
    const answer = await callMethod('dev.skein.repo.list', { ...args }, call)
    const { repositories, cursor } = answer as { repositories: readonly Repository[]; cursor?: string }
    const lines = repositories.map(({ did, handle, name, description, defaultBranch }) => {
      const about = description === undefined ? '' : `: ${oneLine(description)}`
      return `${handle ?? did}/${name} (default branch ${defaultBranch})${about}`
    })
    if (lines.length === 0)
      lines.push(`${args.actor} has no ${args.cursor === undefined ? '' : 'further '}repositories.`)
    if (cursor !== undefined) lines.push(`There are more: cursor ${cursor}`)
    return { text: [lines.join('\n')] }
  },
})
