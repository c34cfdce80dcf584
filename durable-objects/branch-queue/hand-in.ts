import { createHash } from 'node:crypto'
import type { Repetition, Submission, SubmitAnswer, Submitter, WorkState } from './answers.ts'
import { WAITING_LIMITS } from './limits.ts'
import { encodeWork, type QueueStore } from './queue-store.ts'
import type { SubmissionRates } from './submission-rates.ts'

export interface HandInDeps {
  readonly store: QueueStore
  readonly rates: SubmissionRates
  readonly limits?: { readonly works: number; readonly bytes: number }
  /** Milliseconds since 1970. */
  now(): number
  newTicket(): string
}

export type HandedIn =
  | { readonly accepted: true; readonly ticket: string }
  | Extract<SubmitAnswer, { readonly accepted: false }>

/** A full queue has room again when the landing that is in flight is done, in seconds. */
const FULL_FOR = 5
/** A turn comes soon, in seconds. */
const SOON = 1

/** Stores work that is handed in, unless it was before under the same key, or there is no room. */
export function handIn(deps: HandInDeps, { work, submitter, idempotencyKey: key, asked }: Submission): HandedIn {
  const { store, rates, limits = WAITING_LIMITS, now } = deps
  const wait = rates.take(submitter.tokenId ?? submitter.did, now())
  if (wait !== null) {
    return refuse('rate-limited', `too much is handed in on this branch by one caller: wait ${wait} s`, wait)
  }
  const content = encodeWork(work)
  const fingerprint = fingerprintOf(asked ?? content)
  const idempotencyKey = key === null ? null : keyOf(key, submitter)
  const before = idempotencyKey === null ? null : findAgain(store, idempotencyKey, fingerprint)
  if (before !== null) return before
  const waiting = store.waiting()
  if (waiting.works >= limits.works || (waiting.works > 0 && waiting.bytes + content.length > limits.bytes)) {
    return refuse('queue-full', `${waiting.works} commits wait on this branch: hand it in again later`, FULL_FOR)
  }
  const ticket = deps.newTicket()
  store.add({ ticket, kind: work.kind, content, submitter, handedIn: now(), idempotencyKey, fingerprint })
  return { accepted: true, ticket }
}

/** What was handed in before under a key; null: nothing was. */
export function findRepeated(
  { store }: Pick<HandInDeps, 'store'>,
  { submitter, idempotencyKey, asked }: Repetition,
): HandedIn | null {
  return findAgain(store, keyOf(idempotencyKey, submitter), fingerprintOf(asked))
}

function findAgain(store: QueueStore, idempotencyKey: string, fingerprint: string): HandedIn | null {
  const before = store.findKey(idempotencyKey)
  if (before === null) return null
  if (before.fingerprint === fingerprint) return { accepted: true, ticket: before.ticket }
  return refuse('key-reused', 'something else was handed in under this idempotency key: choose another', null)
}

/** What has become of work; null: there is no such ticket, or not any more. */
export function stateOf({ store, now }: Pick<HandInDeps, 'store' | 'now'>, ticket: string): WorkState | null {
  const look = store.look(ticket)
  if (look === null) return null
  if (look.outcome !== null) return look.outcome
  const pause = store.pause()
  const left = pause === null ? 0 : pause.until - now()
  if (pause === null || left <= 0) return { state: 'waiting', ahead: look.ahead, reason: null, retryAfterSeconds: SOON }
  return { state: 'waiting', ahead: look.ahead, reason: pause.reason, retryAfterSeconds: Math.ceil(left / 1000) }
}

function refuse(
  reason: 'queue-full' | 'rate-limited' | 'key-reused',
  message: string,
  retryAfterSeconds: number | null,
): HandedIn {
  return { accepted: false, reason, message, retryAfterSeconds }
}

/** Everybody has keys of their own: whoever else takes the same one means other work. */
function keyOf(idempotencyKey: string, { did, tokenId }: Submitter): string {
  return JSON.stringify([did, tokenId, idempotencyKey])
}

function fingerprintOf(asked: Uint8Array | string): string {
  return createHash('sha256').update(asked).digest('hex')
}
