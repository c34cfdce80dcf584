import type { FirehoseLimits } from './limits.ts'

/** How long to wait before another try to connect, in milliseconds: longer each time, and not all at once. */
export function pauseBefore(
  failures: number,
  { firstPause, longestPause }: Pick<FirehoseLimits, 'firstPause' | 'longestPause'>,
  random: () => number,
): number {
  const pause = Math.min(longestPause, firstPause * 2 ** failures)
  return pause * (0.5 + random() / 2)
}

/** How long a batch may be waited for that was read again so many times without being applied, in milliseconds. */
export function patienceAfter(
  rewinds: number,
  { patience, longestPatience }: Pick<FirehoseLimits, 'patience' | 'longestPatience'>,
): number {
  return Math.min(longestPatience, patience * 2 ** rewinds)
}

/** A stream is taken for dead when it is silent for so many times as long as it mostly is. */
const SILENT_TIMES = 50
/** How much the newest gap counts. */
const NEWEST = 0.1

/**
 * How long a stream is mostly silent between two messages. A connection that hangs looks like one on which nothing happens
 * (nobody sees the pings that workerd answers), and to subscribe again costs one request.
 */
export class Silence {
  readonly #limits: Pick<FirehoseLimits, 'shortestSilence' | 'longestSilence'>
  #mean: number | null = null

  constructor(limits: Pick<FirehoseLimits, 'shortestSilence' | 'longestSilence'>) {
    this.#limits = limits
  }

  /** @param milliseconds since the message before */
  note(milliseconds: number): void {
    this.#mean = this.#mean === null ? milliseconds : this.#mean * (1 - NEWEST) + milliseconds * NEWEST
  }

  /** Milliseconds. */
  longest(): number {
    const { shortestSilence, longestSilence } = this.#limits
    if (this.#mean === null) return longestSilence
    return Math.min(longestSilence, Math.max(shortestSilence, this.#mean * SILENT_TIMES))
  }
}
