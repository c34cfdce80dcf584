import { isNull } from 'drizzle-orm'
import { REFS_COLLECTION } from '../../../atproto/records/collections.ts'
import { parseRefsKey } from '../../../atproto/records/record-keys.ts'
import { decodeRefsRecord } from '../../../atproto/records/ref-record.ts'
import { pushes } from '../tables.ts'
import { moveTime } from './move-time.ts'
import { definePlugin } from './plugin.ts'

/** Refs that are stored many at once. The head of a repository's refs, which has none, is no push. */
export const refsPlugin = definePlugin({
  collection: REFS_COLLECTION,
  table: pushes,
  columns: ['repo', 'ref', 'refs', 'target', 'seq', 'pushedAt'],
  own: isNull(pushes.ref),
  decode({ rkey, value }) {
    const { entries, landing } = decodeRefsRecord(rkey, value, ignore)
    const { repo, seq } = parseRefsKey(rkey)!
    if (entries.length === 0) return null
    const pushedAt = moveTime(
      landing,
      entries.map(({ pack }) => pack),
    )
    return { repo, ref: null, refs: entries.length, target: null, seq, pushedAt }
  },
})

/** An entry that is not valid hides no other, and is no reason to drop the record. */
function ignore(): void {
  return
}
