import { cutText } from '../../files/cut-text.ts'
import { callMethod } from '../../xrpc/router.ts'
import { CURSOR, limitArgument, pathArgument, REF, REPO } from '../arguments.ts'
import { oneLine } from '../one-line.ts'
import { defineTool } from '../tool.ts'

interface Args {
  readonly repo: string
  readonly ref?: string
  readonly path?: string
  readonly limit?: number
  readonly cursor?: string
}

interface Signature {
  readonly name: string
  readonly email: string
  readonly time?: number
}

interface Commit {
  readonly oid: string
  readonly parents: readonly string[]
  readonly author: Signature
  readonly message: string
}

const USUAL_LIMIT = 20
/** Of one commit; in UTF-16 units. */
const SHOWN_MESSAGE = 2_000

export const log = defineTool<Args>({
  name: 'log',
  title: 'Log',
  description: `Lists commits from a revision back, newest first: id, parents, author, time, message (the first ${SHOWN_MESSAGE} characters). With \`path\`: those that changed it. The first id is the tip, as \`base\` of commit takes it.`,
  arguments: {
    repo: REPO,
    ref: REF,
    path: pathArgument('Only commits that changed this file or directory.'),
    limit: limitArgument('commits', USUAL_LIMIT, 100),
    cursor: CURSOR,
  },
  required: ['repo'],
  async run({ args: { path, ...args }, ...call }) {
    const params = { limit: USUAL_LIMIT, ...args, ...(path ? { path } : {}) }
    const { commits, cursor } = (await callMethod('dev.skein.git.listCommits', params, call)) as {
      commits: readonly Commit[]
      cursor?: string
    }
    const parts = commits.map(show)
    if (parts.length === 0) parts.push(cursor === undefined ? 'No commits.' : 'No commits in this part of the history.')
    if (cursor !== undefined) parts.push(`There may be more: cursor ${cursor}`)
    return { text: [parts.join('\n\n')] }
  },
})

function show({ oid, parents, author, message }: Commit): string {
  const time = author.time === undefined ? 'no time' : showTime(author.time)
  const text = cutText(message.trimEnd(), SHOWN_MESSAGE)
  const lines = text.split('\n').map((line) => `    ${line}`.trimEnd())
  return [
    `commit ${oid}`,
    `Parents: ${parents.length === 0 ? 'none' : parents.join(' ')}`,
    `Author: ${oneLine(author.name)} <${oneLine(author.email)}>, ${time}`,
    '',
    ...lines,
    ...(text.length < message.trimEnd().length ? ['    …'] : []),
  ].join('\n')
}

/** The latest time that a date can be, in seconds. */
const MAX_TIME = 8_640_000_000_000

function showTime(seconds: number): string {
  return Math.abs(seconds) > MAX_TIME ? `${seconds} s since 1970` : new Date(seconds * 1000).toISOString()
}
