import { RefNames } from '../../git/refs/ref-conflicts.ts'
import type { PdsClient } from '../pds/pds-client.ts'
import { isPdsFault, PdsError, type PdsFault, retryAfterOf } from '../pds/pds-error.ts'
import type { Write } from '../pds/write.ts'
import type { TidClock } from '../records/tid.ts'
import { type Batch, BatchBuilder, PLAN_LIMITS, type PlanLimits } from '../refs/plan.ts'
import { findRepositories } from './find-repositories.ts'
import { type Landing, type LandingResult, memoryOf } from './landing.ts'
import { LandingLog } from './landing-log.ts'
import { LandingRun } from './landing-run.ts'
import { isGone, type Look, lookAgain, readFresh, type TriedLanding } from './look-again.ts'

export interface LandingQueueDeps {
  /** For reads. */
  readonly client: PdsClient
  /** One applyWrites of the account, all or nothing, with a session that is good now. */
  applyWrites(writes: readonly Write[]): Promise<unknown>
  readonly tids: TidClock
  readonly sleep?: (milliseconds: number) => Promise<void>
  /** In [0, 1). */
  readonly random?: () => number
  readonly limits?: PlanLimits
  readonly waiting?: WaitingLimits
}

/** What may wait at once: more is told to come back. One that finds nobody before it is always let in. */
export interface WaitingLimits {
  readonly landings: number
  /** By {@link memoryOf}. */
  readonly bytes: number
}

/**
 * An object has 128 MB. Packs wait as bytes; of those in a write, 1 MB at most, there is the JSON too, and the platform's
 * copies. 1,000 landings are some 15 writes.
 */
const WAITING_LIMITS: WaitingLimits = { landings: 1_000, bytes: 24 * 1024 * 1024 }
/** A full queue has room again soon, in seconds. */
const COME_BACK_AFTER = 5
const FULL = 'too many pushes to this account wait already: push again'

/** Longest pause before the second try after a fault that was no race, in milliseconds; it doubles with each. */
const PAUSE = 300
const TOO_LARGE_FOR_ATOMIC =
  'an atomic push of so many refs does not fit into one write to the PDS: push fewer at once, or without --atomic'
const FORBIDDEN = 403
const TOO_LARGE = 413
/** The PDS has not run it: its answers to requests that it refuses before it looks at them. */
const REFUSED = [FORBIDDEN, TOO_LARGE, 429]
/** What stands before a PDS answers so in its place: it may be at work still. 520 to 527 are Cloudflare's. */
const NOT_ITS_ANSWER = [408, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 527]

/** A landing that is not done. */
interface Ticket {
  run: LandingRun
  readonly settled: PromiseWithResolvers<LandingResult>
  /** What it takes, in bytes. */
  readonly memory: number
  /** The account is being read for it, or it pauses after a fault. */
  isBusy: boolean
  /** It has been taken up from the account as it is. */
  hasRead: boolean
  /** The repository that it creates has a name that nobody has. */
  isNameFree: boolean
  /** It has lost a race: it might again, and is kept apart from those that have not. */
  hasRaced: boolean
  /** What is still to be written of it was in a write whose fate is not known: it may be carried out yet. */
  mayHaveLanded: boolean
  /** A write that had it was not answered: it can be carried out still, after any look at the account. */
  mayLandYet: boolean
  /** In a batch of at most so many: of larger ones it was part when they failed, and nobody knows why. */
  companions: number
}

interface Flight {
  readonly tickets: readonly Ticket[]
  readonly batch: Batch
}

interface Tried extends TriedLanding {
  readonly ticket: Ticket
}

/**
 * Lands packs and moves of refs in one account: compare-and-swap by record keys, one applyWrites for a landing where all
 * of it fits, and one request where nothing goes wrong.
 *
 * **Gathering.** A landing that finds nobody before it goes at once. Those that come while it is in flight gather, of
 * whatever repositories, and go together in the next applyWrites. Two that move the same ref, or create refs that stand
 * in each other's way, or repositories of the same name, are never in one batch: the later one waits for what becomes of
 * the earlier.
 *
 * **After a fault.** A PDS tells a lost race like any other fault (HTTP 500), and a broken connection tells nothing at
 * all. So after every fault the refs are read again, and their seqs say which it was: the batch landed and its answer
 * was lost; others were first; or it never ran. What is still possible is tried again, and can do no harm: should the
 * first try land late after all, the second finds its keys taken and recognises the landing as its own. That speaks for
 * itself alone: those that were with it in the second try are not in the account, and go again. A batch that others were
 * first in is split: those that lost nothing go again without those that did. One that failed for no reason to be seen is
 * halved, until what the PDS does not take is alone.
 */
