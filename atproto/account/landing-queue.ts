import { RefNames } from '../../git/refs/ref-conflicts.ts'
import type { PdsClient } from '../pds/pds-client.ts'
import { isPdsFault, PdsError, type PdsFault, retryAfterOf } from '../pds/pds-error.ts'
import type { Write } from '../pds/write.ts'
import type { TidClock } from '../records/tid.ts'
import { type Batch, BatchBuilder, PLAN_LIMITS, type PlanLimits } from '../refs/plan.ts'
import { findRepositories } from './find-repositories.ts'
import type { Landing, LandingResult } from './landing.ts'
import { LandingLog } from './landing-log.ts'
import { LandingRun } from './landing-run.ts'
import { type Look, lookAgain, readFresh, type TriedLanding } from './look-again.ts'

export interface LandingQueueDeps {
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

/** Longest pause before the second try after a fault that was no race, in milliseconds; it doubles with each. */
const PAUSE = 300
const TOO_LARGE_FOR_ATOMIC =
  'an atomic push of so many refs does not fit into one write to the PDS: push fewer at once, or without --atomic'
/** The PDS has not run it: its answers to requests that it refuses before it looks at them. */
const REFUSED = [403, 413, 429]
const TOO_LARGE = 413

/** A landing that is not done. */
interface Ticket {
  run: LandingRun
  readonly settled: PromiseWithResolvers<LandingResult>
  /** The account is being read for it, or it pauses after a fault. */
  isBusy: boolean
  /** It has been taken up from the account as it is. */
  hasRead: boolean
  /** The repository that it creates has a name that nobody has. */
  isNameFree: boolean
  /** It has lost a race: it might again, and is kept apart from those that have not. */
  hasRaced: boolean
  /** In a batch of at most so many: of larger ones it was part when they failed, and nobody knows why. */
  companions: number
}

interface Flight {
  readonly tickets: readonly Ticket[]
  readonly batch: Batch
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
 * first try land late after all, the second finds its keys taken and recognises the landing as its own. A batch that
 * others were first in is split: those that lost nothing go again without those that did. One that failed for no reason
 * to be seen is halved, until what the PDS does not take is alone.
 */
export class LandingQueue {
  readonly #deps: LandingQueueDeps
  readonly #log = new LandingLog()
  /** In the order of arrival: who came first has the right to a ref. */
  readonly #unfinished = new Set<Ticket>()
  /** The same, in the order in which they get their turn. */
  #turns: Ticket[] = []
  #isDraining = false

  constructor(deps: LandingQueueDeps) {
    this.#deps = deps
  }

  /** @throws no error of the PDS: those become outcomes of the moves */
  land(landing: Landing): Promise<LandingResult> {
    const ticket: Ticket = {
      run: this.#createRun(landing),
      settled: Promise.withResolvers(),
      isBusy: false,
      hasRead: false,
      isNameFree: false,
      hasRaced: false,
      companions: Number.POSITIVE_INFINITY,
    }
    this.#unfinished.add(ticket)
    this.#turns.push(ticket)
    this.#finishIfDone(ticket)
    void this.#drain()
    return ticket.settled.promise
  }

  async #drain(): Promise<void> {
    if (this.#isDraining) return
    this.#isDraining = true
    for (let flight = this.#nextFlight(); flight !== null; flight = this.#nextFlight()) await this.#fly(flight)
    this.#isDraining = false
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
        else if (builder.add(ticket.run.plan, { whole: tickets.length > 0 || ticket.run.landing.atomic }))
          tickets.push(ticket)
        else if (tickets.length === 0) ticket.run.fail(TOO_LARGE_FOR_ATOMIC, null)
      } catch (error) {
        this.#abandon(ticket, error)
      }
      this.#finishIfDone(ticket)
    }
    if (tickets.length > 0) return { tickets, batch: builder.close() }
    // Where one was refused, others may have waited for it.
    return this.#unfinished.size < unfinished ? this.#nextFlight() : null
  }

