import { describe, expect, it } from 'vitest'
import { oidFromBytes } from '../../../git/bytes/oid.ts'
import {
  EXTERNAL_BASE,
  PackIndex,
  PackIndexError,
  type PackIndexTables,
  SIZE_UNKNOWN,
  writePackIndex,
} from '../../../git/pack/pack-index.ts'
import { Random } from '../random.ts'
import { concat } from './pack-builder.ts'

function tablesOf(oids: readonly Uint8Array[], changes: Partial<PackIndexTables> = {}): PackIndexTables {
  const n = oids.length
  return {
    packSize: 32 + 10 * n,
    offsets: Float64Array.from({ length: n + 1 }, (_, i) => 12 + 10 * i),
    sizes: new Uint32Array(n).fill(7),
    bases: new Uint32Array(n),
    types: new Uint8Array(n).fill(3),
    oids: concat(...oids),
    external: new Uint8Array(0),
    ...changes,
  }
}

describe('PackIndex', () => {
  const random = new Random(9)
  // Of a few first bytes, so that they crowd; and the first and last ids there may be.
  const oids = Array.from({ length: 3000 }, () => {
    const oid = random.bytes(20)
    oid[0] = random.pick([0, 1, 7, 255])
    oid[1] = random.below(3)
    return oid
  })
  oids.push(new Uint8Array(20), new Uint8Array(20).fill(255))

  it('finds every id at its entry, and no other', () => {
    const index = new PackIndex(writePackIndex(tablesOf(oids)))
    expect(index.entries).toBe(oids.length)
    for (const [ordinal, oid] of oids.entries()) {
      expect(index.find(oid)).toBe(ordinal)
      expect(index.find(concat(Uint8Array.of(9), oid), 1)).toBe(ordinal)
      expect(index.oid(ordinal)).toBe(oidFromBytes(oid))
      expect(oidFromBytes(index.oidBytes(ordinal))).toBe(oidFromBytes(oid))
      const other = oid.slice()
      other[19]! ^= 1
      expect(index.find(other)).toBe(-1)
    }
  })

  it('finds ids by their first digits', () => {
    const index = new PackIndex(writePackIndex(tablesOf(oids)))
    const texts = oids.map((oid) => oidFromBytes(oid)).sort()
    for (const prefix of ['00', '0001', '07020', 'ff', 'f0', texts[5]!, texts[2000]!.slice(0, 7)]) {
      const expected = texts.filter((text) => text.startsWith(prefix))
      expect(index.findByPrefix(prefix, 10_000)).toEqual(expected)
      expect(index.findByPrefix(prefix, 2)).toEqual(expected.slice(0, 2))
    }
  })

  it('lists an id that occurs twice once, at its first entry', () => {
    const [a, b] = [oids[0]!, oids[1]!]
    const index = new PackIndex(writePackIndex(tablesOf([a, b, a, b, a])))
    expect([a, b].map((oid) => index.find(oid))).toEqual([0, 1])
    expect([0, 1, 2, 3, 4].map((ordinal) => index.oid(ordinal))).toEqual(
      [a, b, a, b, a].map((oid) => oidFromBytes(oid)),
    )
    expect(index.findByPrefix(oidFromBytes(a), 9)).toEqual([oidFromBytes(a)])
  })

  it('keeps offsets of more than 32 bits, sizes, types and bases', () => {
    const external = random.bytes(20)
    const index = new PackIndex(
      writePackIndex(
        tablesOf(oids.slice(0, 3), {
          packSize: 2 ** 43 + 20,
          offsets: Float64Array.of(12, 2 ** 33 + 1, 2 ** 42 + 3, 2 ** 43),
          sizes: Uint32Array.of(0, 5, SIZE_UNKNOWN),
          types: Uint8Array.of(1, 2, 4),
          bases: Uint32Array.of(0, 1, EXTERNAL_BASE),
          external,
        }),
      ),
    )
    expect(index.packSize).toBe(2 ** 43 + 20)
    expect([0, 1, 2, 3].map((ordinal) => index.offset(ordinal))).toEqual([12, 2 ** 33 + 1, 2 ** 42 + 3, 2 ** 43])
    expect([0, 1, 2].map((ordinal) => index.size(ordinal))).toEqual([0, 5, SIZE_UNKNOWN])
    expect([0, 1, 2].map((ordinal) => index.type(ordinal))).toEqual([1, 2, 4])
    expect([0, 1, 2].map((ordinal) => index.base(ordinal))).toEqual([
      null,
      { ordinal: 0 },
      { oid: oidFromBytes(external) },
    ])
    expect([0, 1, 2].map((ordinal) => index.baseOrdinal(ordinal))).toEqual([-1, 0, -1])
    expect([0, 1, 2].map((ordinal) => index.isDelta(ordinal))).toEqual([false, true, true])
  })

  it('is read where it lies unaligned, and where it is empty', () => {
    const file = writePackIndex(tablesOf(oids.slice(0, 10)))
    const shifted = concat(Uint8Array.of(1, 2, 3), file).subarray(3)
    expect(new PackIndex(shifted).find(oids[4]!)).toBe(4)
    const empty = new PackIndex(writePackIndex(tablesOf([])))
    expect(empty.entries).toBe(0)
    expect(empty.find(oids[0]!)).toBe(-1)
    expect(empty.findByPrefix('00', 5)).toEqual([])
  })

  it.each<[string, (file: Uint8Array) => Uint8Array]>([
    ['nothing', () => new Uint8Array(0)],
    ['less than a header', (file) => file.slice(0, 31)],
    ['another file', (file) => file.slice().fill(0, 0, 4)],
    ['another version', (file) => file.slice().fill(9, 4, 5)],
    ['one that is cut off', (file) => file.slice(0, -1)],
    ['one that goes on', (file) => concat(file, Uint8Array.of(0))],
    ['one that declares 2^32 entries', (file) => file.slice().fill(255, 8, 12)],
  ])('refuses %s', (_, change) => {
    expect(() => new PackIndex(change(writePackIndex(tablesOf(oids.slice(0, 10)))))).toThrow(PackIndexError)
  })
})
