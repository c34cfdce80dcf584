import type { LandingResult } from '../../atproto/account/landing.ts'
import { PdsError, PdsUnreachableError } from '../../atproto/pds/pds-error.ts'

/**
 * Why an account could not be written to. `wrong-password`: the PDS says so. `rate-limited`: too many tries, by the
 * PDS's count or ours. `unreachable`: the PDS does not answer, or not with what it should. `signed-out`: there is no
 * session (any more), sign in again. `refused`: the PDS does not let this account in or write, and says why. `blocked`: the
 * operator of this edge does not.
 */
export type RefusalReason = 'wrong-password' | 'rate-limited' | 'unreachable' | 'signed-out' | 'refused' | 'blocked'

export interface Refusal {
  readonly ok: false
  readonly reason: RefusalReason
  /** For the person who pushed. */
  readonly message: string
  readonly retryAfterSeconds: number | null
}

export type AuthenticateAnswer = { readonly ok: true } | Refusal
export type TokenAnswer = { readonly ok: true; readonly token: string } | Refusal
export type LandAnswer = { readonly ok: true; readonly result: LandingResult } | Refusal

export interface AccountAddress {
  readonly did: string
  /** Origin of its PDS. */
  readonly pds: string
}

export function refusal(reason: RefusalReason, message: string, retryAfterSeconds: number | null = null): Refusal {
  return { ok: false, reason, message, retryAfterSeconds }
}

/** Whether nothing but the owner of the account, or the operator, can change that. */
export function isForOwner({ reason }: Refusal): boolean {
  return reason === 'blocked' || reason === 'wrong-password' || reason === 'signed-out' || reason === 'refused'
}

/** A refusal met where there is no going on without the account. */
export class RefusedError extends Error {
  override name = 'RefusedError'
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** The session is over, and there is no way to a new one but the password. */
export class SessionEndedError extends PdsError {
  override name = 'SessionEndedError'

  constructor(host: string) {
    super(host, 401, 'ExpiredToken', 'the session has ended', null)
    this.message = `the session at ${host} has ended: the account's owner must sign in again, by a push with an app password`
  }
}

/** The one place that turns faults of a PDS into refusals; other faults are thrown on. */
export function refusalOf(fault: unknown): Refusal {
  if (fault instanceof PdsUnreachableError) return refusal('unreachable', fault.message)
  if (!(fault instanceof PdsError)) throw fault
  const { status, message, retryAfter } = fault
  if (fault instanceof SessionEndedError) return refusal('signed-out', message)
  if (status === 429) return refusal('rate-limited', message, retryAfter)
  if (status >= 400 && status < 500) return refusal('refused', message, retryAfter)
  return refusal('unreachable', message, retryAfter)
}
