import type { Oid } from '../../git/bytes/oid.ts'
import type { RefMove } from '../account/landing.ts'
import type { StoredRefs } from './merge.ts'
import type { BatchPart } from './plan.ts'
import type { RefState } from './ref-state.ts'

/** What a fresh look at the account says about moves that have not landed. */
export interface Judgement {
  /** Can be tried (again), each from the ref as it is now. */
  readonly open: readonly RefMove[]
  /** Their ref has another value now than the mover knew. */
  readonly lost: readonly { readonly move: RefMove; readonly state: RefState | null }[]
  /** Whether any ref is not as the mover knew it. */
  readonly changed: boolean
}

export function judge(moves: readonly RefMove[], stored: StoredRefs): Judgement {
  const open: RefMove[] = []
  const lost: { move: RefMove; state: RefState | null }[] = []
  let changed = false
  for (const move of moves) {
    const now = stored.refs.get(move.name) ?? null
    if (!sameRecord(now, move.from)) changed = true
    // A ref is moved from a value, as git means it: that it went away and came back meanwhile is no reason to refuse.
    if (targetOf(now) === targetOf(move.from)) open.push({ ...move, from: now })
    else lost.push({ move, state: now })
  }
  return { open, lost, changed }
}

/** Whether one of the landing's own records is among the refs: a batch is atomic, so then all its part of it has landed. */
export function showsLanding(part: BatchPart, landingId: string, stored: StoredRefs): boolean {
  return part.moves.some(
    ({ state }) => stored.landings.get(state.name) === landingId && stored.refs.get(state.name)?.seq === state.seq,
  )
}

/**
 * Whether the refs leave open that the batch has landed and its refs have moved on since. Its pack, or the record of
 * the repository that it creates, then tells; one without either has to count as lost.
 */
export function mayHaveMovedOn(part: BatchPart, stored: StoredRefs): boolean {
  return part.opens && part.moves.every(({ state }) => (stored.refs.get(state.name)?.seq ?? 0) > state.seq)
}

function targetOf(state: RefState | null): Oid | null {
  return state?.target ?? null
}

function sameRecord(a: RefState | null, b: RefState | null): boolean {
  if (a === null || b === null) return a === b
  return a.seq === b.seq && a.target === b.target && a.at.kind === b.at.kind
}
