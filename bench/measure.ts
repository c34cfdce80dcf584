/** How often each side is measured unless `--rounds` says otherwise; a median of fewer says little. */
export const DEFAULT_ROUNDS = 5

export interface Side {
  /** What is not to be measured: a fresh directory, a fresh repository. */
  readonly prepare?: (round: number) => Promise<void>
  readonly run: (round: number) => Promise<void>
}

/**
 * Runs two sides in turn, A B A B …, so that whatever else the machine does meets both. One round of each goes first
 * and is not counted: caches and compilers are warm on both sides.
 * @returns the median time of each side, in milliseconds
 */
export async function measureInTurn(ours: Side, other: Side, rounds: number): Promise<{ ours: number; other: number }> {
  const times = { ours: [] as number[], other: [] as number[] }
  for (let round = 0; round <= rounds; round++) {
    const [a, b] = [await time(ours, round), await time(other, round)]
    if (round === 0) continue
    times.ours.push(a)
    times.other.push(b)
  }
  return { ours: median(times.ours), other: median(times.other) }
}

async function time({ prepare, run }: Side, round: number): Promise<number> {
  await prepare?.(round)
  const start = performance.now()
  await run(round)
  return performance.now() - start
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] as number
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2
}

/** The value that so many percent are not above (nearest rank). */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] as number
}
