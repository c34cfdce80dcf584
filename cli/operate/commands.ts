import { isSupportedDid } from '../../atproto/identity/syntax.ts'
import type { edgeCaller } from './call-edge.ts'

/** It was called wrongly: said with the usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** What stands on the command line after the command. */
export interface CommandArguments {
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | undefined>>
}

type Edge = ReturnType<typeof edgeCaller>

export interface Command {
  /** After the command's name, in the usage. */
  readonly synopsis: string
  readonly about: string
  /** Those of the command's own, by their names; all others are refused. */
  readonly options: readonly string[]
  /** What the edge answers, whole: for `--json`. @throws {@link UsageError} */
  run(edge: Edge, given: CommandArguments): Promise<Record<string, unknown>>
  /** The same in lines for a person. */
  show(answer: Record<string, unknown>): readonly string[]
}

interface BlockJson {
  readonly subject: string
  readonly reason: string
  readonly createdAt: string
}

interface DeadLetterJson {
  readonly id: number
  /** JSON of the message. */
  readonly payload: string
  readonly error: string
  readonly diedAt: string
}

interface DroppedRecordsJson {
  readonly collection: string
  readonly reason: string
  readonly count: number
  readonly uri: string
  readonly droppedAt: string
}

interface ReconcileListJson {
  readonly source: string
  readonly accounts: number
  readonly startedAt: string
  readonly finishedAt?: string
}

const PREFIX = 'dev.skein.operator.'

export const COMMANDS: Readonly<Record<string, Command>> = {
  block: {
    synopsis: 'SUBJECT [--reason TEXT] [--keep-bytes]',
    about: 'serve, take and list nothing more of an account or a repository',
    options: ['reason', 'keep-bytes'],
    async run(edge, given) {
      const { reason, 'keep-bytes': keepBytes } = given.options
      const subject = only(given)
      return edge.procedure(`${PREFIX}block`, { subject, reason: reason ?? '', keepBytes: keepBytes === true })
    },
    show({ block, mirrors }) {
      return [`blocked: ${showBlock(block as BlockJson)}`, `${mirrors} mirrors have heard of it`]
    },
  },
  unblock: {
    synopsis: 'SUBJECT',
    about: 'take a block back',
    options: [],
    run: async (edge, given) => edge.procedure(`${PREFIX}unblock`, { subject: only(given) }),
    show({ subject, wasBlocked, mirrors }) {
      return wasBlocked === true
        ? [`unblocked: ${subject}`, `${mirrors} mirrors have heard of it`]
        : [`not blocked: ${subject}`]
    },
  },
  blocks: {
    synopsis: '',
    about: 'list what is blocked',
    options: [],
    async run(edge, given) {
      none(given)
      return { blocks: await allPages(edge, `${PREFIX}listBlocks`, 'blocks', 1000) }
    },
    show({ blocks }) {
      const list = blocks as readonly BlockJson[]
      return list.length === 0 ? ['nothing is blocked'] : list.map(showBlock)
    },
  },
  reconcile: {
    synopsis: '[DID …] [--relay]',
    about: 'list accounts anew: these, or all that the index (or the relay) knows',
    options: ['relay'],
    async run(edge, { positionals, options }) {
      const isNamed = positionals.length > 0
      const other = positionals.find((did) => !isSupportedDid(did))
      if (other !== undefined) {
        throw new UsageError(
          `${JSON.stringify(other)} is no DID of an account: dev.skein.actor.getProfile tells that of a handle`,
        )
      }
      if (isNamed && options.relay === true)
        throw new UsageError('either these accounts, or those that the relay knows')
      const all = { source: options.relay === true ? 'relay' : 'known' }
      return edge.procedure(`${PREFIX}reconcile`, isNamed ? { accounts: positionals } : all)
    },
    show: (answer) => [...showReconcile(answer), 'npm run operate -- reconciling tells how far it has come'],
  },
  reconciling: {
    synopsis: '',
    about: 'say how far that has come',
    options: [],
    async run(edge, given) {
      none(given)
      return edge.query(`${PREFIX}getReconcile`, {})
    },
    show: showReconcile,
  },
  'dead-letters': {
    synopsis: '',
    about: 'list events that could not be applied to the index',
    options: [],
    async run(edge, given) {
      none(given)
      return { deadLetters: await allPages(edge, `${PREFIX}listDeadLetters`, 'deadLetters', 100) }
    },
    show({ deadLetters }) {
      const list = deadLetters as readonly DeadLetterJson[]
      if (list.length === 0) return ['there are none']
      return list.map(({ id, diedAt, error, payload }) => `${id}  ${diedAt}  ${error}  ${payload.slice(0, 200)}`)
    },
  },
  replay: {
    synopsis: 'ID …',
    about: 'have dead letters applied once more, or the accounts of old ones listed',
    options: [],
    async run(edge, { positionals }) {
      const ids = positionals.map(Number)
      if (ids.length === 0 || ids.some((id) => !Number.isSafeInteger(id) || id < 1))
        throw new UsageError('which dead letters?')
      return edge.procedure(`${PREFIX}replayDeadLetters`, { ids })
    },
    show({ outcomes }) {
      return (outcomes as readonly { id: number; outcome: string }[]).map(({ id, outcome }) => `${id}  ${outcome}`)
    },
  },
  dropped: {
    synopsis: '',
    about: 'count records that were not valid, by collection and reason',
    options: [],
    async run(edge, given) {
      none(given)
      return edge.query(`${PREFIX}listDroppedRecords`, {})
    },
    show({ droppedRecords }) {
      const list = droppedRecords as readonly DroppedRecordsJson[]
      if (list.length === 0) return ['none was dropped']
      return list.map(
        ({ collection, reason, count, uri, droppedAt }) =>
          `${count}  ${collection}  ${reason}  last ${droppedAt}: ${uri}`,
      )
    },
  },
  status: {
    synopsis: '',
    about: 'say how the edge is, in numbers',
    options: [],
    async run(edge, given) {
      none(given)
      return edge.query(`${PREFIX}getStatus`, {})
    },
    show: (answer) => JSON.stringify(answer, null, 2).split('\n'),
  },
}

/** Lists of an edge, page by page, as one. */
async function allPages(edge: Edge, nsid: string, field: string, limit: number): Promise<unknown[]> {
  const all: unknown[] = []
  for (let cursor: unknown; ; ) {
    const page = await edge.query(nsid, { limit, cursor })
    all.push(...(page[field] as readonly unknown[]))
    cursor = page.cursor
    if (cursor === undefined) return all
  }
}

function showReconcile({ lists, accountsWanted }: Record<string, unknown>): readonly string[] {
  const lines = (lists as readonly ReconcileListJson[]).map(
    ({ source, accounts, startedAt, finishedAt }) =>
      `${source}: ${accounts} accounts, since ${startedAt}, ${finishedAt === undefined ? 'not done yet' : `done ${finishedAt}`}`,
  )
  return [...lines, `${accountsWanted} accounts are still to be listed`]
}

function showBlock({ subject, reason, createdAt }: BlockJson): string {
  return `${subject}  since ${createdAt}${reason === '' ? '' : `  ${JSON.stringify(reason)}`}`
}

function only({ positionals }: CommandArguments): string {
  const [subject, ...more] = positionals
  if (subject === undefined || more.length > 0) throw new UsageError('this takes one subject')
  return subject
}

function none({ positionals }: CommandArguments): void {
  if (positionals.length > 0) throw new UsageError(`${JSON.stringify(positionals[0])} is not understood`)
}
