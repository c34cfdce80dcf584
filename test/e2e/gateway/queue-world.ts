import { REPO_COLLECTION } from '../../../atproto/records/collections.ts'
import type { Account } from '../../../dev/atmosphere.ts'
import type {
  BranchAddress,
  BranchWork,
  CommitWork,
  MergeStrategy,
  MergeWork,
  RefusedWork,
  Submission,
  SubmitAnswer,
  WorkOutcome,
  WorkState,
} from '../../../durable-objects/branch-queue/answers.ts'
import type { BranchQueue } from '../../../durable-objects/branch-queue/branch-queue.ts'
import type { World } from '../harness.ts'

export type LandedWork = Extract<WorkOutcome, { readonly state: 'landed' }>

/** The queue of one branch, called as the API calls it. */
export class QueueClient {
  readonly address: BranchAddress
  readonly #world: World

  constructor(world: World, address: BranchAddress) {
    this.#world = world
    this.address = address
  }

  async submit(work: BranchWork, change: Partial<Submission> = {}): Promise<SubmitAnswer> {
    const queue = await this.#stub()
    return (await queue.submit({
      address: this.address,
      work,
      submitter: { did: this.address.did, tokenId: 'token', tokenLabel: null },
      idempotencyKey: null,
      waitMilliseconds: 30_000,
      ...change,
    })) as SubmitAnswer
  }

  /** @throws where it does not land */
  async land(work: BranchWork, change: Partial<Submission> = {}): Promise<LandedWork> {
    const answer = await this.submit(work, change)
    if (answer.accepted && answer.work.state === 'landed') return answer.work
    throw new Error(JSON.stringify(answer))
  }

  /** Why it is refused. @throws where it is not */
  async refusal(work: BranchWork, change: Partial<Submission> = {}): Promise<RefusedWork> {
    const answer = await this.submit(work, change)
    if (answer.accepted && answer.work.state === 'refused') return answer.work.refusal
    throw new Error(JSON.stringify(answer))
  }

  async state(ticket: string, waitMilliseconds = 0): Promise<WorkState | null> {
    return (await (await this.#stub()).state(ticket, waitMilliseconds)) as WorkState | null
  }

  async #stub() {
    const { did, rkey, ref } = this.address
    return this.#world.edge.object<BranchQueue>('BRANCH_QUEUE', `${did}/${rkey}/${ref}`)
  }
}

/** The queue of a branch of a repository that was pushed. */
export async function queueOf(world: World, owner: Account, repository: string, branch = 'main'): Promise<QueueClient> {
  const record = (await world.records(owner, REPO_COLLECTION)).find(({ value }) => value.name === repository)!
  const rkey = record.uri.slice(record.uri.lastIndexOf('/') + 1)
  return new QueueClient(world, { did: owner.did, rkey, pds: world.atmosphere.pdsUrl, ref: `refs/heads/${branch}` })
}

const encoder = new TextEncoder()

/** A commit of these files. Null deletes. */
export function commitOf(files: Record<string, string | null>, change: Partial<CommitWork> = {}): CommitWork {
  return {
    kind: 'commit',
    message: `Write ${Object.keys(files).join(', ')}`,
    author: { name: 'Agent', email: 'agent@example.com' },
    edits: Object.entries(files).map(([path, content]) =>
      content === null
        ? { kind: 'delete', path: encoder.encode(path) }
        : { kind: 'write', path: encoder.encode(path), content: encoder.encode(content) },
    ),
    base: null,
    expect: [],
    ...change,
  }
}

export function mergeOf(source: string, strategy: MergeStrategy): MergeWork {
  const author = { name: 'Agent', email: 'agent@example.com' }
  return { kind: 'merge', source, strategy, message: null, sourceName: 'topic', author, expectedTip: null }
}
