import { createHash } from 'node:crypto'
import type {
  BranchWork,
  RefusedWork,
  SubmitAnswer,
  WaitingWork,
  WorkOutcome,
  WorkState,
} from '../../durable-objects/branch-queue/answers.ts'
import { type Encodable, encodeValue } from '../../durable-objects/branch-queue/work-codec.ts'
import { log } from '../../durable-objects/log.ts'
import { OverlaySource } from '../../git/merge/overlay-source.ts'
import { hashObject } from '../../git/object/hash-object.ts'
import type { NewObject } from '../../git/object/new-object.ts'
import type { ObjectSource } from '../../git/object/object-source.ts'
import { BLOB } from '../../git/object/object-type.ts'
import type { Caller } from '../auth/caller.ts'
import { HttpError } from '../http/http-error.ts'
import { privateJson } from '../xrpc/json-answer.ts'
import { conflictsJson } from './conflict-json.ts'
import { branchAddress, type GatewayDeps, type GatewayTarget, submitterOf } from './gateway-deps.ts'
import { refusalError } from './refusal-error.ts'

/** How long a caller waits for its landing, in milliseconds. */
const WAIT = 30_000

/** What the methods that hand work in have in common. */
export interface HandInOptions {
  readonly idempotencyKey?: string
  readonly wait: boolean
}

export interface WorkAnswerDeps {
  readonly gateway: GatewayDeps
  readonly target: GatewayTarget
}

/** Work that is to be handed in. */
export interface HandIn extends WorkAnswerDeps {
  readonly caller: Caller
  /** Full name of the branch. */
  readonly ref: string
  /** What the caller asked for, but for how it is waited for. */
  readonly asked: Encodable
  readonly options: HandInOptions
  /** Finds out what is to be done. @throws {@link HttpError} where it cannot be */
  prepare(): Promise<BranchWork>
}

/**
 * Hands work in, waits for it if that is wanted, and answers what became of it. What was handed in before under the
 * same key may be impossible by now, because it was done: then that is answered.
 *
 * @throws {@link HttpError} where it is not taken, or refused
 */
export async function handIn({ gateway, target, caller, ref, asked, options, prepare }: HandIn): Promise<Response> {
  const { idempotencyKey = null } = options
  const address = branchAddress(target, ref)
  const call = { submitter: submitterOf(caller), waitMilliseconds: waitOf(options) }
  const digest = () => createHash('sha256').update(encodeValue(asked)).digest('hex')
  let work: BranchWork
  try {
    work = await prepare()
  } catch (error) {
    if (idempotencyKey === null || !(error instanceof HttpError)) throw error
    const before = await gateway.repeat(address, { ...call, idempotencyKey, asked: digest() })
    if (before === null) throw error
    return answerHandedIn({ gateway, target }, before)
  }
  const key = idempotencyKey === null ? { idempotencyKey } : { idempotencyKey, asked: digest() }
  const answer = await gateway.submit({ ...call, address, work, ...key })
  return answerHandedIn({ gateway, target }, answer, writtenBy(work))
}

/** In milliseconds. */
export function waitOf({ wait }: Pick<HandInOptions, 'wait'>): number {
  return wait ? WAIT : 0
}

function answerHandedIn(
  deps: WorkAnswerDeps,
  answer: SubmitAnswer,
  made?: () => readonly NewObject[],
): Promise<Response> {
  if (!answer.accepted) throw notAccepted(answer)
  return answerWork(deps, answer.ticket, answer.work, made)
}

/**
 * Answers what became of work.
 *
 * @param made what the repository may lack of the caller's side
 * @throws {@link HttpError} where it was refused
 */
export async function answerWork(
  deps: WorkAnswerDeps,
  ticket: string,
  work: WorkState,
  made: () => readonly NewObject[] = () => [],
): Promise<Response> {
  switch (work.state) {
    case 'landed':
      return privateJson(landedJson(ticket, work))
    case 'waiting':
      return privateJson(waitingJson(ticket, work), 202, { 'Retry-After': `${work.retryAfterSeconds}` })
    case 'refused':
      throw refusalError(work.refusal, await conflictsOf(deps, work.refusal, made))
  }
}

function landedJson(ticket: string, { state, commit, tree, parent, landing }: WorkOutcome & { state: 'landed' }) {
  return {
    ticket,
    state,
    commit: commit ?? undefined,
    tree: tree ?? undefined,
    parent: parent ?? undefined,
    landing: { id: landing.id, commits: landing.commits },
  }
}

function waitingJson(ticket: string, { state, ahead, reason, retryAfterSeconds }: WaitingWork) {
  return { ticket, state, ahead, reason: reason ?? undefined, retryAfterSeconds }
}

async function conflictsOf(
  { gateway, target }: WorkAnswerDeps,
  refusal: RefusedWork,
  made: () => readonly NewObject[],
): Promise<unknown[]> {
  if (refusal.reason !== 'merge-conflict') return []
  const objects = new OverlaySource(await storedObjects(gateway, target))
  objects.add(made())
  return conflictsJson(refusal.conflicts, objects)
}

const NOTHING: ObjectSource = { read: async () => null, stat: async () => null }

/** The repository's objects, or none where they cannot be read: what conflicts is told in any case. */
async function storedObjects(gateway: GatewayDeps, target: GatewayTarget): Promise<ObjectSource> {
  try {
    return (await gateway.view(target)).objects
  } catch (error) {
    log('sides-unreadable', { did: target.account.did, rkey: target.rkey, reason: String(error) })
    return NOTHING
  }
}

/** The files that work writes: the caller's side of a conflict, which is stored nowhere. */
function writtenBy(work: BranchWork): () => NewObject[] {
  const edits = work.kind === 'commit' ? work.edits : []
  return () =>
    edits.flatMap((edit) => {
      if (!('content' in edit) || edit.content === undefined) return []
      return [{ type: BLOB, bytes: edit.content, oid: hashObject(BLOB, edit.content), base: null }]
    })
}

function notAccepted({ reason, message, retryAfterSeconds }: SubmitAnswer & { accepted: false }): HttpError {
  const headers = retryAfterSeconds === null ? {} : { 'Retry-After': `${retryAfterSeconds}` }
  switch (reason) {
    case 'queue-full':
      return new HttpError(429, 'QueueFull', message, headers)
    case 'rate-limited':
      return new HttpError(429, 'RateLimitExceeded', message, headers)
    case 'key-reused':
      return new HttpError(422, 'IdempotencyKeyReused', message)
  }
}
