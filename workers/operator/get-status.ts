import { AccountWants } from '../../storage/index/account-wants.ts'
import { DeadLetters } from '../../storage/index/dead-letters.ts'
import { DroppedRecords } from '../../storage/index/dropped-records.ts'
import { BlockStore } from '../../storage/operator/blocks.ts'
import { MirrorRegister } from '../../storage/operator/mirror-register.ts'
import type { RequestContext } from '../request-context.ts'

/** `dev.skein.operator.getStatus` */
export async function getStatus({ db }: RequestContext) {
  const wants = new AccountWants(db)
  const [{ mirrors, bytes }, blocks, accountsWanted, accountsDue, deadLetters, droppedRecords] = await Promise.all([
    new MirrorRegister(db).totals(),
    new BlockStore(db).count(),
    wants.count(),
    wants.countDue(Date.now()),
    new DeadLetters(db).count(),
    new DroppedRecords(db).total(),
  ])
  return { mirrors, mirroredBytes: bytes, blocks, accountsWanted, accountsDue, deadLetters, droppedRecords }
}
