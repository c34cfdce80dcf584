import { expect, it } from 'vitest'
import { REPO_COLLECTION } from '../../../atproto/records/collections.ts'
import { condense } from '../../../storage/index/condense.ts'
import { PLUGINS } from '../../../storage/index/plugins/plugins.ts'
import { decode } from '../../../storage/index/read-events.ts'
import { hostileRecords } from './hostile-records.ts'

const RKEY = '3lzkoq5qq2s2a'
const REPO = {
  $type: REPO_COLLECTION,
  name: 'app',
  defaultBranch: 'main',
  objectFormat: 'sha1',
  createdAt: '2026-01-01T00:00:00Z',
}

it('what is held of a record is what the index makes of it, and little', () => {
  const records = [{ collection: REPO_COLLECTION, rkey: RKEY, value: REPO }, ...hostileRecords(RKEY)]
  for (const { collection, rkey, value } of records) {
    const condensed = condense({ collection, rkey, value })
    const plugin = PLUGINS.get(collection)!
    const given = { rkey, isParked: false }
    expect(decode(plugin, { ...given, value: condensed.value })).toEqual(decode(plugin, { ...given, value }))
    expect(JSON.stringify(condensed.value).length).toBeLessThan(condensed.bytes)
    expect(condensed.bytes).toBeLessThan(20_000)
  }
})

it('a record of a collection that the index does not know leaves nothing', () => {
  const { value, bytes } = condense({ collection: 'dev.skein.star', rkey: RKEY, value: { text: 'x'.repeat(1e6) } })
  expect([value.decoded, bytes]).toEqual([{ values: null, fault: null }, 413])
})
