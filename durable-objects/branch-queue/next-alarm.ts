import { KEPT_FOR } from './limits.ts'
import type { QueueStore } from './queue-store.ts'

/**
 * What waits is looked after again by so many milliseconds: whoever lands it may be cut off. A landing on a slow host
 * takes longer; then the alarm waits for it.
 */
const LOOK_AGAIN = 10_000
/** What the audit could not be told is told again after so many milliseconds. */
const TELL_AGAIN = 60_000

/** When the queue has something to do next on its own, in milliseconds since 1970; null: never. */
export function nextAlarm(store: QueueStore, now: number): number | null {
  const times: number[] = []
  if (store.hasWaiting()) times.push(Math.max(store.pause()?.until ?? 0, now + (isPaused(store, now) ? 0 : LOOK_AGAIN)))
  if (store.nextAudit(1).length > 0) times.push(now + TELL_AGAIN)
  const oldest = store.oldestSettled()
  if (oldest !== null) times.push(Math.max(oldest + KEPT_FOR, now))
  return times.length === 0 ? null : Math.min(...times)
}

function isPaused(store: QueueStore, now: number): boolean {
  return (store.pause()?.until ?? 0) > now
}

/** Forgets what is a day old. */
export function forgetOld(store: QueueStore, now: number): void {
  store.forgetSettled(now - KEPT_FOR)
}
