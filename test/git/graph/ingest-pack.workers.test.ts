import { describe, expect, it } from 'vitest'
import { hashObject } from '../../../git/object/hash-object.ts'
import { BLOB } from '../../../git/object/object-type.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import { ingest } from '../ingest.ts'
import { blobEntry, buildPack, copy, delta, insert, objectEntry, refDeltaEntry, utf8 } from '../pack/pack-builder.ts'
import { Random } from '../random.ts'

describe('in workerd', () => {
  it('takes in blobs of any size, and deltas on them, and reads them back', async () => {
    const random = new Random(21)
    // Lengths at which workerd's own inflate counts its limit wrongly, and one that is hashed in steps.
    for (const size of [0, 1, 16_384, 65_536, 100_000, 1_500_000]) {
      const content = random.text(size)
      const oid = hashObject(BLOB, content)
      const changed = delta(size, size + 3, ...(size > 0 ? [copy(0, size)] : []), insert('end'))
      const pack = await ingest(buildPack([objectEntry(BLOB, content), refDeltaEntry(oid, changed), blobEntry('x')]))
      const objects = new PackedObjects([pack])
      const read = (await objects.read(pack.index.oid(1)))!
      expect(read.bytes.length).toBe(size + 3)
      expect(hashObject(BLOB, read.bytes)).toBe(pack.index.oid(1))
      const open = (await objects.open(oid))!
      expect((await new Response(open.stream()).arrayBuffer()).byteLength).toBe(size)
    }
  })

  it('refuses a pack that is cut off', async () => {
    const pack = buildPack([blobEntry('hello')])
    await expect(ingest(pack.subarray(0, -1))).rejects.toThrow('cut off')
    await expect(ingest(utf8('hello'))).rejects.toThrow('cut off in its header')
  })
})
