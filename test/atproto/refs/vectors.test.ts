import { describe, expect, test } from 'vitest'
import type { Landing, RefMove } from '../../../atproto/account/landing.ts'
import { parseRefsKey } from '../../../atproto/records/record-keys.ts'
import { decodeRefRecord, decodeRefsRecord } from '../../../atproto/records/ref-record.ts'
import { mergeRefs } from '../../../atproto/refs/merge.ts'
import { BatchBuilder, planMoves } from '../../../atproto/refs/plan.ts'
import moves from '../../vectors/storage/moves.json' with { type: 'json' }
import refs from '../../vectors/storage/refs.json' with { type: 'json' }

/** The vectors of docs/storage.md: what records say together, and the writes that move refs. */

describe('refs of a repository', () => {
  test.each(refs.cases.map((vector) => [vector.name, vector] as const))(
    '%s',
    (_, { records, refs: expected, head }) => {
      const fail = (reason: string) => expect.fail(reason)
      const loose = records.filter(({ collection }) => collection === 'dev.skein.ref')
      const shards = records.filter(({ collection }) => collection === 'dev.skein.refs')
      const decodedShards = shards.map(({ rkey, value }) => ({
        ...parseRefsKey(rkey)!,
        record: decodeRefsRecord(rkey, value, fail),
      }))
      // Whatever the order in which they are listed.
      for (const order of [loose, loose.toReversed()]) {
        const merged = mergeRefs(
          order.map(({ rkey, value }) => decodeRefRecord(rkey, value)),
          decodedShards,
        )
        expect([...merged.refs.values()].sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual(expected)
        expect(merged.head).toBe(head)
      }
    },
  )
})

describe('moves of refs', () => {
  test.each(moves.cases.map((vector) => [vector.name, vector] as const))('%s', (_, vector) => {
    const landing: Landing = {
      did: 'did:plc:abcdefghijklmnopqrstuvwx',
      pds: 'https://pds.example.com',
      repo: moves.repo,
      create: null,
      pack: vector.pack === null ? null : { rkey: vector.pack, record: PACK },
      moves: vector.moves as RefMove[],
      atomic: false,
      head: vector.head,
    }
    const builder = new BatchBuilder()
    const units = planMoves(landing, landing.moves, moves.landing)
    builder.add({ landing, landingId: moves.landing, head: vector.head, opening: null, units }, { whole: true })
    const { writes, parts } = builder.close()
    expect(writes).toEqual(vector.writes)
    expect(parts[0]!.head).toBe(vector.headAfter)
  })
})

const PACK = { size: 32, objects: 0, checksum: '0'.repeat(40), thin: false, createdAt: '2026-11-30T12:00:00Z' }
