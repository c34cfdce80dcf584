import { env, runInDurableObject } from 'cloudflare:test'
import type { Grant } from '../../../atproto/access/grant.ts'
import type {
  BranchWork,
  CommitWork,
  Submission,
  SubmitAnswer,
  Submitter,
  WorkState,
} from '../../../durable-objects/branch-queue/answers.ts'
import { QueueDrain } from '../../../durable-objects/branch-queue/drain-queue.ts'
import { type HandedIn, handIn, stateOf } from '../../../durable-objects/branch-queue/hand-in.ts'
import { type BatchLimits, QueueStore } from '../../../durable-objects/branch-queue/queue-store.ts'
import { SubmissionRates } from '../../../durable-objects/branch-queue/submission-rates.ts'
import { type RightsDeps, withdrawnWork } from '../../../durable-objects/branch-queue/withdrawn-work.ts'
import type { Environment } from '../../../durable-objects/environment.ts'
import { utf8 } from '../../git/pack/pack-builder.ts'
import { FakeBranch } from './fake-branch.ts'

export const ADDRESS = {
  did: 'did:plc:abcdefghijklmnopqrstuvwx',
  rkey: '3lzkoq5qq2s2a',
  pds: 'https://pds.test',
  ref: 'refs/heads/main',
}
export const SUBMITTER: Submitter = { did: 'did:plc:agent', tokenId: 'token1', tokenLabel: 'agent one' }

/** A queue on the SQLite of a Durable Object, of a branch in memory, with a clock that stands still but in pauses. */
export class TestQueue {
  readonly branch = new FakeBranch()
  readonly told: string[] = []
  readonly logs: string[] = []
  readonly pauses: number[] = []
  /** What happens in each pause. */
  onPause: () => void = () => undefined
  now = 1_800_000_000_000
  random = 0.5
  limits: BatchLimits = { works: 100, bytes: 1_000_000 }
  rates = new SubmissionRates()
  /** Tokens, and what other accounts may do. */
  readonly revoked = new Set<string>()
  readonly grants = new Map<string, Grant | Error>()
  isD1Down = false
  /** Tokens and accounts that were asked about. */
  readonly asked: string[] = []
  readonly rights: RightsDeps = {
    address: ADDRESS,
    unrevoked: async (tokens) => {
      if (this.isD1Down) throw new Error('D1 is down')
      this.asked.push(...tokens)
      return new Set(tokens.filter((token) => !this.revoked.has(token)))
    },
    grantOf: async (did) => {
      this.asked.push(did)
      const grant = this.grants.get(did) ?? null
      if (grant instanceof Error) throw grant
      return grant
    },
  }
  readonly #storage: DurableObjectStorage
  store: QueueStore
  drain: QueueDrain
  #tickets = 0

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.store = new QueueStore(storage)
    this.store.setAddress(ADDRESS)
    this.drain = this.#newDrain()
  }

  /** All that was in memory is gone. */
  restart(keptConflictBytes?: number): void {
    this.store = new QueueStore(this.#storage, keptConflictBytes)
    this.branch.forget()
    this.drain = this.#newDrain()
  }

  hand(work: BranchWork, change: Partial<Submission> = {}): HandedIn {
    const deps = {
      store: this.store,
      rates: this.rates,
      now: () => this.now,
      newTicket: () => `ticket${++this.#tickets}`,
    }
    return handIn(deps, {
      address: ADDRESS,
      work,
      submitter: SUBMITTER,
      idempotencyKey: null,
      waitMilliseconds: 0,
      ...change,
    })
  }

  /** Hands in a commit of one file, with the same message. @returns its ticket */
  commit(path: string, content = path): string {
    return ticketOf(this.hand(commitOf(path, content)))
  }

  state(ticket: string): WorkState | null {
    return stateOf({ store: this.store, now: () => this.now }, ticket)
  }

  states(tickets: readonly string[]): string[] {
    return tickets.map((ticket) => {
      const state = this.state(ticket)
      return state?.state === 'refused' ? state.refusal.reason : (state?.state ?? 'none')
    })
  }

  #newDrain(): QueueDrain {
    const queue = this
    return new QueueDrain({
      store: this.store,
      branch: this.branch,
      get limits() {
        return queue.limits
      },
      now: () => this.now,
      random: () => this.random,
      sleep: async (milliseconds) => {
        this.pauses.push(milliseconds)
        this.now += milliseconds
        this.onPause()
      },
      log: (event) => this.logs.push(event),
      logRoutine: () => undefined,
      withdrawn: (works) => withdrawnWork(this.rights, works),
      onSettled: (tickets) => this.told.push(...tickets),
    })
  }
}

let queues = 0

/** Runs a test with a queue of its own. */
export async function inQueue(test: (queue: TestQueue) => Promise<void>): Promise<void> {
  const { BRANCH_QUEUE } = env as unknown as Environment
  const stub = BRANCH_QUEUE.get(BRANCH_QUEUE.idFromName(`queue ${++queues}`))
  await runInDurableObject(stub, (_, { storage }) => test(new TestQueue(storage)))
}

export function commitOf(path: string, content = path): CommitWork {
  return {
    kind: 'commit',
    message: path,
    author: { name: 'Agent', email: 'a@x' },
    edits: [{ kind: 'write', path: utf8(path), content: utf8(content) }],
    base: null,
    expect: [],
  }
}

export function ticketOf(answer: HandedIn | SubmitAnswer): string {
  if (!answer.accepted) throw new Error(answer.message)
  return answer.ticket
}
