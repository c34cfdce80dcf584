import { PdsError, PdsUnreachableError } from '../../atproto/pds/pds-error.ts'
import { isForOwner, RefusedError } from '../account-writer/answers.ts'
import { isPassingFault } from '../passing-fault.ts'
import {
  MirrorRefusedError,
  MirrorUnavailableError,
  RepositoryGoneError,
  StillMirroringError,
} from '../repository/mirror-errors.ts'
import type { RefusedWork, Submitter } from './answers.ts'
import type { Branch, BranchPosition, Freshness, LandFailure, PreparedLanding } from './branch.ts'
import { ApplyFault, type Fold, foldBatch } from './fold-batch.ts'
import { BATCH_LIMITS, PAUSES, TRUSTED_FOR } from './limits.ts'
import type { Attempt, AttemptedWork, BatchLimits, QueuedWork, QueueStore, SettledWork } from './queue-store.ts'
import { RightsUnknownError } from './withdrawn-work.ts'

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
  /** The same for what goes as it should. */
  logRoutine(event: string, fields: Record<string, unknown>): void
  /** The seqs of work that whoever handed it in may not do any more. @throws where it cannot be found out now */
  withdrawn(works: readonly QueuedWork[]): Promise<ReadonlySet<number>>
  /** Hears the tickets of what is settled. */
  onSettled(tickets: readonly string[]): void
}

/**
 * The account is not read again sooner for what is not there, in milliseconds: whoever goes on to name what is nowhere
 * would have it read each time.
 */
const READ_PAUSE = 2_000

interface LastLanding {
  /** So many may be there soon after it. */
  readonly works: number
  /** In milliseconds. */
  readonly took: number
  /** Milliseconds since 1970. */
  readonly endedAt: number
}

/** Faults in a row that nobody can explain before the work at which they happen is given up. */
const MOST_FAULTS = 5
/**
 * How long work is waited for after a landing: this part of the time that it took, and so many milliseconds at most. So
 * often it is looked whether it is there, in milliseconds.
 */
const GATHER = { part: 1 / 4, longest: 100, look: 5 } as const
/** The first pause after a lost race is at most so long, each further one twice as long, up to the longest. Milliseconds. */
const RACE_PAUSES = { first: 20, longest: 2_000 } as const

/**
 * Lands what waits on a branch, batch by batch, until nothing does, or there is a reason to pause, which is stored.
 *
 * **A batch** is the first works that wait, as many as fit. Each is applied on the branch as the one before has left it;
 * what is refused is left out. All that was made is one pack, and one move of the ref. What comes while a batch is on
 * its way is the next one.
 *
 * **Exactly once.** Before a landing is sent it is written down (an *attempt*). While there is one whose fate is not
 * known (after a fault, or a restart), the account is asked first whether it has landed. The branch is looked at before
 * that: so what is made then does not stand on the attempt, moves the ref from where the attempt moves it from, and of
 * the two only one can land. An attempt is forgotten when nobody waits for any of its work.
 *
 * **Refusals** are final when the batch lands: that it did shows that the branch was where it was thought to be, and has
 * what they conflict with. If nothing of the batch is to be landed, the mirror is asked again before anyone is refused;
 * and the account itself before anyone is told that something is not there.
 *
 * **Rights** are looked at when work is handed in. What has waited for long is looked at again before it lands: so that
 * a token that has leaked does nothing more a moment after it is revoked, also where its work waits for hours.
 *
 * **Faults.** While the account cannot be written to, work waits. Work that is refused by the account for what it is, or
 * at which something breaks again and again, is given up once it is alone, so that the others go on.
 */
export class QueueDrain {
  readonly #deps: DrainDeps
  /** Races lost in a row. */
  #races = 0
  /** The last landing; null: there was none. */
  #last: LastLanding | null = null
  /** Works that go alone, since something has broken with several. */
  #alone = 0
  /** Faults in a row of one that is alone. */
  #faults = 0
  /** When the account was last read for what is not there, in milliseconds since 1970. */
  #readAt = Number.NEGATIVE_INFINITY

  constructor(deps: DrainDeps) {
    this.#deps = deps
  }

