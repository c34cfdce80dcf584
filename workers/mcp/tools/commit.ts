import { COMMIT_LIMITS } from '../../../durable-objects/branch-queue/limits.ts'
import { callMethod } from '../../xrpc/router.ts'
import { AUTHOR, BRANCH, IDEMPOTENCY_KEY, OID, REPO, WAIT } from '../arguments.ts'
import { type Work, workAnswer } from '../landed.ts'
import { defineTool } from '../tool.ts'

interface Args extends Record<string, unknown> {
  readonly repo: string
  readonly branch: string
  readonly message: string
  readonly changes: readonly unknown[]
}

const MEBIBYTE = 1024 * 1024

export const commit = defineTool<Args>({
  name: 'commit',
  title: 'Commit',
  description: `Puts one commit on a branch, without a checkout; needs a token. Commits of many callers land in order, each on the one before. Give \`base\`, the commit id that you read the files at: then your changes are merged with what landed since, and only what really conflicts is refused. At most ${COMMIT_LIMITS.changes} changes, ${COMMIT_LIMITS.contentBytes / MEBIBYTE} MiB, ${COMMIT_LIMITS.fileBytes / MEBIBYTE} MiB a file. The branch must exist (create_branch), or be the default branch of an empty repository.`,
  arguments: {
    repo: REPO,
    branch: BRANCH,
    message: {
      type: 'string',
      minLength: 1,
      maxLength: COMMIT_LIMITS.messageBytes,
      description: 'What the commit does.',
    },
    changes: {
      type: 'array',
      minItems: 1,
      maxItems: COMMIT_LIMITS.changes,
      description:
        'Made together. Each has a path and: content (the whole file), or delete, or moveFrom (with content or not), or mode alone.',
      items: {
        type: 'object',
        required: ['path'],
        additionalProperties: false,
        properties: {
          path: { type: 'string', description: 'From the root, as `src/main.ts`.' },
          content: { type: 'string', description: 'All that the file holds from now on.' },
          encoding: { type: 'string', enum: ['utf-8', 'base64'], description: 'Of content. Default utf-8.' },
          delete: { type: 'boolean', description: 'True: the file, or the directory with all in it, goes.' },
          moveFrom: { type: 'string', description: 'File or directory that moves to path.' },
          mode: { type: 'string', enum: ['100644', '100755', '120000'], description: 'Plain, executable, link.' },
        },
      },
    },
    base: { ...OID, description: 'Commit that your changes were made on. Default: they are made on the tip as it is.' },
    expect: {
      type: 'object',
      additionalProperties: { type: ['string', 'null'] },
      description: 'Path to blob id (of read_file), or null for nothing: refused where a file is not so when it lands.',
    },
    author: AUTHOR,
    idempotencyKey: IDEMPOTENCY_KEY,
    wait: WAIT,
  },
  required: ['repo', 'branch', 'message', 'changes'],
  writes: true,
  async run({ args, ...call }) {
    return workAnswer(args.branch, (await callMethod('dev.skein.gateway.commit', args, call)) as Work)
  },
})
