import { callMethod } from '../../xrpc/router.ts'
import { BRANCH, IDEMPOTENCY_KEY, REPO, WAIT } from '../arguments.ts'
import { type Work, workAnswer } from '../landed.ts'
import { defineTool } from '../tool.ts'

interface Args extends Record<string, unknown> {
  readonly repo: string
  readonly branch: string
}

export const createBranch = defineTool<Args>({
  name: 'create_branch',
  title: 'Create a branch',
  description: 'Creates a branch at a revision; needs a token that may create branches.',
  arguments: {
    repo: REPO,
    branch: BRANCH,
    from: {
      type: 'string',
      minLength: 1,
      maxLength: 1000,
      description: 'A branch, a tag or a commit id. Default: the default branch.',
    },
    idempotencyKey: IDEMPOTENCY_KEY,
    wait: WAIT,
  },
  required: ['repo', 'branch'],
  writes: true,
  async run({ args, ...call }) {
    return workAnswer(args.branch, (await callMethod('dev.skein.gateway.createBranch', args, call)) as Work)
  },
})