export class LandingQueue {
  readonly #deps: LandingQueueDeps
  readonly #log = new LandingLog()
  /** In the order of arrival: who came first has the right to a ref. */
  readonly #unfinished = new Set<Ticket>()
  /** The same, in the order in which they get their turn. */
  #turns: Ticket[] = []
  /** What all unfinished take, in bytes. */
  #memory = 0
  #isDraining = false

  constructor(deps: LandingQueueDeps) {
    this.#deps = deps
  }

  /** @throws no error of the PDS, and none of a full queue: those become outcomes of the moves */
  land(landing: Landing): Promise<LandingResult> {
    const run = this.#createRun(landing)
    const memory = memoryOf(landing)
    if (!this.#hasRoom(memory)) {
      run.fail(FULL, COME_BACK_AFTER)
      return Promise.resolve(run.result())
    }
    this.#memory += memory
    const ticket: Ticket = {
      run,
      settled: Promise.withResolvers(),
      memory,
      isBusy: false,
      hasRead: false,
      isNameFree: false,
      hasRaced: false,
      mayHaveLanded: false,
      mayLandYet: false,
      companions: Number.POSITIVE_INFINITY,
    }
    this.#unfinished.add(ticket)
    this.#turns.push(ticket)
    this.#finishIfDone(ticket)
    void this.#drain()
    return ticket.settled.promise
  }

  #hasRoom(memory: number): boolean {
    const { landings, bytes } = this.#deps.waiting ?? WAITING_LIMITS
    const waiting = this.#unfinished.size
    return waiting === 0 || (waiting < landings && this.#memory + memory <= bytes)
  }

  async #drain(): Promise<void> {
    if (this.#isDraining) return
    this.#isDraining = true
    try {
      for (let flight = this.#nextFlight(); flight !== null; flight = this.#nextFlight()) await this.#fly(flight)
    } finally {
      this.#isDraining = false
    }
  }

  /** Null: nobody waits who could go now. */
  #nextFlight(): Flight | null {
    const unfinished = this.#unfinished.size
    const blocked = this.#blocked()
    const builder = new BatchBuilder(this.#deps.limits ?? PLAN_LIMITS)
    const tickets: Ticket[] = []
    for (const ticket of [...this.#turns]) {
      if (ticket.isBusy || blocked.has(ticket) || !goesWith(ticket, tickets)) continue
      try {
        if (this.#needsReading(ticket)) void this.#keepBusy(ticket, () => this.#read(ticket))
        else if (tickets.length > 0 && !builder.hasRoom(ticket.run.landing.repo, ticket.run.leastSize)) continue
        else if (builder.add(ticket.run.plan, { whole: tickets.length > 0 || ticket.run.landing.atomic }))
          tickets.push(ticket)
        else if (tickets.length === 0) ticket.run.fail(TOO_LARGE_FOR_ATOMIC, null)
      } catch (error) {
        this.#abandon(ticket, error)
      }
      this.#finishIfDone(ticket)
    }
    if (tickets.length > 0) return this.#close(tickets, builder) ?? this.#nextFlight()
    // Where one was refused, others may have waited for it.
    return this.#unfinished.size < unfinished ? this.#nextFlight() : null
  }

  /** Null: there is something wrong with one of them, and they have to be put together anew, until it is alone. */
  #close(tickets: readonly Ticket[], builder: BatchBuilder): Flight | null {
    try {
      return { tickets, batch: builder.close() }
    } catch (error) {
      if (tickets.length === 1) this.#abandon(tickets[0]!, error)
      else halve(tickets)
      return null
    }
  }

  /** Those that wait for what becomes of one that came before them. */
  #blocked(): Set<Ticket> {
    const blocked = new Set<Ticket>()
    const names = new Set<string>()
    const byRepository = Map.groupBy(this.#unfinished, ({ run }) => run.landing.repo)
    for (const tickets of byRepository.values()) {
      const claimed = new RefNames()
      for (const ticket of tickets) {
        try {
          const { create } = ticket.run.landing
          const isTaken = create !== null && names.has(create.name)
          // Most are alone in their repository, some with refs by the thousand.
          const isClaimed = tickets.length > 1 && !claim(ticket, claimed)
          if (create !== null) names.add(create.name)
          if (isTaken || isClaimed) blocked.add(ticket)
        } catch (error) {
          this.#abandon(ticket, error)
        }
      }
    }
    return blocked
  }

  #needsReading(ticket: Ticket): boolean {
    const { run, isNameFree, hasRead } = ticket
    if (run.landing.create !== null) return !isNameFree
    const isCurrent = this.#log.bringUp(run)
    // Without a head that is known, a ref could be created beside one that the writer does not know of.
    return !hasRead && (!isCurrent || (run.head === null && run.reliesOnHead))
  }

  async #read(ticket: Ticket): Promise<void> {
    const { run } = ticket
    const { client } = this.#deps
    const { landing } = run
    if (landing.create === null) {
      const refs = await readFresh(client, landing, run.pending)
      if (await isGone(client, landing, refs)) run.failGone()
      else run.rebase(refs)
      ticket.hasRead = true
      return
    }
    const repositories = await findRepositories(client, landing.did)
    const taken = repositories.find(({ record }) => record.name === landing.create!.name)?.rkey ?? null
    // It is that repository itself where an answer was lost before.
    if (taken === landing.repo) ticket.run = this.#createRun({ ...landing, create: null })
    else if (taken !== null) run.refuseName(taken)
    else ticket.isNameFree = true
  }

