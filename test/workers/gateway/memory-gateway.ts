import { EVERYTHING, type Grant } from '../../../atproto/access/grant.ts'
import type { Identity } from '../../../atproto/identity/identity.ts'
import type {
  BranchAddress,
  Repetition,
  Submission,
  SubmitAnswer,
  Submitter,
  WorkState,
} from '../../../durable-objects/branch-queue/answers.ts'
import type { RepositoryView } from '../../../storage/repository-view.ts'
import { type Caller, ownerCaller, tokenCaller } from '../../../workers/auth/caller.ts'
import type { GatewayDeps, GatewayTarget } from '../../../workers/gateway/gateway-deps.ts'
import { HttpError } from '../../../workers/http/http-error.ts'
import { type RepositoryReference, repositoryNotFound } from '../../../workers/repository-access.ts'

export const ALICE: Identity = {
  did: 'did:plc:ewvi7nxzyoun6zhxrhs64oiz',
  handle: 'alice.test',
  pds: 'https://pds.test',
}
export const RKEY = '3lskein000000'
export const TICKET = 'ticket-1'

/** A gateway to the repository `alice.test/app`, whose queues do nothing but answer. */
export class MemoryGateway implements GatewayDeps {
  readonly submitted: Submission[] = []
  readonly asked: { address: BranchAddress; ticket: string; waitMilliseconds: number; asker: Submitter | null }[] = []
  readonly repeated: Repetition[] = []
  /** What the next work is answered. */
  answer: SubmitAnswer = { accepted: true, ticket: TICKET, work: landed() }
  /** What was handed in before under a key. */
  before: SubmitAnswer | null = null
  /** What becomes of work by and by. */
  later: WorkState | null = null
  branches: readonly string[] | null = ['refs/heads/main', 'refs/heads/feature/1']
  grant: Grant = EVERYTHING
  readonly #view: () => Promise<RepositoryView>

  constructor(view: () => Promise<RepositoryView>) {
    this.#view = view
  }

  async enter(
    request: Request,
    _nsid: string,
    reference: RepositoryReference,
  ): Promise<{ target: GatewayTarget; caller: Caller }> {
    if (!('name' in reference) || reference.actor !== 'alice.test' || reference.name !== 'app') {
      throw repositoryNotFound(reference)
    }
    return {
      target: { account: ALICE, rkey: RKEY, defaultBranch: 'main' },
      caller: this.#caller(request.headers.get('Authorization')),
    }
  }

  #caller(credentials: string | null): Caller {
    if (credentials === 'owner') return ownerCaller(ALICE, 'edge.test')
    if (credentials !== 'token') throw new HttpError(401, 'AuthenticationRequired', 'sign in')
    const token = { id: 'token-1', did: ALICE.did, label: 'Agent 7', grant: this.grant }
    return tokenCaller(ALICE, { ...token, createdAt: 0, expiresAt: 1, revokedAt: null }, 'edge.test')
  }

  async hasBranch(_: GatewayTarget, ref: string): Promise<boolean | null> {
    return this.branches?.includes(ref) ?? null
  }

  view(): Promise<RepositoryView> {
    return this.#view()
  }

  async submit(submission: Submission): Promise<SubmitAnswer> {
    this.submitted.push(submission)
    return this.answer
  }

  async repeat(_: BranchAddress, repetition: Repetition): Promise<SubmitAnswer | null> {
    this.repeated.push(repetition)
    return this.before
  }

  async state(
    address: BranchAddress,
    ticket: string,
    waitMilliseconds: number,
    asker: Submitter | null,
  ): Promise<WorkState | null> {
    this.asked.push({ address, ticket, waitMilliseconds, asker })
    return this.later
  }
}

export function landed(): WorkState {
  const [commit, tree, parent] = ['c', 'd', 'e'].map((digit) => digit.repeat(40)) as [string, string, string]
  return { state: 'landed', commit, tree, parent, landing: { id: '3lskeinlanding', commits: 3 } }
}

/** For tests that have nothing to do with the gateway. */
export const NO_GATEWAY = new MemoryGateway(() => Promise.reject(new Error('not in this test')))
