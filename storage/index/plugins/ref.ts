import { isNotNull } from 'drizzle-orm'
import { REF_COLLECTION } from '../../../atproto/records/collections.ts'
import { parseRefKey } from '../../../atproto/records/record-keys.ts'
import { decodeRefRecord } from '../../../atproto/records/ref-record.ts'
import { pushes } from '../tables.ts'
import { moveTime } from './move-time.ts'
import { definePlugin } from './plugin.ts'

/** Refs that are stored alone: the newest push to each of them. */
export const refPlugin = definePlugin({
  collection: REF_COLLECTION,
  table: pushes,
  columns: ['repo', 'ref', 'refs', 'target', 'seq', 'pushedAt'],
  own: isNotNull(pushes.ref),
  decode({ rkey, value }) {
    const { name, target, seq, pack, landing } = decodeRefRecord(rkey, value)
    const { repo } = parseRefKey(rkey)!
    return { repo, ref: name, refs: 1, target, seq, pushedAt: moveTime(landing, [pack]) }
  },
})
