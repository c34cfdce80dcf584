import { DroppedRecords } from '../../storage/index/dropped-records.ts'
import type { RequestContext } from '../request-context.ts'

/** `dev.skein.operator.listDroppedRecords`. In one answer: of each collection a bounded number of reasons is told apart. */
export async function listDroppedRecords({ db }: RequestContext) {
  const dropped = await new DroppedRecords(db).list()
  return {
    droppedRecords: dropped.map(({ droppedAt, ...row }) => ({ ...row, droppedAt: new Date(droppedAt).toISOString() })),
  }
}
