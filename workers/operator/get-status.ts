import { BlockStore } from '../../storage/operator/blocks.ts'
import { MirrorRegister } from '../../storage/operator/mirror-register.ts'
import type { RequestContext } from '../request-context.ts'

/** `dev.skein.operator.getStatus` */
export async function getStatus({ db }: RequestContext) {
  const [{ mirrors, bytes }, blocks] = await Promise.all([new MirrorRegister(db).totals(), new BlockStore(db).count()])
  return { mirrors, mirroredBytes: bytes, blocks }
}
