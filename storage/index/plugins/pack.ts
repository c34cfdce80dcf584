import { PACK_COLLECTION } from '../../../atproto/records/collections.ts'
import { decodePackSummary } from '../../../atproto/records/pack-record.ts'
import { InvalidRecordError } from '../../../atproto/records/record-error.ts'
import { parsePackKey } from '../../../atproto/records/record-keys.ts'
import { packs } from '../tables.ts'
import { definePlugin } from './plugin.ts'

/** A pack of a tebibyte is none, and sums of what strangers claim stay below 2^63. */
const MAX_SIZE = 2 ** 40

/** Packs: how much a repository has in its account. */
export const packPlugin = definePlugin({
  collection: PACK_COLLECTION,
  table: packs,
  columns: ['repo', 'size'],
  decode({ rkey, value, isParked }) {
    const key = parsePackKey(rkey)
    if (key === null) throw new InvalidRecordError('the record key is not <repo>:<tid>')
    const { size } = decodePackSummary(value, isParked)
    if (size > MAX_SIZE) throw new InvalidRecordError('size is more than there can be')
    return { repo: key.repo, size }
  },
})