  async #fly(flight: Flight): Promise<void> {
    const { tickets, batch } = flight
    let hasLanded = false
    try {
      await this.#deps.applyWrites(batch.writes)
      hasLanded = true
      this.#markLanded(triedIn(flight))
    } catch (fault) {
      try {
        if (!isPdsFault(fault)) throw fault
        await this.#afterFault(flight, fault)
      } catch (error) {
        for (const ticket of tickets) this.#abandon(ticket, error)
      }
    }
    for (const ticket of tickets) {
      this.#finishIfDone(ticket)
      // What is left of it, and what has lost a race, comes after the others that wait.
      if (this.#unfinished.has(ticket) && (hasLanded || ticket.hasRaced)) this.#toEnd(ticket)
    }
  }

  #toEnd(ticket: Ticket): void {
    this.#turns = [...this.#turns.filter((other) => other !== ticket), ticket]
  }

  #markLanded(tried: readonly Tried[]): void {
    for (const [repo, beside] of byRepository(tried)) {
      const mover = beside.find(({ part }) => part.movesHead) ?? beside[0]!
      const parts = beside.map(({ part }) => part)
      const { appeared } = this.#log.note(repo, mover.run.head, parts)
      for (const { ticket, run, part } of beside) {
        run.landed(part, appeared)
        hasArrived(ticket)
      }
    }
  }

  async #afterFault(flight: Flight, fault: PdsFault): Promise<void> {
    const { tickets } = flight
    if (wasRefused(fault)) {
      if (fault.status === TOO_LARGE && tickets.length > 1) return this.#tryApart(tickets, fault)
      for (const ticket of tickets) fail(ticket, fault, fault)
      return
    }
    const tried = triedIn(flight)
    const looks = await this.#look(tried)
    if ([...looks.values()].some((look) => !isPdsFault(look) && look.hasLanded)) return this.#markLanded(tried)
    const explained = tried.map((each) => this.#takeUp(each, looks.get(each.run.landing.repo)!, fault))
    if (explained.includes(true)) return
    this.#tryApart(
      tickets.filter(({ run }) => !run.isFinished),
      fault,
    )
  }

  /** Goes by what the account says of a landing whose batch has not landed. @returns whether that is why it has not */
  #takeUp(tried: Tried, look: Look | PdsFault, fault: PdsFault): boolean {
    const { ticket, run, part } = tried
    if (isPdsFault(look)) {
      ticket.mayHaveLanded = true
      fail(ticket, fault, look)
      return false
    }
    // By a write of before: its keys are taken, and no batch with it in it can land again.
    if (look.landed.has(run)) {
      run.landedBefore(part, look.refs)
      hasArrived(ticket)
      return true
    }
    ticket.mayHaveLanded = true
    if (!wasAnswered(fault)) ticket.mayLandYet = true
    if (look.isGone) {
      run.failGone()
      return true
    }
    const isLate = run.rebase(look.refs)
    if (isLate) ticket.hasRaced = true
    return isLate
  }

  /** By repository; where one cannot be read, why. */
  async #look(tried: readonly Tried[]): Promise<Map<string, Look | PdsFault>> {
    const looks = [...byRepository(tried)].map(async ([repo, beside]): Promise<[string, Look | PdsFault]> => {
      try {
        return [repo, await lookAgain(this.#deps.client, beside)]
      } catch (unreadable) {
        if (!isPdsFault(unreadable)) throw unreadable
        return [repo, unreadable]
      }
    })
    return new Map(await Promise.all(looks))
  }

  /** Nobody was first, so the PDS refuses the batch for what it is, or could not run it. */
  #tryApart(tickets: readonly Ticket[], fault: PdsFault): void {
    const isRefusal = fault instanceof PdsError && fault.status >= 400 && fault.status < 500
    let tries = 1
    if (tickets.length > 1) halve(tickets)
    else for (const ticket of tickets) tries = retry(ticket, fault, isRefusal)
    if (isRefusal) return
    const { sleep = pause, random = Math.random } = this.#deps
    const awake = sleep(random() * PAUSE * 2 ** (tries - 1))
    for (const ticket of tickets) if (!ticket.run.isFinished) void this.#keepBusy(ticket, () => awake)
  }

  /** The others need not wait for it. */
  async #keepBusy(ticket: Ticket, work: () => Promise<void>): Promise<void> {
    ticket.isBusy = true
    try {
      await work()
    } catch (fault) {
      if (isPdsFault(fault)) fail(ticket, fault, fault)
      else this.#abandon(ticket, fault)
    }
    ticket.isBusy = false
    this.#finishIfDone(ticket)
    void this.#drain()
  }

  #finishIfDone(ticket: Ticket): void {
    if (!ticket.run.isFinished || !this.#unfinished.has(ticket)) return
    ticket.settled.resolve(ticket.run.result())
    this.#forget(ticket)
  }

  /** Something is wrong with the program itself. */
  #abandon(ticket: Ticket, error: unknown): void {
    ticket.settled.reject(error)
    this.#forget(ticket)
  }

  #forget(ticket: Ticket): void {
    if (this.#unfinished.delete(ticket)) this.#memory -= ticket.memory
    this.#turns = this.#turns.filter((other) => other !== ticket)
  }

  #createRun(landing: Landing): LandingRun {
    const { tids, limits } = this.#deps
    return new LandingRun(landing, tids.next(), limits)
  }
}

