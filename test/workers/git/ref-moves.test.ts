import { describe, expect, it } from 'vitest'
import type { RefState } from '../../../atproto/refs/ref-state.ts'
import type { WriterRef } from '../../../durable-objects/repository/answers.ts'
import { ZERO_OID } from '../../../git/bytes/oid.ts'
import type { CommitGraph } from '../../../git/graph/commit-graph.ts'
import { COMMIT, TAG } from '../../../git/object/object-type.ts'
import { type CheckedCommand, STALE_REF } from '../../../git/protocol/check-commands.ts'
import { planMoves, REPLACE_UNREADABLE } from '../../../workers/git/ref-moves.ts'
import { oid } from '../../git/protocol/wire.ts'

const MAIN = 'refs/heads/main'
/** The commit 2 comes after 1; object 8 is a tag of the tag 9, which is one of the commit 1. */
const graph = {
  find: (object: string) => [oid(1), oid(2)].indexOf(object),
  parents: (commit: number) => (commit === 1 ? [0] : []),
  generation: (commit: number) => commit + 1,
  tagTarget: (tag: string) =>
    ({ [oid(8)]: { oid: oid(9), type: TAG }, [oid(9)]: { oid: oid(1), type: COMMIT } })[tag] ?? null,
} as unknown as CommitGraph

const command = (from: string, to: string, name = MAIN): CheckedCommand => ({ ok: true, name, old: from, new: to })
const stale = { ok: false, name: MAIN, reason: STALE_REF }

function ref(target: string | null, options: { seq?: number; isBroken?: boolean } = {}): WriterRef {
  const state: RefState = {
    name: MAIN,
    target,
    peeled: null,
    seq: options.seq ?? 7,
    pack: null,
    at: { kind: 'loose' },
  }
  return { state, isBroken: options.isBroken ?? false }
}

describe('planMoves', () => {
  it('moves a ref from the state that the mirror knows', () => {
    const known = ref(oid(1))
    const { commands, moves } = planMoves([command(oid(1), oid(2))], [known], graph)
    expect(commands).toEqual([command(oid(1), oid(2))])
    expect(moves).toEqual([{ name: MAIN, from: known.state, target: oid(2), peeled: null }])
  })

  it('refuses a ref that somebody else has moved since the commands were checked', () => {
    expect(planMoves([command(oid(1), oid(2))], [ref(oid(3))], graph)).toEqual({ commands: [stale], moves: [] })
  })

  it('refuses to create a ref that somebody else has created since, and to move one that is deleted', () => {
    expect(planMoves([command(ZERO_OID, oid(2))], [ref(oid(3))], graph)).toEqual({ commands: [stale], moves: [] })
    expect(planMoves([command(oid(1), oid(2))], [ref(null)], graph)).toEqual({ commands: [stale], moves: [] })
    expect(planMoves([command(oid(1), ZERO_OID)], [ref(oid(3))], graph)).toEqual({ commands: [stale], moves: [] })
  })

  it('creates what never existed, and goes on from a tombstone', () => {
    const create = command(ZERO_OID, oid(2))
    expect(planMoves([create], [], graph).moves).toEqual([{ name: MAIN, from: null, target: oid(2), peeled: null }])
    expect(planMoves([create], [ref(null)], graph).moves[0]!.from).toMatchObject({ seq: 7, target: null })
  })

  it('deletes what is there, and has nothing to do where it is not', () => {
    const deletion = command(oid(1), ZERO_OID)
    expect(planMoves([deletion], [ref(oid(1))], graph).moves).toMatchObject([{ target: null, peeled: null }])
    expect(planMoves([deletion], [ref(null)], graph)).toEqual({ commands: [deletion], moves: [] })
    expect(planMoves([deletion], [], graph)).toEqual({ commands: [deletion], moves: [] })
  })

  it('takes a broken ref as absent, as the pusher sees it, but loses nothing that it has been at', () => {
    const broken = ref(oid(5), { isBroken: true })
    const create = command(ZERO_OID, oid(2))
    const [refused] = planMoves([create], [broken], graph).commands
    expect(refused).toMatchObject({ ok: false, name: MAIN, reason: expect.stringContaining(`it is at ${oid(5)}`) })
    expect(refused).toMatchObject({ reason: expect.stringContaining(`git push -o ${REPLACE_UNREADABLE}`) })
    expect(planMoves([command(ZERO_OID, oid(1))], [ref(oid(2), { isBroken: true })], graph).moves).toEqual([])
    expect(planMoves([command(oid(5), oid(2))], [broken], graph).moves).toEqual([])
  })

  it('moves a broken ref on from its state by what brings what it lacks, or where that is asked for', () => {
    for (const [at, to] of [
      [oid(5), oid(5)],
      [oid(1), oid(2)],
      [oid(8), oid(2)],
    ] as const) {
      const broken = ref(at, { isBroken: true })
      const { moves } = planMoves([command(ZERO_OID, to)], [broken], graph)
      expect(moves).toMatchObject([{ from: broken.state, target: to }])
    }
    const broken = ref(oid(5), { isBroken: true })
    const replaced = planMoves([command(ZERO_OID, oid(2))], [broken], graph, [REPLACE_UNREADABLE])
    expect(replaced.moves).toMatchObject([{ from: broken.state, target: oid(2) }])
    expect(planMoves([command(ZERO_OID, ZERO_OID)], [broken], graph).moves).toMatchObject([{ target: null }])
    expect(planMoves([command(oid(5), oid(2))], [broken], graph, [REPLACE_UNREADABLE]).commands).toEqual([stale])
  })

  it('peels tags of tags, and leaves what was refused as it is', () => {
    const name = 'refs/tags/v1'
    expect(planMoves([command(ZERO_OID, oid(8), name)], [], graph).moves).toMatchObject([{ peeled: oid(1) }])
    const refused: CheckedCommand = { ok: false, name, reason: 'funny refname' }
    expect(planMoves([refused], [], graph)).toEqual({ commands: [refused], moves: [] })
  })
})
