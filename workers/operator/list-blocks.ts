import { BlockStore, subjectText } from '../../storage/operator/blocks.ts'
import type { RequestContext } from '../request-context.ts'
import { blockJson } from './block-json.ts'

interface Params {
  readonly limit: number
  /** Subject of the last block of the page before. */
  readonly cursor?: string
}

/** `dev.skein.operator.listBlocks` */
export async function listBlocks({ db }: RequestContext, { limit, cursor }: Params) {
  const blocks = await new BlockStore(db).list(limit + 1, cursor)
  const page = blocks.slice(0, limit)
  return { cursor: blocks.length > limit ? subjectText(page.at(-1)!) : undefined, blocks: page.map(blockJson) }
}
