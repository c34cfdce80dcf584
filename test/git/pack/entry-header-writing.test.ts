import { expect, it } from 'vitest'
import {
  createEntryHeader,
  encodeEntryHeader,
  OFS_DELTA,
  REF_DELTA,
  readEntryHeader,
  withBaseId,
  withDistance,
} from '../../../git/pack/entry-header.ts'
import { concat } from '../protocol/wire.ts'

function read(bytes: Uint8Array) {
  const header = createEntryHeader()
  expect(readEntryHeader(bytes, 0, header)).toBe(true)
  expect(header.end).toBe(bytes.length)
  return header
}

const SIZES = [0, 1, 15, 16, 127, 2047, 2048, 65_535, 2 ** 31, 2 ** 32 + 5, 2 ** 45]

it.each(SIZES)('writes the size %i', (size) => {
  for (const type of [1, 2, 3, 4]) expect(read(encodeEntryHeader(type, size))).toMatchObject({ type, size })
})

it.each([1, 127, 128, 129, 16_511, 16_512, 2_113_663, 2_113_664, 2 ** 31, 2 ** 32 + 1, 2 ** 45])(
  'writes the distance %i',
  (distance) => {
    for (const size of SIZES) {
      const old = concat([encodeEntryHeader(OFS_DELTA, size), Uint8Array.of(5)])
      expect(read(withDistance(old, 0, distance))).toMatchObject({ type: OFS_DELTA, size, distance })
    }
  },
)

it('turns an ofs-delta into a ref-delta, whatever the form of its size', () => {
  const base = Uint8Array.from({ length: 20 }, (_, i) => i)
  // 3 bytes, in two digits and in one more than it takes.
  for (const size of [Uint8Array.of(0x63), Uint8Array.of(0xe3, 0x00), Uint8Array.of(0xe3, 0x80, 0x00)]) {
    const header = withBaseId(concat([size, Uint8Array.of(0x81, 0x00)]), 0, base)
    expect(header.length).toBe(size.length + 20)
    expect(read(header)).toMatchObject({ type: REF_DELTA, size: 3 })
    expect(header.subarray(size.length)).toEqual(base)
  }
})
