import { deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { hashObject } from '../../../git/object/hash-object.ts'
import { PackError } from '../../../git/pack/entry-header.ts'
import { PACK_LIMITS } from '../../../git/pack/pack-limits.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import { generateRepository } from '../generated-repository.ts'
import { ScratchRepository } from '../git.ts'
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
    const pack = await ingest(bytes, { step, limits: LIMITS, strict: step % 2 === 1 })
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

/** Hundreds of packs each, beside whatever else the machine does. */
const TIMEOUT_MS = 30_000

describe('a pack with bytes changed, removed, added or doubled', { timeout: TIMEOUT_MS }, () => {
  it.each([1, 2, 3])('is taken whole or refused in words (%i)', async (seed) => {
    const random = new Random(seed)
    const pack = smallPack(seed)
    const outcomes = new Map<string, number>()
    for (let round = 0; round < 200; round++) {
      const said = await outcome(resealed(mutated(random, pack)), 1 + random.below(3000))
      const kind = said.replace(/[0-9a-f]{40}|\d+/g, '#')
      outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1)
    }
    expect(outcomes.size).toBeGreaterThan(5)
    expect(outcomes.get('taken') ?? 0).toBeLessThan(100)
  })

  it('is taken where git takes it, and nowhere else', async () => {
    const random = new Random(4)
    using empty = new ScratchRepository({ bare: true })
    const packs = [smallPack(1), smallPack(2)]
    const entries = await Promise.all(packs.map(rawEntries))
    let taken = 0
    for (let round = 0; round < 160; round++) {
      const isByBytes = round % 2 === 0
      const changed = isByBytes
        ? resealed(mutated(random, random.pick(packs)))
        : rearranged(random, random.pick(entries))
      const ours = (await outcome(changed, 4096)) === 'taken'
      expect(ours, `round ${round}`).toBe(gitTakes(empty, changed))
      if (ours) taken++
    }
    expect(taken).toBeGreaterThan(10)
  })

  async function rawEntries(pack: Uint8Array): Promise<RawEntry[]> {
    const { index } = await ingest(pack)
    return Array.from({ length: index.entries }, (_, ordinal) => ({
      header: pack.subarray(index.offset(ordinal), index.offset(ordinal) + 1),
      compressed: pack.subarray(index.offset(ordinal) + 1, index.offset(ordinal + 1)),
    }))
  }

  /** Entries moved, doubled or left out: right as long as no base is lost, and no ofs-delta moved away from its base. */
  function rearranged(random: Random, entries: readonly RawEntry[]): Uint8Array {
    const changed = [...entries]
    for (let changes = 1 + random.below(3); changes > 0; changes--) {
      const [from, to] = [random.below(changed.length), random.below(changed.length)]
      const entry = changed[from]!
      const kind = random.below(3)
      if (kind !== 0) changed.splice(from, 1)
      if (kind !== 1) changed.splice(to, 0, entry)
    }
    return buildPack(changed)
  }

  function gitTakes(repository: ScratchRepository, pack: Uint8Array): boolean {
    try {
      repository.git(['index-pack', '--stdin', '--threads=1'], pack)
      return true
    } catch (error) {
      // git stops at a doubled base of a ref-delta. The two are one object, so there is nothing to doubt.
      return String(error).includes('duplicate base')
    }
  }

  function smallPack(seed: number): Uint8Array {
    using repository = generateRepository({ seed, commits: 12 })
    const form = seed % 2 === 0 ? [] : ['--delta-base-offset']
    const args = ['pack-objects', '-q', '--stdout', '--revs', '--all', '--threads=1', ...form]
    return new Uint8Array(repository.git(args))
  }

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

describe('a pack of random entries', { timeout: TIMEOUT_MS }, () => {
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
