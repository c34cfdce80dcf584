import { describe, expect, it } from 'vitest'
import { applyDelta } from '../../../git/delta/apply-delta.ts'
import { createDelta } from '../../../git/delta/create-delta.ts'
import { concat, utf8 } from '../pack/pack-builder.ts'
import { Random } from '../random.ts'

/** Makes a delta, checks it, and gives its length. */
function lengthOf(base: Uint8Array, target: Uint8Array, limit = 2 * target.length + 64): number {
  const delta = createDelta(base, target, limit)!
  expect(Buffer.compare(applyDelta(base, delta, target.length), target)).toBe(0)
  return delta.length
}

/** A text with parts changed, left out, put in, repeated and moved. */
function edited(random: Random, base: Uint8Array): Uint8Array {
  let bytes = base
  for (let edit = random.below(6); edit > 0; edit--) {
    const [from, to] = [random.below(bytes.length + 1), random.below(bytes.length + 1)].sort((a, b) => a - b)
    const [head, part, tail] = [bytes.subarray(0, from), bytes.subarray(from, to), bytes.subarray(to)]
    const kind = random.below(4)
    if (kind === 0) bytes = concat(head, random.text(random.below(200)), tail)
    else if (kind === 1) bytes = concat(head, part, part, tail)
    else if (kind === 2) bytes = concat(tail, part, head)
    else bytes = concat(head, random.bytes(random.below(40)), part, tail)
  }
  return bytes
}

describe('createDelta', () => {
  it.each<[string, Uint8Array, Uint8Array]>([
    ['nothing from nothing', utf8(''), utf8('')],
    ['nothing', utf8('something'), utf8('')],
    ['something from nothing', utf8(''), utf8('something')],
    ['less than a block', utf8('0123456789'), utf8('0123456789')],
    ['a block', utf8('0123456789abcdef'), utf8('0123456789abcdef')],
    ['a block after an odd start', utf8('0123456789abcdef'), utf8('x0123456789abcdef')],
    ['more than one insert', utf8(''), new Random(1).bytes(1000)],
    ['the same for long', new Uint8Array(200_000), new Uint8Array(150_000)],
    ['a copy of exactly 64 KiB', new Random(2).bytes(65_536), new Random(2).bytes(65_536)],
    ['copies of more than 64 KiB', new Random(2).bytes(200_000), new Random(2).bytes(200_000)],
    [
      'a copy from beyond 16 MiB',
      concat(new Uint8Array(17_000_000), utf8('0123456789abcdef'.repeat(3))),
      utf8('0123456789abcdef'.repeat(3)),
    ],
  ])('makes %s', (_, base, target) => {
    lengthOf(base, target)
  })

  it('gives the target back for random bases and targets', () => {
    const random = new Random(3)
    for (let round = 0; round < 1000; round++) {
      const base = random.chance(0.5) ? random.text(random.below(3000)) : random.bytes(random.below(300))
      lengthOf(base, random.chance(0.9) ? edited(random, base) : random.text(random.below(500)))
    }
  })

  it('is small where little has changed', () => {
    const base = new Random(4).bytes(100_000)
    const changed = base.slice()
    changed[50_000]! ^= 1
    expect(lengthOf(base, changed)).toBeLessThan(40)
    expect(lengthOf(base, concat(base.subarray(0, 40_000), base.subarray(40_100)))).toBeLessThan(30)
    expect(lengthOf(base, concat(base.subarray(0, 7), utf8('new'), base.subarray(7)))).toBeLessThan(40)
    expect(lengthOf(base, concat(base.subarray(60_000), base.subarray(0, 60_000)))).toBeLessThan(30)
  })

  it('finds the longest of many places that begin alike', () => {
    const start = new Random(5).bytes(64)
    const base = concat(...Array.from({ length: 50 }, (_, i) => concat(start, new Random(i).bytes(64))))
    expect(lengthOf(base, concat(start, new Random(37).bytes(64)))).toBeLessThan(16)
  })

  it('gives up beyond its limit', () => {
    const random = new Random(6)
    const base = random.bytes(1000)
    expect(createDelta(base, random.bytes(1000), 500)).toBeNull()
    const target = concat(base.subarray(0, 500), random.bytes(100), base.subarray(500))
    const length = lengthOf(base, target)
    expect(createDelta(base, target, length)).toHaveLength(length)
    for (let limit = 0; limit < length; limit++) expect(createDelta(base, target, limit)).toBeNull()
  })

  it('takes long texts of few different parts', () => {
    const random = new Random(7)
    const parts = Array.from({ length: 4 }, () => random.bytes(16))
    const text = () => concat(...Array.from({ length: 20_000 }, () => random.pick(parts)))
    lengthOf(text(), text())
  })
})
