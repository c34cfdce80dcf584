import { COMMIT_LIMITS } from '../../../durable-objects/branch-queue/limits.ts'
import { callMethod } from '../../xrpc/router.ts'
import { AUTHOR, BRANCH, IDEMPOTENCY_KEY, OID, REPO, WAIT } from '../arguments.ts'
import { type Work, workAnswer } from '../landed.ts'
import { defineTool } from '../tool.ts'

interface Args extends Record<string, unknown> {
  readonly repo: string
  readonly branch: string
  readonly source: string
}

export const merge = defineTool<Args>({
  name: 'merge',
  title: 'Merge',
  description:
    'Merges a branch, tag or commit into a branch; needs a token that may merge. A conflict changes nothing: the answer shows both sides.',
  arguments: {
    repo: REPO,
    branch: { ...BRANCH, description: 'The branch that is merged into.' },
    source: { type: 'string', minLength: 1, maxLength: 1000, description: 'The branch, tag or commit id to merge.' },
    strategy: {
      type: 'string',
      enum: ['fast-forward', 'merge', 'squash', 'rebase'],
      description:
        'fast-forward moves the branch to the source, merge (default) makes a merge commit, squash one commit of all changes, rebase makes the commits anew.',
    },
    message: {
      type: 'string',
      minLength: 1,
      maxLength: COMMIT_LIMITS.messageBytes,
      description: 'Of the merge or squash commit. Default: as git words it.',
    },
    expectTip: { ...OID, description: 'Commit id that the branch must be at, or nothing is done.' },
    author: AUTHOR,
    idempotencyKey: IDEMPOTENCY_KEY,
    wait: WAIT,
  },
  required: ['repo', 'branch', 'source'],
  writes: true,
  async run({ args, ...call }) {
    return workAnswer(args.branch, (await callMethod('dev.skein.gateway.merge', args, call)) as Work)
  },
})
