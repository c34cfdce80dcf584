import { RefNames } from '../../git/refs/ref-conflicts.ts'
import type { PdsClient } from '../pds/pds-client.ts'
import { PdsError, PdsUnreachableError } from '../pds/pds-error.ts'
import type { Write } from '../pds/write.ts'
import { PACK_COLLECTION, REPO_COLLECTION } from '../records/collections.ts'
import type { TidClock } from '../records/tid.ts'
import { judge, mayHaveMovedOn, showsLanding } from '../refs/judge.ts'
import { mergeRefs, type StoredRefs } from '../refs/merge.ts'
import { type Batch, PLAN_LIMITS, type PlanLimits, planLanding } from '../refs/plan.ts'
import { findRepositories } from './find-repositories.ts'
import {
  createsRef,
  type Landing,
  type LandingResult,
  type MoveOutcome,
  type RefMove,
  reliesOnHead,
} from './landing.ts'
import { readLooseRefs, readRefs } from './read-refs.ts'

export interface LandDeps {
  /** For reads. */
  readonly client: PdsClient
  /** One applyWrites of the account, all or nothing, with a session that is good now. */
  applyWrites(writes: readonly Write[]): Promise<void>
  readonly tids: TidClock
  readonly sleep?: (milliseconds: number) => Promise<void>
  /** In [0, 1). */
  readonly random?: () => number
  readonly limits?: PlanLimits
}

/** Tries after faults that were no race. */
const MAX_RETRIES = 2
/** Tries after losing a race that left something to do: each means that somebody else has landed. */
const MAX_RACES = 10
/** Longest pause before the second try, in milliseconds; it doubles with each. */
const PAUSE = 300
const TOO_LARGE_FOR_ATOMIC =
  'an atomic push of so many refs does not fit into one write to the PDS: push fewer at once, or without --atomic'
/** The PDS has not run it: its answers to requests that it refuses before it looks at them. */
const REFUSED = [403, 413, 429]

/**
 * Lands a pack and moves of refs in an account: compare-and-swap by record keys, one applyWrites where all fits, and
 * one request where nothing goes wrong.
 *
 * A PDS tells a lost race like any other fault (HTTP 500), and a broken connection tells nothing at all. So after every
 * fault the refs are read again, and their seqs say which it was: the batch landed and its answer was lost; others were
 * first; or it never ran. What is still possible is tried again, and can do no harm: should the first try land late
 * after all, the second finds its keys taken and recognises the landing as its own.
 *
 * @throws no error of the PDS: those become outcomes of the moves
 */
export async function land(deps: LandDeps, landing: Landing): Promise<LandingResult> {
  if (landing.create) {
    const taken = await findTaken(deps.client, landing)
    if (taken === landing.repo) return land(deps, { ...landing, create: null })
    if (taken !== null) return refuseAll(landing, { taken }, `a repository named ${landing.create.name} exists already`)
  }
  const run = new LandingRun(deps, landing)
  await run.finish()
  return run.result()
}

/** The repository that has the name of the one to create; it is that one itself where an answer was lost before. */
async function findTaken(client: PdsClient, { did, create }: Landing): Promise<string | null> {
  const repositories = await findRepositories(client, did)
  return repositories.find(({ record }) => record.name === create!.name)?.rkey ?? null
}

class LandingRun {
  readonly #deps: LandDeps
  readonly #landing: Landing
  readonly #landingId: string
  readonly #outcomes = new Map<string, MoveOutcome>()
  /** What is still to be moved, by name. */
  readonly #pending: Map<string, RefMove>
  #failure: LandingResult['failure'] = null
  #head: number | null
  /** Whether the repository's record and the pack, where there are any, are still to be written. */
  #opens: boolean
  #retries = 0
  #races = 0

  constructor(deps: LandDeps, landing: Landing) {
    this.#deps = deps
    this.#landing = landing
    this.#landingId = deps.tids.next()
    this.#pending = new Map(landing.moves.map((move) => [move.name, move]))
    this.#head = landing.head
    this.#opens = landing.create !== null || landing.pack !== null
  }