  async run(): Promise<void> {
    while (canLand(this.#deps.store, this.#deps.now())) await this.#turn()
  }

  async #turn(): Promise<void> {
    const { store, branch, log, limits = BATCH_LIMITS } = this.#deps
    await this.#gather()
    const works = store.nextBatch(this.#alone > 0 ? { ...limits, works: 1 } : limits)
    try {
      await this.#land(works)
    } catch (error) {
      log('drain-failed', { works: works.length, reason: String(error) })
      branch.forget()
      this.#afterFault(error instanceof ApplyFault ? error.cause : error, works)
    }
  }

  /**
   * Those who were answered together come back nearly together: the first of them waits for the others a moment, or each
   * round of them would be two landings.
   */
  async #gather(): Promise<void> {
    if (this.#last === null) return
    const { store, now, sleep } = this.#deps
    const { works, took, endedAt } = this.#last
    const until = endedAt + Math.min(GATHER.longest, took * GATHER.part)
    while (now() < until && store.waiting().works < works) await sleep(GATHER.look)
  }

  /**
   * How many there may be of those who come back: those who are answered now, and those who have come meanwhile, or both
   * would take turns for ever. Not where one has landed alone: it is with those who have come that it belongs.
   */
  #comingBack({ works }: Attempt): number {
    return works.length > 1 ? this.#deps.store.waiting().works : 1
  }

  async #land(works: readonly QueuedWork[]): Promise<void> {
    const { branch, store, now } = this.#deps
    // Before what was tried is looked for: see above.
    const known = await branch.position()
    if (await this.#settleEarlier()) return
    if (await this.#refuseWithdrawn(works)) return
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
    const { store, branch, log } = this.#deps
    for (const attempt of store.attempts()) {
      if (!(await branch.hasLanded(attempt))) continue
      log('landing-found', { landing: attempt.id, works: attempt.works.length })
      this.#settle(attempt, null)
      await branch.reload(true)
      return true
    }
    return false
  }

  /** Whether some of the works are refused now, since their rights have been taken back. */
  async #refuseWithdrawn(works: readonly QueuedWork[]): Promise<boolean> {
    const { store, now, withdrawn } = this.#deps
    const since = now() - TRUSTED_FOR
    const sent = store.sentSince(since)
    const old = works.filter(({ seq, handedIn }) => handedIn < since && !sent.has(seq))
    if (old.length === 0) return false
    const seqs = await withdrawn(old)
    const refused = old.filter(({ seq }) => seqs.has(seq))
    if (refused.length === 0) return false
    this.#note(
      refused.map(({ seq, submitter }) => ({ seq, outcome: { state: 'refused', refusal: takenBack(submitter) } })),
    )
    return true
  }