/** @param last what was heard last: it says when to come back */
function fail({ run, mayHaveLanded }: Ticket, fault: PdsFault, last: PdsFault): void {
  const message = inDoubt(fault, mayHaveLanded)
  run.fail(message, retryAfterOf(last), { isUncertain: mayHaveLanded, isForOwner: isForOwner(fault) })
}

/** @returns how often it has been tried. @param isRefusal there is no use in trying again */
function retry({ run, mayLandYet }: Ticket, fault: PdsFault, isRefusal: boolean): number {
  const failure = { isUncertain: mayLandYet, isRefused: isRefusal }
  return run.retry(inDoubt(fault, mayLandYet), retryAfterOf(fault), failure)
}

function inDoubt({ message }: PdsFault, isUncertain: boolean): string {
  return isUncertain ? `${message}; whether the push has arrived is not known, fetch to see` : message
}

/** The part of it that was in doubt is in the account. */
function hasArrived(ticket: Ticket): void {
  ticket.mayHaveLanded = false
  ticket.mayLandYet = false
}

/** Whether the PDS has said itself what it thinks of a write, and does no more about it. */
function wasAnswered(fault: PdsFault): boolean {
  return fault instanceof PdsError && !NOT_ITS_ANSWER.includes(fault.status)
}

/** They are not in one batch again, nor each with so many others. */
function halve(tickets: readonly Ticket[]): void {
  for (const ticket of tickets) ticket.companions = Math.floor(tickets.length / 2)
}

/** Whether none of a landing's refs is wanted by those before it, nor stands in the way of theirs. */
function claim({ run }: Ticket, claimed: RefNames): boolean {
  const wanted = run.pending.map(({ name }) => name)
  const isFree = !wanted.some((name) => claimed.has(name) || claimed.conflictWith(name) !== null)
  for (const name of wanted) claimed.add(name)
  return isFree
}

/** Whether a ticket may be in one batch with these. */
function goesWith(ticket: Ticket, others: readonly Ticket[]): boolean {
  const first = others[0]
  if (first === undefined) return true
  return first.hasRaced === ticket.hasRaced && [ticket, ...others].every(({ companions }) => companions > others.length)
}

function triedIn({ tickets, batch }: Flight): Tried[] {
  return tickets.map((ticket, index) => {
    const { run, mayHaveLanded } = ticket
    return { ticket, run, part: batch.parts[index]!, mayHaveLanded }
  })
}

function byRepository(tried: readonly Tried[]): Map<string, Tried[]> {
  return Map.groupBy(tried, ({ run }) => run.landing.repo)
}

function wasRefused(fault: PdsFault): fault is PdsError {
  return fault instanceof PdsError && (fault.isTokenRefused || REFUSED.includes(fault.status))
}

/** Whether it is not to be changed by trying again: the session is over, or the account may not write. */
function isForOwner(fault: PdsFault): boolean {
  return fault instanceof PdsError && (fault.isTokenRefused || fault.status === FORBIDDEN)
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
