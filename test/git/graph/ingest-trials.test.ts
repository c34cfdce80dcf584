import { deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { hashObject } from '../../../git/object/hash-object.ts'
import { PackError } from '../../../git/pack/entry-header.ts'
import { PACK_LIMITS } from '../../../git/pack/pack-limits.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import { generateRepository } from '../generated-repository.ts'
import { entryOids, ingest } from '../ingest.ts'
import {
  buildPack,
  concat,
  delta,
  ofsDeltaEntry,
  type RawEntry,
  refDeltaEntry,
  resealed,
} from '../pack/pack-builder.ts'
import { Random } from '../random.ts'

const LIMITS = { ...PACK_LIMITS, objectBytes: 1_000_000, entries: 5000, unfoldedBytes: 50_000_000 }

/** Takes a pack in, or says why not; anything but a PackError is a fault. */
async function outcome(bytes: Uint8Array, step: number): Promise<string> {
  try {
    const pack = await ingest(bytes, { step, limits: LIMITS, strict: step % 2 === 0 })
    const objects = new PackedObjects([pack])
    for (const oid of entryOids(pack.index)) {
      const object = (await objects.read(oid))!
      expect(hashObject(object.type, object.bytes)).toBe(oid)
    }
    return 'taken'
  } catch (error) {
    if (!(error instanceof PackError)) throw error
    return error.message
  }
}

describe('a pack with bytes changed, removed, added or doubled', () => {
  it.each([1, 2, 3])('is taken whole or refused in words (%i)', async (seed) => {
    const random = new Random(seed)
    using repository = generateRepository({ seed, commits: 12 })
    const pack = new Uint8Array(
      repository.git(
        [
          'pack-objects',
          '-q',
          '--stdout',
          '--revs',
          '--all',
          '--threads=1',
          ...(seed % 2 ? ['--delta-base-offset'] : []),
        ],
        '',
      ),
    )
    const outcomes = new Map<string, number>()
    for (let round = 0; round < 200; round++) {
      const changed = resealed(mutated(random, pack))
      const said = await outcome(changed, 1 + random.below(3000))
      const kind = said.replace(/[0-9a-f]{40}|\d+/g, '#')
      outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1)
    }
    expect(outcomes.size).toBeGreaterThan(5)
    expect(outcomes.get('taken') ?? 0).toBeLessThan(100)
  })

  function mutated(random: Random, pack: Uint8Array): Uint8Array {
    let bytes: Uint8Array = pack.slice()
    for (let changes = 1 + random.below(3); changes > 0; changes--) {
      const at = 12 + random.below(bytes.length - 32)
      const length = random.below(30)
      const kind = random.below(4)
      if (kind === 0) bytes[at] = random.below(256)
      else if (kind === 1) bytes[at]! ^= 1 << random.below(8)
      else if (kind === 2)
        bytes = concat(bytes.subarray(0, at), bytes.subarray(Math.min(bytes.length - 20, at + length)))
      else
        bytes = concat(
          bytes.subarray(0, at),
          bytes.subarray(at, Math.min(bytes.length - 20, at + length)),
          bytes.subarray(at),
        )
    }
    return bytes
  }
})

describe('a pack of random entries', () => {
  it('is taken whole or refused in words', async () => {
    const random = new Random(77)
    let taken = 0
    for (let round = 0; round < 500; round++)
      if ((await outcome(randomPack(random), 1 + random.below(500))) === 'taken') taken++
    expect(taken).toBeGreaterThan(20)
  })

  /** Mostly right: blobs, and deltas on entries before or behind or on nothing, of which some do not fit. */
  function randomPack(random: Random): Uint8Array {
    const texts = ['a', 'bb', 'ccc', 'dddd', random.text(50)].map((text) => Buffer.from(text))
    const entries: RawEntry[] = []
    const offsets: number[] = []
    let at = 12
    for (let i = 1 + random.below(8); i > 0; i--) {
      const text = random.pick(texts)
      const kind = random.below(10)
      const bytes = delta(random.chance(0.9) ? text.length : 9, 2, Uint8Array.of(2), random.bytes(2))
      let entry: RawEntry
      if (kind < 5 || offsets.length === 0)
        entry = { header: Uint8Array.of(0xb0 | (text.length & 15), text.length >> 4), compressed: deflateSync(text) }
      else if (kind < 8) entry = refDeltaEntry(hashObject(3, text), bytes)
      else entry = ofsDeltaEntry(at - random.pick(offsets) + (random.chance(0.1) ? 1 : 0), bytes)
      offsets.push(at)
      at += entry.header.length + entry.compressed.length
      entries.push(entry)
    }
    return buildPack(entries)
  }
})