  /** What comes of the works; by a fresh look, before anyone is refused for what is only thought to be so. */
  async #fold(known: BranchPosition, works: readonly QueuedWork[]): Promise<{ position: BranchPosition; fold: Fold }> {
    let position = known
    let fold = await foldBatch(position.place, position.stored, works)
    for (let look = this.#neededLook(position, fold); look !== null; look = this.#neededLook(position, fold)) {
      if (look === 'account') this.#readAt = this.#deps.now()
      position = await this.#deps.branch.reload(look === 'account')
      fold = await foldBatch(position.place, position.stored, works)
    }
    return { position, fold }
  }

  /** How fresh a look at the branch is needed before those may be refused who would be; null: they may. */
  #neededLook({ freshness }: BranchPosition, { refused, applied }: Fold): Freshness | null {
    if (freshness === 'account') return null
    const isAbsent = refused.some(({ refusal }) => ABSENCE.includes(refusal.reason))
    if (isAbsent && this.#deps.now() - this.#readAt >= READ_PAUSE) return 'account'
    return freshness === 'kept' && (isAbsent || applied.length === 0) ? 'mirror' : null
  }

  async #send(landing: PreparedLanding, attempt: Attempt, fold: Fold): Promise<void> {
    const { store, branch, log, sleep, now, random } = this.#deps
    const sentAt = now()
    const outcome = await landing.land()
    switch (outcome.state) {
      case 'landed':
        this.#races = 0
        this.#last = { works: this.#comingBack(attempt), took: now() - sentAt, endedAt: now() }
        this.#deps.logRoutine('works-landed', { landing: attempt.id, ...countsOf(fold), ...landing.cost })
        this.#settle(attempt, fold)
        return
      case 'lost':
        store.dropAttempt(attempt.id)
        log('landing-lost', { landing: attempt.id, works: attempt.works.length })
        await sleep(jittered(RACE_PAUSES, this.#races, random()))
        await branch.reload(this.#races++ > 0)
        return
      case 'failed':
        if (!outcome.isUncertain) store.dropAttempt(attempt.id)
        this.#afterFailure(outcome, attempt.works)
    }
  }

  #afterFailure(failure: LandFailure, works: readonly AttemptedWork[]): void {
    const { message, retryAfterSeconds, isUncertain, isForOwner, isRefused } = failure
    if (isUncertain || !(isForOwner || isRefused)) this.#pause(message, retryAfterSeconds)
    else if (isRefused && works.length > 1) this.#alone = works.length
    else this.#refuse(works, { reason: 'account-refused', message })
  }

  #afterFault(error: unknown, works: readonly QueuedWork[]): void {
    if (error instanceof RepositoryGoneError || (error instanceof RefusedError && isForOwner(error.refusal))) {
      this.#refuse(works, { reason: 'account-refused', message: error.message })
      return
    }
    if (error instanceof MirrorRefusedError) {
      const { reason, message } = error
      // One may fit where all of them do not.
      if (reason === 'over-cap' && works.length > 1) this.#alone = works.length
      else this.#refuse(works, { reason, message })
      return
    }
    const trouble = troubleOf(error)
    if (trouble !== null) {
      this.#pause(trouble.reason, trouble.retryAfterSeconds)
      return
    }
    if (works.length > 1) this.#alone = works.length
    else this.#faults++
    if (this.#faults < MOST_FAULTS) this.#pause('something went wrong here, and is tried again', null)
    else this.#refuse(works, GIVEN_UP)
  }

  #refuse(works: readonly { readonly seq: number }[], refusal: RefusedWork): void {
    this.#note(works.map(({ seq }) => ({ seq, outcome: { state: 'refused', refusal } })))
  }

  /** @param landed what is in the account; null: nothing was to be landed */
  #settle(landed: Attempt | null, fold: Fold | null): void {
    const { id, works } = landed ?? { id: '', works: [] }
    const landing = { id, commits: works.length }
    this.#note([
      ...works.map(({ seq, commit, tree, parent }) => {
        return { seq, outcome: { state: 'landed', commit, tree, parent, landing } } as const
      }),
      ...(fold?.refused ?? []).map(({ seq, refusal }) => {
        return { seq, outcome: { state: 'refused', refusal } } as const
      }),
    ])
  }

  #note(works: readonly SettledWork[]): void {
    const { store, now, onSettled } = this.#deps
    store.setPause(null)
    this.#faults = 0
    this.#alone = Math.max(0, this.#alone - works.length)
    onSettled(store.settle(works, now()))
  }

  #pause(reason: string, retryAfterSeconds: number | null): void {
    const { store, now, random } = this.#deps
    const failures = store.pause()?.failures ?? 0
    const asked = retryAfterSeconds === null ? 0 : retryAfterSeconds * 1000
    const until = now() + asked + jittered(PAUSES, retryAfterSeconds === null ? failures : 0, random())
    store.setPause({ until: Math.ceil(until), reason, failures: failures + 1 })
  }
}

/** Whether something waits, and may be landed now. @param now milliseconds since 1970 */
export function canLand(store: QueueStore, now: number): boolean {
  return store.hasWaiting() && (store.pause()?.until ?? 0) <= now
}

const GIVEN_UP: RefusedWork = {
  reason: 'fault',
  message: 'something went wrong here again and again, and the work was given up: hand it in anew later',
}

function takenBack({ did, tokenLabel }: Submitter): RefusedWork {
  const who = tokenLabel === null ? did : `the token '${tokenLabel}'`
  return { reason: 'withdrawn', message: `the right of ${who} was taken back before the turn came: nothing has landed` }
}

function countsOf({ applied, refused, objects }: Fold) {
  return { works: applied.length, refused: refused.length, objects: objects.length }
}

/** Refusals that say that something is not there. */
const ABSENCE: readonly RefusedWork['reason'][] = ['unknown-commit', 'branch-missing', 'damaged']

/** Full jitter: those whom a fault has hit together do not come back together. */
function jittered(pauses: { readonly first: number; readonly longest: number }, times: number, random: number): number {
  return random * Math.min(pauses.longest, pauses.first * 2 ** times)
}

/** What a fault says that will pass; null: nobody knows what it is. */
function troubleOf(error: unknown): { readonly reason: string; readonly retryAfterSeconds: number | null } | null {
  if (error instanceof RefusedError)
    return { reason: error.message, retryAfterSeconds: error.refusal.retryAfterSeconds }
  if (error instanceof MirrorUnavailableError) {
    return { reason: error.message, retryAfterSeconds: error.retryAfterSeconds }
  }
  if (error instanceof PdsError) return { reason: error.message, retryAfterSeconds: error.retryAfter }
  if (
    error instanceof PdsUnreachableError ||
    error instanceof StillMirroringError ||
    error instanceof RightsUnknownError
  ) {
    return { reason: error.message, retryAfterSeconds: null }
  }
  if (isPassingFault(error)) return { reason: 'a part of the edge cannot be reached now', retryAfterSeconds: null }
  return null
}