  /** Those that wait for what becomes of one that came before them. */
  #blocked(): Set<Ticket> {
    const blocked = new Set<Ticket>()
    const names = new Set<string>()
    for (const ticket of this.#unfinished) {
      const { create } = ticket.run.landing
      if (create === null) continue
      if (names.has(create.name)) blocked.add(ticket)
      names.add(create.name)
    }
    const byRepository = Map.groupBy(this.#unfinished, ({ run }) => run.landing.repo)
    for (const tickets of byRepository.values()) {
      if (tickets.length === 1) continue
      const claimed = new RefNames()
      for (const ticket of tickets) {
        const wanted = ticket.run.pending.map(({ name }) => name)
        if (wanted.some((name) => claimed.has(name) || claimed.conflictWith(name) !== null)) blocked.add(ticket)
        for (const name of wanted) claimed.add(name)
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
      run.rebase(run.pending, await readFresh(client, landing, run.pending))
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
      this.#markLanded(flight)
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

  #markLanded(flight: Flight): void {
    for (const [repo, tried] of byRepository(flight)) {
      const mover = tried.find(({ part }) => part.movesHead) ?? tried[0]!
      const parts = tried.map(({ part }) => part)
      const { appeared } = this.#log.note(repo, mover.run.head, parts)
      for (const { run, part } of tried) run.landed(part, appeared)
    }
  }

  async #afterFault(flight: Flight, fault: PdsFault): Promise<void> {
    const { tickets } = flight
    if (wasRefused(fault)) {
      if (fault.status === TOO_LARGE && tickets.length > 1) return this.#tryApart(tickets, fault)
      for (const { run } of tickets) run.fail(fault.message, fault.retryAfter)
      return
    }
    const looks = await this.#look(flight)
    if ([...looks.values()].some((look) => !isPdsFault(look) && look.hasLanded)) return this.#markLanded(flight)
    let isExplained = false
    for (const [index, ticket] of tickets.entries()) {
      const { run } = ticket
      const look = looks.get(run.landing.repo)!
      if (isPdsFault(look)) {
        const message = `${fault.message}; whether the push has arrived is not known, fetch to see`
        run.fail(message, retryAfterOf(look), true)
      } else if (look.isGone) {
        run.failGone()
        isExplained = true
      } else if (
        run.rebase(
          flight.batch.parts[index]!.moves.map(({ move }) => move),
          look.refs,
        )
      ) {
        ticket.hasRaced = true
        isExplained = true
      }
    }
    if (!isExplained)
      this.#tryApart(
        tickets.filter(({ run }) => !run.isFinished),
        fault,
      )
  }

  /** By repository; where one cannot be read, why. */
  async #look(flight: Flight): Promise<Map<string, Look | PdsFault>> {
    const looks = [...byRepository(flight)].map(async ([repo, tried]): Promise<[string, Look | PdsFault]> => {
      try {
        return [repo, await lookAgain(this.#deps.client, tried)]
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
    for (const ticket of tickets) {
      if (tickets.length > 1) ticket.companions = Math.floor(tickets.length / 2)
      else tries = ticket.run.retry(fault.message, retryAfterOf(fault), isRefusal)
    }
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
      if (isPdsFault(fault)) ticket.run.fail(fault.message, retryAfterOf(fault))
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
    this.#unfinished.delete(ticket)
    this.#turns = this.#turns.filter((other) => other !== ticket)
  }

  #createRun(landing: Landing): LandingRun {
    const { tids, limits } = this.#deps
    return new LandingRun(landing, tids.next(), limits)
  }
}

/** Whether a ticket may be in one batch with these. */
function goesWith(ticket: Ticket, others: readonly Ticket[]): boolean {
  const first = others[0]
  if (first === undefined) return true
  return first.hasRaced === ticket.hasRaced && [ticket, ...others].every(({ companions }) => companions > others.length)
}

function byRepository({ tickets, batch }: Flight): Map<string, TriedLanding[]> {
  const tried = tickets.map(({ run }, index) => ({ run, part: batch.parts[index]! }))
  return Map.groupBy(tried, ({ run }) => run.landing.repo)
}

function wasRefused(fault: PdsFault): fault is PdsError {
  return fault instanceof PdsError && (fault.isTokenRefused || REFUSED.includes(fault.status))
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
