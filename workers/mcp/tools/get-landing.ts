import { callMethod } from '../../xrpc/router.ts'
import { BRANCH, REPO } from '../arguments.ts'
import { type Work, workAnswer } from '../landed.ts'
import { defineTool } from '../tool.ts'

interface Args extends Record<string, unknown> {
  readonly repo: string
  readonly branch: string
  readonly ticket: string
}

export const getLanding = defineTool<Args>({
  name: 'get_landing',
  title: 'Ask what became of a ticket',
  description:
    'Says what became of a commit, create_branch or merge that was stored and had not landed yet: landed, waiting, or refused and why. For 24 hours, with the token that handed it in.',
  arguments: {
    repo: REPO,
    branch: BRANCH,
    ticket: { type: 'string', minLength: 1, maxLength: 256, description: 'From the answer before.' },
  },
  required: ['repo', 'branch', 'ticket'],
  async run({ args, ...call }) {
    return workAnswer(args.branch, (await callMethod('dev.skein.gateway.getLanding', args, call)) as Work)
  },
})
