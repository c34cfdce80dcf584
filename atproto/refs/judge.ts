import type { Oid } from '../../git/bytes/oid.ts'
import type { RefMove } from '../account/landing.ts'
import type { StoredRefs } from './merge.ts'
import type { Batch } from './plan.ts'
import type { RefState } from './ref-state.ts'

/** What a fresh look at the account says about a batch whose answer was a fault, or none. */
export interface Judgement {
  /** The batch is in the account: only its answer was lost. */
  readonly landed: boolean
  /** Moves that can be tried (again), each from the ref as it is now. Empty if it landed. */
  readonly open: readonly RefMove[]
  /** Moves whose ref has another value now than the mover knew. Empty if it landed. */
  readonly lost: readonly { readonly move: RefMove; readonly state: RefState | null }[]
  /** Whether anything is different from what the batch was planned on: a reason why it failed. */
  readonly changed: boolean
}

/** Whether one of the batch's own records is among the refs: it is atomic, so then all of it is in the account. */
export function showsLanding(batch: Batch, landingId: string, stored: StoredRefs): boolean {
  return batch.moves.some(
    ({ state }) => stored.landings.get(state.name) === landingId && stored.refs.get(state.name)?.seq === state.seq,
  )
}

/**
 * Whether the refs leave open that the batch has landed and its refs have moved on since. Its pack, or the record of
 * the repository that it creates, then tells; a batch without either has to count as lost.
 */
export function mayHaveMovedOn(batch: Batch, stored: StoredRefs): boolean {
  if (batch.moves.length === 0) return true
  return batch.moves.every(({ state }) => (stored.refs.get(state.name)?.seq ?? 0) > state.seq)
}

/**
 * @param landed what {@link showsLanding} or the pack's record said
 * @param head the head that the batch was planned on
 */
export function judge(batch: Batch, landed: boolean, stored: StoredRefs, head: number | null): Judgement {
  if (landed) return { landed, open: [], lost: [], changed: false }
  const open: RefMove[] = []
  const lost: { move: RefMove; state: RefState | null }[] = []
  let changed = batch.reliesOnShards && stored.head !== head
  for (const { move } of batch.moves) {
    const now = stored.refs.get(move.name) ?? null
    if (!sameRecord(now, move.from)) changed = true
    // A ref is moved from a value, as git means it: that it went away and came back meanwhile is no reason to refuse.
    if (targetOf(now) === targetOf(move.from)) open.push({ ...move, from: now })
    else lost.push({ move, state: now })
  }
  return { landed, open, lost, changed }
}

function targetOf(state: RefState | null): Oid | null {
  return state?.target ?? null
}

function sameRecord(a: RefState | null, b: RefState | null): boolean {
  if (a === null || b === null) return a === b
  return a.seq === b.seq && a.target === b.target && a.at.kind === b.at.kind
}
