import { PdsError, PdsUnreachableError } from '../../atproto/pds/pds-error.ts'
import { isForOwner, RefusedError } from '../account-writer/answers.ts'
import { MirrorUnavailableError, RepositoryGoneError, StillMirroringError } from '../repository/mirror-errors.ts'
import type { RefusedWork, WorkOutcome } from './answers.ts'
import { auditEntry } from './audit.ts'
import type { Branch, BranchPosition, LandFailure, PreparedLanding } from './branch.ts'
import { ApplyFault, type Fold, foldBatch } from './fold-batch.ts'
import { BATCH_LIMITS, PAUSES } from './limits.ts'
import type { Attempt, BatchLimits, QueuedWork, QueueStore } from './queue-store.ts'

export interface DrainDeps {
  readonly store: QueueStore
  readonly branch: Branch
  readonly limits?: BatchLimits
  /** Milliseconds since 1970. */
  now(): number
  /** In [0, 1). */
  random(): number
  sleep(milliseconds: number): Promise<void>
  log(event: string, fields: Record<string, unknown>): void
  /** Hears the tickets of what is settled. */
  onSettled(tickets: readonly string[]): void
}

/** Faults in a row that nobody can explain before the work at which they happen is given up. */
const MOST_FAULTS = 5
/** The first pause after a lost race is at most so long, each further one twice as long, up to the longest. Milliseconds. */
const RACE_PAUSES = { first: 20, longest: 2_000 } as const

/**
 * Lands what waits on a branch, batch by batch, until nothing does, or there is a reason to pause, which is stored.
 *
 * **A batch** is the first works that wait, as many as fit. Each is applied on the branch as the one before has left it;
 * what is refused is left out. All that was made is one pack, and one move of the ref.
 *
 * **Exactly once.** Before a landing is sent it is written down (an *attempt*). While there is one whose fate is not
 * known (after a fault, or a restart), the account is asked first whether it has landed. The branch is looked at before
 * that: so what is made then does not stand on the attempt, moves the ref from where the attempt moves it from, and of
 * the two only one can land. An attempt is forgotten when nobody waits for any of its work.
 *
 * **Refusals** are final when the batch lands: that it did shows that the branch was where it was thought to be, and has
 * what they conflict with. If nothing of the batch is to be landed, the mirror is asked again before anyone is refused;
 * and the account itself before anyone is told that something is not there.
 */
export async function drainQueue(deps: DrainDeps): Promise<void> {
  const run = new DrainRun(deps)
  while (deps.store.hasWaiting() && !isPaused(deps)) await run.turn()
}

function isPaused({ store, now }: DrainDeps): boolean {
  const pause = store.pause()
  return pause !== null && pause.until > now()
}

class DrainRun {
  readonly #deps: DrainDeps
  #races = 0

  constructor(deps: DrainDeps) {
    this.#deps = deps
  }

  async turn(): Promise<void> {
    const { store } = this.#deps
    // After faults that nobody can explain each goes alone, so that the others go on without the one that they are due to.
    const isCareful = store.faults() > 0
    const limits = this.#deps.limits ?? BATCH_LIMITS
    const works = store.nextBatch(isCareful ? { ...limits, works: 1 } : limits)
    try {
      await this.#land(works)
    } catch (error) {
      this.#afterFault(error, works)
    }
  }

  async #land(works: readonly QueuedWork[]): Promise<void> {
    const { branch, store, now } = this.#deps
    // Before what was tried is looked for: see above.
    const known = await branch.position()
    if (await this.#settleEarlier()) return
    const { position, fold } = await this.#fold(known, works)
    if (fold.applied.length === 0) {
      this.#settle(null, fold)
      return
    }
    const landing = await branch.prepare(position, fold)
    const { id, pack } = landing
    const attempt: Attempt = { id, pack, fromSeq: position.seq, tip: fold.tip?.commit ?? null, works: fold.applied }
    store.addAttempt(attempt, now())
    await this.#send(landing, attempt, fold)
  }

  /** Whether something that was tried before is in the account, and is settled now. */
  async #settleEarlier(): Promise<boolean> {
    const { store, branch } = this.#deps
    for (const attempt of store.attempts()) {
      if (!(await branch.hasLanded(attempt))) continue
      this.#deps.log('landing-found', { landing: attempt.id, works: attempt.works.length })
      this.#settle(attempt, null)
      await branch.reload(true)
      return true
    }
    return false
  }

  /** What comes of the works: of what would be refused for what is only thought to be so, by a fresh look. */
  async #fold(
    known: BranchPosition,
    works: readonly QueuedWork[],
  ): Promise<{ position: BranchPosition; fold: Fold }> {
    const { branch } = this.#deps
    let position = known
    let fold = await foldBatch(position.place, position.stored, works)
    for (let look = lookNeeded(position, fold); look !== null; look = lookNeeded(position, fold)) {
      position = await branch.reload(look === 'account')
      fold = await foldBatch(position.place, position.stored, works)
    }
    return { position, fold }
  }

  async #send(landing: PreparedLanding, attempt: Attempt, fold: Fold): Promise<void> {
    const { store, branch, log } = this.#deps
    const outcome = await landing.land()
    switch (outcome.state) {
      case 'landed':
        this.#races = 0
        this.#settle(attempt, fold)
        return
      case 'lost':
        store.dropAttempt(attempt.id)
        log('landing-lost', { landing: attempt.id, works: attempt.works.length })
        await this.#deps.sleep(jittered(RACE_PAUSES, this.#races, this.#deps.random))
        await branch.reload(this.#races++ > 0)
        return
      case 'failed':
        if (!outcome.isUncertain) store.dropAttempt(attempt.id)
        this.#afterFailure(outcome, attempt)
    }
  }

  #afterFailure(failure: LandFailure, { works }: Attempt): void {
    const { message, retryAfterSeconds, isUncertain, isForOwner, isRefused } = failure
    if (isForOwner && !isUncertain) {
      this.#refuse(works, { reason: 'account-refused', message })
    } else if (isRefused && !isUncertain) {
      if (works.length > 1) this.#deps.store.setFaults(1)
      else this.#refuse(works, { reason: 'account-refused', message })
    } else this.#pause(message, retryAfterSeconds)
  }

  #afterFault(fault: unknown, works: readonly QueuedWork[]): void {
    const { store, log } = this.#deps
    log('drain-failed', { works: works.length, reason: String(fault) })
    const error = fault instanceof ApplyFault ? fault.cause : fault
    if (error instanceof RepositoryGoneError) {
      this.#refuse(works, { reason: 'account-refused', message: error.message })
      return
    }
    if (error instanceof RefusedError && isForOwner(error.refusal)) {
      this.#refuse(works, { reason: 'account-refused', message: error.message })
      return
    }
    const known = knownTrouble(error)
    if (known !== null) {
      this.#pause(known.reason, known.retryAfterSeconds)
      return
    }
    const faults = store.faults() + 1
    if (works.length === 1 && faults >= MOST_FAULTS) {
      this.#refuse(works, { reason: 'fault', message: 'this could not be done, for a reason that is ours: it was given up' })
      return
    }
    store.setFaults(faults)
    this.#pause('something went wrong here; it is tried again', null)
  }
}
