import { describe, expect, test } from 'vitest'
import { decodePackRecord, encodePackRecord } from '../../../atproto/records/pack-record.ts'
import { InvalidRecordError } from '../../../atproto/records/record-error.ts'
import {
  nameHash,
  packKey,
  parsePackKey,
  parseRefKey,
  parseRefsKey,
  refKey,
  refsKey,
} from '../../../atproto/records/record-keys.ts'
import {
  decodeRefRecord,
  decodeRefsRecord,
  encodeRefRecord,
  encodeRefsRecord,
} from '../../../atproto/records/ref-record.ts'
import { decodeRepoRecord, encodeRepoRecord } from '../../../atproto/records/repo-record.ts'
import keys from '../../vectors/storage/keys.json' with { type: 'json' }
import records from '../../vectors/storage/records.json' with { type: 'json' }

/** The vectors of docs/storage.md: keys and records. */

interface Vector {
  readonly collection: string
  readonly rkey: string
  readonly value: unknown
  readonly why?: string
}

/** Decodes a record and encodes it again. */
function roundTrip({ collection, rkey, value }: Vector, skip: (reason: string) => void = () => undefined): unknown {
  switch (collection) {
    case 'dev.skein.repo':
      return encodeRepoRecord(decodeRepoRecord(value))
    case 'dev.skein.pack':
      if (!parsePackKey(rkey)) throw new InvalidRecordError('key')
      return encodePackRecord(decodePackRecord(value))
    case 'dev.skein.ref':
      return encodeRefRecord(decodeRefRecord(rkey, value))
    default:
      return encodeRefsRecord(decodeRefsRecord(rkey, value, skip))
  }
}

const titled = (vectors: readonly Vector[]) =>
  vectors.map((vector) => [`${vector.collection} ${vector.why ?? ''}`, vector] as const)

describe('record keys', () => {
  test('are as the vectors say, in both directions', () => {
    for (const { repo, name, seq, hash, key } of keys.refs) {
      expect(nameHash(name)).toBe(hash)
      expect(refKey(repo, name, seq)).toBe(key)
      expect(parseRefKey(key)).toEqual({ repo, hash, seq })
    }
    for (const { repo, tid, key } of keys.packs) {
      expect(packKey(repo, tid)).toBe(key)
      expect(parsePackKey(key)).toEqual({ repo, tid })
    }
    for (const { repo, shard, seq, key } of keys.shards) {
      expect(refsKey(repo, shard, seq)).toBe(key)
      expect(parseRefsKey(key)).toEqual({ repo, shard, seq })
    }
  })

  test.each(keys.invalid.map((vector) => [vector.why, vector] as const))(
    'with %s are none',
    (_, { collection, key }) => {
      const parse = { 'dev.skein.ref': parseRefKey, 'dev.skein.refs': parseRefsKey }[collection] ?? parsePackKey
      expect(parse(key)).toBe(null)
    },
  )
})

describe('records', () => {
  test.each(titled(records.valid))('%s: taken, and written as they were', (_, vector) => {
    const { color, ...known } = vector.value as { color?: string }
    expect(color === undefined || color === 'red').toBe(true)
    expect(roundTrip(vector)).toEqual(known)
  })

  test.each(titled(records.invalid as readonly Vector[]))('%s: skipped', (_, vector) => {
    expect(() => roundTrip(vector)).toThrow(InvalidRecordError)
  })

  test.each(records.skipsEntries.map((vector) => [vector.rkey, vector] as const))(
    '%s: taken without some entries',
    (_, vector) => {
      const skipped: string[] = []
      const taken = roundTrip(vector, (reason) => skipped.push(reason)) as { entries: { name: string }[] }
      expect(taken.entries.map(({ name }) => name)).toEqual(vector.takes)
      expect(skipped).toHaveLength(vector.value.entries.length - vector.takes.length)
    },
  )

  test('with a broken prototype or deep nesting are skipped, not fatal', () => {
    const value = JSON.parse('{"$type":"dev.skein.repo","__proto__":{"name":"x"}}')
    expect(() => decodeRepoRecord(value)).toThrow(InvalidRecordError)
  })
})
