import type { Identity } from '../../atproto/identity/identity.ts'
import type {
  BranchAddress,
  Repetition,
  Submission,
  SubmitAnswer,
  Submitter,
  WorkState,
} from '../../durable-objects/branch-queue/answers.ts'
import type { RepositoryView } from '../../storage/repository-view.ts'
import type { Caller } from '../auth/caller.ts'
import type { RepositoryReference } from '../repository-access.ts'

/** A repository that somebody has come to write to. */
export interface GatewayTarget {
  readonly account: Identity
  /** Record key of `dev.skein.repo`. */
  readonly rkey: string
  /** Short name. */
  readonly defaultBranch: string
}

/** What the gateway's methods are given beside what all methods are. */
export interface GatewayDeps {
  /**
   * Finds the repository, and who makes the request.
   *
   * @param nsid the method that is called
   * @throws {@link HttpError} 404 for no such repository, 401 and 403 for credentials that are none or not good here
   */
  enter(
    request: Request,
    nsid: string,
    reference: RepositoryReference,
  ): Promise<{ readonly target: GatewayTarget; readonly caller: Caller }>
  /** Whether the account has the branch, as far as can be found out now: null where it cannot. @param ref full name */
  hasBranch(target: GatewayTarget, ref: string): Promise<boolean | null>
  /** The repository to read from. @throws {@link HttpError} 503 where its account cannot be asked */
  view(target: GatewayTarget): Promise<RepositoryView>
  /** Hands work in at the branch's queue. */
  submit(submission: Submission): Promise<SubmitAnswer>
  /** What became of work that was handed in before under a key; null: nothing was. */
  repeat(address: BranchAddress, repetition: Repetition): Promise<SubmitAnswer | null>
  /**
   * What became of work; null: there is none of that ticket.
   *
   * @param asker who must have handed it in; null: whoever did
   */
  state(
    address: BranchAddress,
    ticket: string,
    waitMilliseconds: number,
    asker: Submitter | null,
  ): Promise<WorkState | null>
}

/** @param ref full name */
export function branchAddress({ account: { did, pds }, rkey }: GatewayTarget, ref: string): BranchAddress {
  return { did, rkey, pds, ref }
}

/** The caller as a queue and the audit know it. */
export function submitterOf({ did, tokenId, label }: Caller): Submitter {
  return { did, tokenId, tokenLabel: label }
}
