import { describe, expect, it } from 'vitest'
import { oidFromBytes, oidToBytes, parseOidBytes } from '../../../git/bytes/oid.ts'
import { CrowdedOidsError, OidTable } from '../../../git/bytes/oid-table.ts'
import { concat, utf8 } from '../pack/pack-builder.ts'
import { Random } from '../random.ts'

const random = new Random(12)

describe('OidTable', () => {
  it('numbers ids in the order in which it meets them', () => {
    const table = new OidTable()
    const oids = Array.from({ length: 20_000 }, () => random.bytes(20))
    for (const [number, oid] of oids.entries()) {
      expect(table.find(oid)).toBe(-1)
      expect(table.intern(oid)).toBe(number)
    }
    expect(table.size).toBe(20_000)
    for (const [number, oid] of oids.entries()) {
      expect(table.intern(concat(Uint8Array.of(1), oid), 1)).toBe(number)
      expect(table.find(oid)).toBe(number)
      expect(table.oidAt(number)).toBe(oidFromBytes(oid))
    }
    const copied = new Uint8Array(22)
    table.copy(77, copied, 1)
    expect(copied).toEqual(concat(Uint8Array.of(0), oids[77]!, Uint8Array.of(0)))
    expect(Buffer.compare(table.bytesAt(78), oids[78]!)).toBe(0)
  })

  it('keeps apart ids that share their first digits, and refuses those that are made up to be many', () => {
    const table = new OidTable()
    const crowd = Array.from({ length: 600 }, (_, i) =>
      concat(new Uint8Array(16).fill(7), Uint8Array.of(0, 0, i >> 8, i & 255)),
    )
    for (const [number, oid] of crowd.slice(0, 500).entries()) expect(table.intern(oid)).toBe(number)
    for (const [number, oid] of crowd.slice(0, 500).entries()) expect(table.find(oid)).toBe(number)
    expect(() => crowd.map((oid) => table.intern(oid))).toThrow(CrowdedOidsError)
  })
})

describe('object ids', () => {
  it('are the same in bytes and digits', () => {
    for (let round = 0; round < 200; round++) {
      const bytes = random.bytes(20)
      const oid = oidFromBytes(bytes)
      expect(oid).toBe(Buffer.from(bytes).toString('hex'))
      expect(oidToBytes(oid)).toEqual(bytes)
      const read = new Uint8Array(20)
      expect(parseOidBytes(utf8(`x${oid}y`), 1, read)).toBe(true)
      expect(read).toEqual(bytes)
    }
  })

  it.each([
    'A'.repeat(40),
    `${'a'.repeat(39)}g`,
    ` ${'a'.repeat(39)}`,
    `${'a'.repeat(39)}/`,
    `${'a'.repeat(39)}:`,
    'a'.repeat(39),
  ])('are not read from %j', (digits) => {
    expect(parseOidBytes(utf8(digits), 0, new Uint8Array(20))).toBe(false)
  })
})
