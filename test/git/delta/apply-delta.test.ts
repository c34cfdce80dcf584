import { describe, expect, it } from 'vitest'
import { applyDelta, DeltaError, readDeltaSizes } from '../../../git/delta/apply-delta.ts'
import { concat, copy, delta, deltaSize, insert, utf8 } from '../pack/pack-builder.ts'
import { Random } from '../random.ts'

const LIMIT = 1_000_000
const base = utf8('0123456789abcdef')

describe('applyDelta', () => {
  it.each<[string, Uint8Array, string]>([
    ['nothing', delta(16, 0), ''],
    ['an insert', delta(16, 3, insert('xyz')), 'xyz'],
    ['a copy', delta(16, 4, copy(10, 4)), 'abcd'],
    ['a copy of all', delta(16, 16, copy(0, 16)), '0123456789abcdef'],
    ['copies and inserts', delta(16, 9, copy(2, 3), insert('--'), copy(12, 4)), '234--cdef'],
    ['an insert of 127 bytes', delta(16, 127, insert('y'.repeat(127))), 'y'.repeat(127)],
    ['sizes longer than they need to be', concat(Uint8Array.of(0x90, 0x80, 0, 0x81, 0), insert('a')), 'a'],
  ])('makes %s', (_, bytes, result) => {
    expect(new TextDecoder().decode(applyDelta(base, bytes, LIMIT))).toBe(result)
  })

  it('takes a copy without a size for one of 64 KiB, and offsets of 32 bits', () => {
    const large = new Random(1).bytes(200_000)
    expect(
      Buffer.compare(applyDelta(large, delta(200_000, 65536, Uint8Array.of(0x80)), LIMIT), large.subarray(0, 65536)),
    ).toBe(0)
    const far = delta(200_000, 100, copy(0x1_2345, 100))
    expect(Buffer.compare(applyDelta(large, far, LIMIT), large.subarray(0x1_2345, 0x1_2345 + 100))).toBe(0)
  })

  it.each<[string, Uint8Array]>([
    ['an empty delta', new Uint8Array(0)],
    ['one cut off in the first size', Uint8Array.of(0x90)],
    ['one cut off before the second size', Uint8Array.of(0x10)],
    ['a size of more than 53 bits', concat(new Uint8Array(9).fill(0xff), Uint8Array.of(1, 0))],
    ['a size that never ends', new Uint8Array(1000).fill(0x80)],
    ['a base of another size', delta(15, 1, insert('a'))],
    ['a copy from behind the end', delta(16, 1, copy(16, 1))],
    ['a copy over the end', delta(16, 4, copy(13, 4))],
    ['a copy at 4 GB', delta(16, 1, Uint8Array.of(0x9f, 0xff, 0xff, 0xff, 0xff, 1))],
    ['a copy whose offset is cut off', delta(16, 1, Uint8Array.of(0x91))],
    ['a copy whose size is cut off', delta(16, 1, Uint8Array.of(0x91, 0))],
    ['an insert that is cut off', delta(16, 5, Uint8Array.of(5, 1, 2))],
    ['the reserved instruction', delta(16, 1, Uint8Array.of(0))],
    ['more by copy than declared', delta(16, 3, copy(0, 4))],
    ['more by insert than declared', delta(16, 3, insert('abcd'))],
    ['less than declared', delta(16, 5, insert('abcd'))],
    ['less than declared: nothing', delta(16, 5)],
  ])('refuses %s', (_, bytes) => {
    expect(() => applyDelta(base, bytes, LIMIT)).toThrow(DeltaError)
  })

  it('allocates nothing for a delta that declares 4 GB', () => {
    const bytes = concat(deltaSize(16), deltaSize(2 ** 32), copy(0, 16))
    expect(readDeltaSizes(bytes)).toMatchObject({ base: 16, result: 2 ** 32 })
    expect(() => applyDelta(base, bytes, LIMIT)).toThrow('more than the limit of 1000000')
    expect(() => applyDelta(base, bytes, 2 ** 40)).toThrow('too short')
  })

  it('takes any bytes for a delta or refuses them', () => {
    const random = new Random(5)
    for (let round = 0; round < 20_000; round++) {
      const bytes = delta(16, random.below(40), random.bytes(random.below(12)))
      try {
        applyDelta(base, bytes, LIMIT)
      } catch (error) {
        expect(error).toBeInstanceOf(DeltaError)
      }
    }
  })
})
