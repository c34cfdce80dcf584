import { BlockStore } from '../../storage/operator/blocks.ts'
import { MirrorRegister } from '../../storage/operator/mirror-register.ts'
import { readIndexCounts } from '../index-counts.ts'
import type { RequestContext } from '../request-context.ts'

/** `dev.skein.operator.getStatus` */
export async function getStatus({ db }: RequestContext) {
  const [{ mirrors, bytes }, blocks, counts] = await Promise.all([
    new MirrorRegister(db).totals(),
    new BlockStore(db).count(),
    readIndexCounts(db, Date.now()),
  ])
  return { mirrors, mirroredBytes: bytes, blocks, ...counts }
}
