import { listDeadLetters as list, replayDeadLetters as replay } from '../indexer/letters.ts'
import { wireIndexer } from '../indexer/wire-indexer.ts'
import type { RequestContext } from '../request-context.ts'
import { readNumberCursor } from './number-cursor.ts'

interface ListParams {
  readonly limit: number
  /** Id of the last letter of the page before. */
  readonly cursor?: string
}

/** `dev.skein.operator.listDeadLetters` */
export async function listDeadLetters({ environment }: RequestContext, { limit, cursor }: ListParams) {
  const before = cursor === undefined ? undefined : readNumberCursor(cursor)
  const letters = await list(wireIndexer(environment).letters, limit + 1, before)
  const page = letters.slice(0, limit)
  return {
    cursor: letters.length > limit ? String(page.at(-1)!.id) : undefined,
    deadLetters: page.map(({ diedAt, ...letter }) => ({ ...letter, diedAt: new Date(diedAt).toISOString() })),
  }
}

/** `dev.skein.operator.replayDeadLetters` */
export async function replayDeadLetters({ environment }: RequestContext, { ids }: { readonly ids: readonly number[] }) {
  return { outcomes: await replay(wireIndexer(environment).letters, ids) }
}
