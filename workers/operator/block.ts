import { tellOfBlock } from '../../durable-objects/operator/tell-of-block.ts'
import { BlockStore, subjectText } from '../../storage/operator/blocks.ts'
import type { RequestContext } from '../request-context.ts'
import { blockJson } from './block-json.ts'
import { readSubject } from './read-subject.ts'

interface BlockInput {
  readonly subject: string
  readonly reason: string
  readonly keepBytes: boolean
}

/** `dev.skein.operator.block` */
export async function block(context: RequestContext, { subject, reason, keepBytes }: BlockInput) {
  const wanted = await readSubject(context, subject)
  // First the row: whoever looks from now on finds it. Then those who have looked before.
  const stored = await new BlockStore(context.db).put({ ...wanted, reason, createdAt: Date.now() })
  const mirrors = await tellOfBlock(context.environment, wanted, keepBytes)
  return { block: blockJson(stored), mirrors }
}

/** `dev.skein.operator.unblock` */
export async function unblock(context: RequestContext, { subject }: Pick<BlockInput, 'subject'>) {
  const wanted = await readSubject(context, subject)
  const wasBlocked = await new BlockStore(context.db).remove(wanted)
  const mirrors = await tellOfBlock(context.environment, wanted, true)
  return { subject: subjectText(wanted), wasBlocked, mirrors }
}