  async finish(): Promise<void> {
    const { create, moves, atomic } = this.#landing
    // Without a head that is known, a ref could be created beside one that the writer does not know of.
    const lacksHead = this.#head === null && create === null && moves.some(reliesOnHead)
    if (lacksHead) await this.#catchUp()
    for (let batches = this.#plan(); batches.length > 0; batches = this.#plan()) {
      if (atomic && batches.length > 1) return this.#fail(TOO_LARGE_FOR_ATOMIC, null)
      for (const batch of batches) {
        if (!(await this.#tryBatch(batch))) break
      }
    }
  }

  result(): LandingResult {
    const { create, pack, moves, head } = this.#landing
    const isStale = this.#races > 0
    return {
      moves: moves.map((move) => this.#outcomes.get(move.name)!),
      packLanded: pack !== null && !this.#opens,
      repository: create !== null && !this.#opens ? 'created' : 'unchanged',
      failure: this.#failure,
      head: isStale ? head : this.#head,
      isStale,
    }
  }

  #plan(): Batch[] {
    // All refs lost: the pack is of no use then. But a landing without moves is there for its pack or repository.
    if (this.#failure || (this.#pending.size === 0 && (this.#landing.moves.length > 0 || !this.#opens))) return []
    return planLanding(
      {
        landing: this.#landing,
        moves: [...this.#pending.values()],
        opens: this.#opens,
        head: this.#head,
        landingId: this.#landingId,
      },
      this.#deps.limits ?? PLAN_LIMITS,
    )
  }

  /** False: the rest has to be planned anew. */
  async #tryBatch(batch: Batch): Promise<boolean> {
    try {
      await this.#deps.applyWrites(batch.writes)
    } catch (fault) {
      if (!isPdsFault(fault)) throw fault
      await this.#afterFault(batch, fault)
      return false
    }
    this.#markLanded(batch)
    return true
  }

  async #afterFault(batch: Batch, fault: PdsFault): Promise<void> {
    if (wasRefused(fault)) return this.#fail(fault.message, retryAfterOf(fault))
    const moves = batch.moves.map(({ move }) => move)
    let stored: StoredRefs
    let landed: boolean
    let isGone: boolean
    try {
      stored = await this.#readAgain(moves, batch.movesHead)
      landed = showsLanding(batch, this.#landingId, stored)
      if (!landed && batch.opens && mayHaveMovedOn(batch, stored)) landed = await this.#findOpening()
      isGone = !landed && stored.head === null && (await this.#isRepositoryGone())
    } catch (unreadable) {
      if (!isPdsFault(unreadable)) throw unreadable
      return this.#fail(
        `${fault.message}; whether the push has arrived is not known, fetch to see`,
        retryAfterOf(unreadable),
        true,
      )
    }
    if (landed) return this.#markLanded(batch)
    if (isGone) {
      this.#races++
      return this.#fail('the repository is gone from the account', null)
    }
    const changed = this.#rebase(moves, stored)
    if (!this.#failure) await this.#beforeNextTry(changed, fault)
  }

  /** Takes the refs of all moves as they are now. */
  async #catchUp(): Promise<void> {
    const moves = [...this.#pending.values()]
    try {
      this.#rebase(moves, await this.#readAgain(moves, true))
    } catch (fault) {
      if (!isPdsFault(fault)) throw fault
      this.#fail(fault.message, retryAfterOf(fault))
    }
  }

  async #readAgain(moves: readonly RefMove[], movesHead: boolean): Promise<StoredRefs> {
    const { client } = this.#deps
    const { did, repo } = this.#landing
    const names = moves.map(({ name }) => name)
    const ignore = () => undefined
    // Refs that were created meanwhile may stand in the way of those to create: that takes all names.
    if (movesHead) return readRefs(client, did, repo, moves.some(createsRef) ? 'all' : names, ignore)
    const { refs, landings } = mergeRefs(await readLooseRefs(client, did, repo, names, ignore), [])
    // A loose ref that is gone altogether has been packed.
    if (names.some((name) => !refs.has(name))) return readRefs(client, did, repo, names, ignore)
    return { refs, landings, head: this.#head }
  }

  /** @returns whether anything is not as it was known: then that is why a batch failed */
  #rebase(moves: readonly RefMove[], stored: StoredRefs): boolean {
    const { open, lost, changed } = judge(moves, stored)
    const headMoved = stored.head !== this.#head
    this.#head = stored.head
    for (const move of open) this.#pending.set(move.name, move)
    for (const { move, state } of lost) this.#settle({ name: move.name, outcome: 'lost', state })
    const hasConflict = this.#refuseConflicts(open, stored)
    if (this.#landing.atomic && (lost.length > 0 || hasConflict)) {
      this.#fail('another ref of this atomic push was not accepted', null)
    }
    if (changed || headMoved) this.#races++
    return changed || headMoved
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

  async #beforeNextTry(changed: boolean, fault: PdsFault): Promise<void> {
    const { sleep = pause, random = Math.random } = this.#deps
    if (changed) {
      if (this.#races > MAX_RACES) this.#fail('too many others write to this repository now: try again', 1)
      return
    }
    // Nobody was first, so the PDS refuses the batch for what it is, or could not run it.
    const isRefusal = fault instanceof PdsError && fault.status >= 400 && fault.status < 500
    this.#retries++
    if (isRefusal || this.#retries > MAX_RETRIES) return this.#fail(fault.message, retryAfterOf(fault))
    await sleep(random() * PAUSE * 2 ** (this.#retries - 1))
  }

  /** Whether a repository that had a head has been deleted: refs could be created in what is left, and never be seen. */
  async #isRepositoryGone(): Promise<boolean> {
    const { did, repo, create } = this.#landing
    if (create !== null || this.#head === null) return false
    return (await this.#deps.client.getRecord(did, REPO_COLLECTION, repo)) === null
  }

  /** Whether the pack is in the account, or the repository's record where the landing has no pack. */
  async #findOpening(): Promise<boolean> {
    const { did, pack, repo } = this.#landing
    const [collection, rkey] = pack ? [PACK_COLLECTION, pack.rkey] : [REPO_COLLECTION, repo]
    return (await this.#deps.client.getRecord(did, collection, rkey)) !== null
  }

  #markLanded(batch: Batch): void {
    if (batch.opens) this.#opens = false
    this.#head = batch.head
    for (const { state } of batch.moves) this.#settle({ name: state.name, outcome: 'landed', state })
  }

  #fail(message: string, retryAfterSeconds: number | null, isUncertain = false): void {
    this.#failure = { message, retryAfterSeconds, isUncertain }
    for (const name of this.#pending.keys()) this.#settle({ name, outcome: 'failed', message, retryAfterSeconds })
  }

  #settle(outcome: MoveOutcome): void {
    this.#outcomes.set(outcome.name, outcome)
    this.#pending.delete(outcome.name)
  }
}

type PdsFault = PdsError | PdsUnreachableError

function isPdsFault(fault: unknown): fault is PdsFault {
  return fault instanceof PdsError || fault instanceof PdsUnreachableError
}

function wasRefused(fault: PdsFault): boolean {
  return fault instanceof PdsError && (fault.isTokenRefused || REFUSED.includes(fault.status))
}

function retryAfterOf(fault: PdsFault): number | null {
  return fault instanceof PdsError ? fault.retryAfter : null
}

function refuseAll(landing: Landing, repository: LandingResult['repository'], message: string): LandingResult {
  const moves = landing.moves.map(({ name }) => ({
    name,
    outcome: 'failed' as const,
    message,
    retryAfterSeconds: null,
  }))
  const failure = { message, retryAfterSeconds: null, isUncertain: false }
  return { moves, packLanded: false, repository, failure, head: landing.head, isStale: false }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
