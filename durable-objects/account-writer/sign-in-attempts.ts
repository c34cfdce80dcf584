/**
 * Keeps guesses at a password, and our sign-ins, below what a PDS takes: 30 createSession in 5 minutes. All times are
 * in milliseconds. A password that is known to be right needs no attempt, so that somebody's guesses do not lock the
 * owner out of an edge that has seen them before.
 */
export interface SignInAttempts {
  /** Wrong passwords in a row. */
  readonly failures: number
  readonly lastFailure: number
  /** When the PDS was asked, as far as that counts. */
  readonly asked: readonly number[]
}

export const NO_ATTEMPTS: SignInAttempts = { failures: 0, lastFailure: 0, asked: [] }

const WINDOW = 5 * 60_000
/** Of the 30 that the PDS takes, some are left to the owner's other apps: it counts them by account and address. */
const MAX_ASKED = 20
const FREE_FAILURES = 5
const FIRST_PAUSE = 10_000
const LONGEST_PAUSE = 5 * 60_000
/** After this long without a wrong password, earlier ones are forgotten. */
const FORGET_AFTER = 60 * 60_000

/** Milliseconds until the PDS may be asked again; 0: now. */
export function waitBeforeAttempt(attempts: SignInAttempts, now: number): number {
  const { failures, lastFailure, asked } = attempts
  const inWindow = asked.filter((time) => time > now - WINDOW)
  const forWindow = inWindow.length < MAX_ASKED ? 0 : inWindow[inWindow.length - MAX_ASKED]! + WINDOW - now
  if (failures < FREE_FAILURES || lastFailure < now - FORGET_AFTER) return forWindow
  const pause = Math.min(FIRST_PAUSE * 2 ** (failures - FREE_FAILURES), LONGEST_PAUSE)
  return Math.max(0, forWindow, lastFailure + pause - now)
}

export function noteAsked(attempts: SignInAttempts, now: number): SignInAttempts {
  return { ...attempts, asked: [...attempts.asked.filter((time) => time > now - WINDOW), now] }
}

export function noteFailure(attempts: SignInAttempts, now: number): SignInAttempts {
  const failures = attempts.lastFailure < now - FORGET_AFTER ? 1 : attempts.failures + 1
  return { ...attempts, failures, lastFailure: now }
}

export function noteSuccess(attempts: SignInAttempts): SignInAttempts {
  return { ...attempts, failures: 0, lastFailure: 0 }
}
