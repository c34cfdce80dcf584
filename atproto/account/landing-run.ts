import { RefNames } from '../../git/refs/ref-conflicts.ts'
import { judge } from '../refs/judge.ts'
import type { StoredRefs } from '../refs/merge.ts'
import {
  type BatchPart,
  type LandingPlan,
  leastSize,
  PLAN_LIMITS,
  type PlanLimits,
  planMoves,
  planOpening,
  type Size,
} from '../refs/plan.ts'
import {
  createsRef,
  type Landing,
  type LandingFailure,
  type LandingResult,
  type MoveOutcome,
  type RefMove,
  type RefSeq,
  reliesOnHead,
} from './landing.ts'

/** Tries after faults that were no race. */
const MAX_RETRIES = 2
/** Tries after losing a race that left something to do: each means that somebody else has landed. */
const MAX_RACES = 10
/** More refs than this are not worth telling the mirror: it reads the account instead. */
const MAX_HEAD_NEEDS = 512

/** What a fresh look at the account shows of a landing's repository. */
export interface FreshRefs {
  readonly stored: StoredRefs
  /** Whether the shards were read: if not, `stored.head` says nothing. */
  readonly hasShards: boolean
}

/** One landing on its way: what is still to be written, what is known by now, and what has become of each move. */
export class LandingRun {
  readonly landing: Landing
  /** TID that marks its records. */
  readonly id: string
  readonly #limits: PlanLimits
  readonly #outcomes = new Map<string, MoveOutcome>()
  /** What is still to be moved, by name. */
  readonly #pending: Map<string, RefMove>
  /** Refs that came with the heads between the one that the landing knew and the one that it knows now. */
  readonly #headNeeds = new Map<string, number>()
  /** Null where the pending moves are to be planned anew. */
  #plan: LandingPlan | null = null
  #failure: LandingResult['failure'] = null
  #repository: LandingResult['repository'] = 'unchanged'
  #head: number | null
  /** Whether the repository's record and the pack, where there are any, are still to be written. */
  #opens: boolean
  #retries = 0
  #races = 0
  #isStale = false

  constructor(landing: Landing, id: string, limits: PlanLimits = PLAN_LIMITS) {
    this.landing = landing
    this.id = id
    this.#limits = limits
    this.#pending = new Map(landing.moves.map((move) => [move.name, move]))
    this.#head = landing.head
    this.#opens = landing.create !== null || landing.pack !== null
  }

  /** Nothing is left to be tried. All refs lost: the pack is of no use then. But a landing may be there for it alone. */
  get isFinished(): boolean {
    return this.#failure !== null || (this.#pending.size === 0 && (this.landing.moves.length > 0 || !this.#opens))
  }

