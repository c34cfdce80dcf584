import { describe, expect, test } from 'vitest'
import type { RefMove } from '../../../atproto/account/landing.ts'
import { LandingLog } from '../../../atproto/account/landing-log.ts'
import { LandingRun } from '../../../atproto/account/landing-run.ts'
import { BatchBuilder } from '../../../atproto/refs/plan.ts'
import type { RefState } from '../../../atproto/refs/ref-state.ts'

const REPO = '3mabcdefghij2'

function run(head: number | null, ...moves: RefMove[]): LandingRun {
  const landing = { did: 'did:plc:a', pds: 'https://pds.test', repo: REPO, create: null, pack: null, atomic: false }
  return new LandingRun({ ...landing, moves, head }, '3mabcdefghik2')
}

function creation(name: string): RefMove {
  return { name, from: null, target: '1'.repeat(40), peeled: null }
}

function moveOf(name: string, seq: number): RefMove {
  const from: RefState = { name, target: '1'.repeat(40), peeled: null, seq, pack: null, at: { kind: 'loose' } }
  return { name, from, target: '2'.repeat(40), peeled: null }
}

/** Lands them in one batch, as far as the log is concerned. */
function note(log: LandingLog, ...landed: LandingRun[]): void {
  const builder = new BatchBuilder()
  for (const { plan } of landed) expect(builder.add(plan, { whole: true })).toBe(true)
  log.note(REPO, landed[0]!.head, builder.close().parts)
}

describe('landings that arrive together', () => {
  test('are brought up to the head that those before them left, and say what it takes to rely on it', () => {
    const log = new LandingLog()
    expect(log.bringUp(run(1, creation('refs/heads/a')))).toBe(true)
    note(log, run(1, creation('refs/heads/a')))
    note(log, run(2, creation('refs/heads/b')), run(2, creation('refs/heads/c')))
    const third = run(1, creation('refs/heads/d'))
    expect(log.bringUp(third)).toBe(true)
    expect(third.head).toBe(3)
    expect(third.result().headNeeds).toEqual(['a', 'b', 'c'].map((name) => ({ name: `refs/heads/${name}`, seq: 1 })))
    const later = run(2, creation('refs/heads/d'))
    expect(log.bringUp(later)).toBe(true)
    expect(later.head).toBe(3)
    expect(later.result().headNeeds).toHaveLength(2)
  })

  test('have to be read where their ref was moved in between', () => {
    const log = new LandingLog()
    note(log, run(1, creation('refs/heads/a')))
    expect(log.bringUp(run(1, creation('refs/heads/a')))).toBe(false)
    expect(log.bringUp(run(null, moveOf('refs/heads/a', 1)))).toBe(true)
    note(log, run(2, moveOf('refs/heads/a', 1)))
    expect(log.bringUp(run(2, moveOf('refs/heads/a', 1)))).toBe(false)
    expect(log.bringUp(run(2, moveOf('refs/heads/a', 2)))).toBe(true)
  })

  test('have to be read where a ref has come that stands in the way of theirs', () => {
    const log = new LandingLog()
    note(log, run(1, creation('refs/heads/a/b')))
    expect(log.bringUp(run(1, creation('refs/heads/a')))).toBe(false)
    expect(log.bringUp(run(1, creation('refs/heads/a/b/c')))).toBe(false)
    expect(log.bringUp(run(1, creation('refs/heads/a/c')))).toBe(true)
    // Who knows the head that came with it knows the ref: whether it is still there is another matter.
    expect(log.bringUp(run(2, creation('refs/heads/a')))).toBe(true)
  })

  test('are left where they are if nobody knows how the head came from there', () => {
    const log = new LandingLog()
    note(log, run(5, creation('refs/heads/a')))
    const stale = run(1, creation('refs/heads/b'))
    expect(log.bringUp(stale)).toBe(true)
    expect(stale.head).toBe(1)
  })

  test('only keep the head that they have where they do not rely on it', () => {
    const log = new LandingLog()
    note(log, run(1, creation('refs/heads/a')))
    const mover = run(1, moveOf('refs/heads/main', 3))
    expect(log.bringUp(mover)).toBe(true)
    expect(mover.head).toBe(1)
  })
})
