import { DurableObject } from 'cloudflare:workers'
import { randomUUID } from 'node:crypto'
import { drizzle } from 'drizzle-orm/d1'
import { LandingAudit } from '../../storage/access/landing-audit.ts'
import { TokenStore } from '../../storage/access/token-store.ts'
import { readCollaboration } from '../collaboration.ts'
import type { Environment } from '../environment.ts'
import { log, logRoutine } from '../log.ts'
import type { BranchAddress, Repetition, Submission, SubmitAnswer, Submitter, WorkState } from './answers.ts'
import { canLand, QueueDrain } from './drain-queue.ts'
import { findRepeated, type HandedIn, type HandInDeps, handIn, stateOf } from './hand-in.ts'
import { LONGEST_WAIT } from './limits.ts'
import { forgetOld, nextAlarm } from './next-alarm.ts'
import { QueueStore } from './queue-store.ts'
import { RepositoryBranch } from './repository-branch.ts'
import { SubmissionRates } from './submission-rates.ts'
import { tellAudit } from './tell-audit.ts'
import { Waiters } from './waiters.ts'
import { withdrawnWork } from './withdrawn-work.ts'

/** An alarm may take 15 minutes, and a branch may have work for hours: another alarm goes on. Milliseconds. */
const ALARM_TURN = 60_000

/** Where a branch is: its drain goes on as long as the address is the same. */
interface Drain {
  readonly pds: string
  readonly queue: QueueDrain
}

/**
 * Lands what is handed in for one branch, in the order in which it comes: one object a branch, named
 * `<did>/<rkey>/<full ref>`. What it does is in the files beside it; here it meets the platform.
 */
export class BranchQueue extends DurableObject<Environment> {
  readonly #store: QueueStore
  readonly #handIn: HandInDeps
  readonly #waiters = new Waiters()
  #drain: Drain | null = null
  #isDraining = false
  #draining: Promise<void> = Promise.resolve()
  #telling: Promise<void> | null = null

  constructor(context: DurableObjectState, environment: Environment) {
    super(context, environment)
    this.#store = new QueueStore(context.storage)
    this.#handIn = { store: this.#store, rates: new SubmissionRates(), now: Date.now, newTicket: randomUUID }
  }

  /** Takes work in, and waits for its landing as long as the caller does. */
  async submit(submission: Submission): Promise<SubmitAnswer> {
    this.#note(submission.address)
    return this.#answer(handIn(this.#handIn, submission), submission.waitMilliseconds)
  }

  /** What has become of work that was handed in before under a key; null: nothing was. */
  async repeat(repetition: Repetition): Promise<SubmitAnswer | null> {
    const handedIn = findRepeated(this.#handIn, repetition)
    return handedIn && this.#answer(handedIn, repetition.waitMilliseconds)
  }

  /**
   * What has become of work; null: there is no such ticket, or not any more.
   *
   * @param asker who must have handed it in; null: whoever did
   */
  async state(ticket: string, waitMilliseconds = 0, asker: Submitter | null = null): Promise<WorkState | null> {
    if (asker !== null && !this.#store.isFrom(ticket, asker)) return null
    return this.#waitFor(ticket, waitMilliseconds)
  }

  override async alarm(): Promise<void> {
    forgetOld(this.#store, Date.now())
    await Promise.race([this.#startDrain(), pause(ALARM_TURN)])
    await this.#tellAudit()
    await this.#wakeNext()
  }

  #note(address: BranchAddress): void {
    // Its PDS may be another one by now.
    if (this.#store.address()?.pds !== address.pds) this.#store.setAddress(address)
  }

  async #answer(handedIn: HandedIn, waitMilliseconds: number): Promise<SubmitAnswer> {
    if (!handedIn.accepted) return handedIn
    const { ticket } = handedIn
    const work = await this.#waitFor(ticket, waitMilliseconds)
    return { accepted: true, ticket, work: work! }
  }

  async #waitFor(ticket: string, milliseconds: number): Promise<WorkState | null> {
    const state = stateOf(this.#handIn, ticket)
    if (state?.state !== 'waiting') return state
    const landed = this.#waiters.wait(ticket, Math.min(milliseconds, LONGEST_WAIT))
    this.ctx.waitUntil(this.#startDrain())
    await Promise.all([landed, this.#wakeNext()])
    return stateOf(this.#handIn, ticket)
  }

  /** One at a time: what comes meanwhile is landed next. */
  #startDrain(): Promise<void> {
    if (!this.#isDraining) {
      this.#isDraining = true
      this.#draining = this.#runDrain()
    }
    return this.#draining
  }

  async #runDrain(): Promise<void> {
    try {
      const address = this.#store.address()
      // Nobody may come between the last look and the end: who does is landed by nobody.
      while (address !== null && canLand(this.#store, Date.now())) await this.#drainOf(address).run()
    } finally {
      this.#isDraining = false
    }
    const pause = this.#store.pause()
    if (pause !== null) this.#waiters.release(pause.until)
    await this.#wakeNext()
    this.ctx.waitUntil(this.#tellAudit())
  }

  /** An account that has moved has its branch looked at anew. */
  #drainOf(address: BranchAddress): QueueDrain {
    const { pds } = address
    if (this.#drain?.pds === pds) return this.#drain.queue
    const waitUntil = (work: Promise<unknown>) => this.ctx.waitUntil(work)
    const rights = {
      address,
      unrevoked: (tokens: readonly string[]) => new TokenStore(drizzle(this.env.DB)).unrevoked(tokens),
      grantOf: (did: string) => readCollaboration(this.env, address, did),
    }
    const queue = new QueueDrain({
      store: this.#store,
      branch: new RepositoryBranch({ environment: this.env, waitUntil }, address),
      now: Date.now,
      random: Math.random,
      sleep: pause,
      log: (event, fields) => log(event, { ...address, ...fields }),
      logRoutine: (event, fields) => logRoutine(event, { ...address, ...fields }),
      withdrawn: (works) => withdrawnWork(rights, works),
      onSettled: (tickets) => this.#waiters.tell(tickets),
    })
    this.#drain = { pds, queue }
    return queue
  }

  #tellAudit(): Promise<void> {
    this.#telling ??= this.#tellAuditOnce().finally(() => {
      this.#telling = null
    })
    return this.#telling
  }

  async #tellAuditOnce(): Promise<void> {
    try {
      const audit = new LandingAudit(drizzle(this.env.DB))
      await tellAudit({ store: this.#store, record: (rows) => audit.record(rows) })
    } catch (error) {
      // The rows stay, and the alarm tries again.
      log('audit-failed', { ...this.#store.address(), reason: String(error) })
    }
  }

  /** There is one alarm. It is set before anything is waited for: whoever does may be cut off. */
  async #wakeNext(): Promise<void> {
    const { storage } = this.ctx
    const time = nextAlarm(this.#store, Date.now())
    if (time === null) return
    const set = await storage.getAlarm()
    if (set === null || set > time) await storage.setAlarm(time)
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