  get pending(): readonly RefMove[] {
    return [...this.#pending.values()]
  }

  get head(): number | null {
    return this.#head
  }

  /** Whether what is left to be done is good only as long as no ref has come that the landing does not know of. */
  get reliesOnHead(): boolean {
    return this.pending.some(reliesOnHead)
  }

  /** What is still to be written. */
  get plan(): LandingPlan {
    this.#plan ??= {
      landing: this.landing,
      landingId: this.id,
      head: this.#head,
      opening: this.#opens ? planOpening(this.landing) : null,
      units: planMoves(this.landing, this.pending, this.id, this.#limits),
    }
    return this.#plan
  }

  /** What the plan takes of a batch, at least: it is not made for that. */
  get leastSize(): Size {
    return leastSize(this.landing, this.pending, this.#opens, this.#limits)
  }

  result(): LandingResult {
    const { create, pack, moves, head } = this.landing
    for (const { name } of moves) this.#headNeeds.delete(name)
    const isStale = this.#isStale || this.#headNeeds.size > MAX_HEAD_NEEDS
    return {
      moves: moves.map((move) => this.#outcomes.get(move.name)!),
      packLanded: pack !== null && !this.#opens,
      repository: create !== null && !this.#opens ? 'created' : this.#repository,
      failure: this.#failure,
      head: isStale ? head : this.#head,
      headNeeds: isStale ? [] : [...this.#headNeeds].map(([name, seq]) => ({ name, seq })),
      isStale,
    }
  }

  /** Other landings of the same writer have made the head what it is: it is as good as the one before. */
  bringUp(head: number | null, appeared: readonly RefSeq[]): void {
    this.#head = head
    this.#need(appeared)
    if (this.#plan !== null) this.#plan = { ...this.#plan, head }
  }

  /** @param appeared refs of other landings that came with the same move of the head */
  landed(part: BatchPart, appeared: readonly RefSeq[]): void {
    if (part.movesHead) {
      this.#head = part.head
      this.#need(appeared)
    }
    this.#settlePart(part)
    const { plan } = this
    // Many refs take many batches: what is planned for the others stays good.
    this.#plan = {
      ...plan,
      head: this.#head,
      opening: part.opens ? null : plan.opening,
      units: plan.units.slice(part.units),
    }
  }

  /**
   * It has, by a write that was given up for lost. What else was in that one, and which head came with it, this part does
   * not say: what is left is taken up from the refs as they are now.
   */
  landedBefore(part: BatchPart, now: FreshRefs): void {
    this.#isStale = true
    this.#settlePart(part)
    this.rebase(now)
  }

  fail(
    message: string,
    retryAfterSeconds: number | null,
    { isUncertain = false, isForOwner = false, isRefused = false }: Partial<LandingFailure> = {},
  ): void {
    this.#failure = { message, retryAfterSeconds, isUncertain, isForOwner, isRefused }
    for (const name of this.#pending.keys()) this.#settle({ name, outcome: 'failed', message, retryAfterSeconds })
  }

  /** Another repository has the name. */
  refuseName(taken: string): void {
    this.#repository = { taken }
    this.fail(`a repository named ${this.landing.create!.name} exists already`, null)
  }

  /** The repository was deleted: refs could be created in what is left, and never be seen. */
  failGone(): void {
    this.#isStale = true
    this.fail('the repository is gone from the account', null)
  }

  /**
   * Takes what is pending up from the refs as they are now, all of it: the head that it relies on from now on says
   * nothing of refs that came with it. Moves whose ref has another value are lost.
   *
   * @returns whether anything is not as it was known: then that is why a batch failed
   */
  rebase({ stored, hasShards }: FreshRefs): boolean {
    const { open, lost, changed } = judge(this.pending, stored)
    // Who relies on none is left with an old one on purpose: that the head has moved is no news then, and explains nothing.
    const headMoved = hasShards && stored.head !== this.#head && this.reliesOnHead
    this.#plan = null
    for (const move of open) this.#pending.set(move.name, move)
    for (const { move, state } of lost) this.#settle({ name: move.name, outcome: 'lost', state })
    if (hasShards && this.reliesOnHead) this.#head = stored.head
    const hasConflict = this.#refuseConflicts(open, stored)
    // Where none is left each has its own reason, and that is all there is to say.
    if (this.landing.atomic && this.#pending.size > 0 && (lost.length > 0 || hasConflict)) {
      this.fail('another ref of this atomic push was not accepted', null)
    }
    if (!changed && !headMoved) return false
    this.#isStale = true
    this.#races++
    if (this.#races > MAX_RACES && !this.isFinished) {
      this.fail('too many others write to this repository now: try again', 1)
    }
    return true
  }

  /**
   * Nobody was first, and it was alone: the PDS refuses it for what it is, or could not run it.
   *
   * @param failure what is told if it is not tried again
   * @returns how often that has happened
   */
  retry(message: string, retryAfterSeconds: number | null, failure: Partial<LandingFailure>): number {
    this.#retries++
    if (failure.isRefused || this.#retries > MAX_RETRIES) this.fail(message, retryAfterSeconds, failure)
    return this.#retries
  }

  /** Refuses refs that would be a directory of one that has come meanwhile, or lie in one. @returns whether there are any */
  #refuseConflicts(open: readonly RefMove[], stored: StoredRefs): boolean {
    const created = open.filter(createsRef)
    if (created.length === 0) return false
    const names = new RefNames()
    for (const { name, target } of stored.refs.values()) if (target !== null) names.add(name)
    for (const { name, target } of open) if (target === null) names.delete(name)
    let hasConflict = false
    for (const { name } of created) {
      const other = names.conflictWith(name)
      if (other === null) continue
      hasConflict = true
      const message = `'${other}' exists; cannot create '${name}'`
      this.#settle({ name, outcome: 'failed', message, retryAfterSeconds: null })
    }
    return hasConflict
  }

  #need(appeared: readonly RefSeq[]): void {
    for (const { name, seq } of appeared) this.#headNeeds.set(name, seq)
  }

  #settlePart(part: BatchPart): void {
    if (part.opens) this.#opens = false
    for (const { state } of part.moves) this.#settle({ name: state.name, outcome: 'landed', state })
  }

  #settle(outcome: MoveOutcome): void {
    this.#outcomes.set(outcome.name, outcome)
    this.#pending.delete(outcome.name)
  }
}
