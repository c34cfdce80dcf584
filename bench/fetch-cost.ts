import type { Edge } from '../dev/edge.ts'

/** What the edge logs of each fetch that it has answered. */
export interface FetchCost {
  readonly packs: number
  readonly r2Reads: number
}

/** Of the last fetch; null where there was none. */
export function lastFetch({ logs }: Edge): FetchCost | null {
  const line = logs.findLast(({ message }) => message.includes('"event":"fetched"'))
  return line === undefined ? null : (JSON.parse(line.message) as FetchCost)
}

/** The same for a report. */
export function costFacts(edge: Edge): Record<string, number> {
  const cost = lastFetch(edge)
  return cost === null ? {} : { r2_reads: cost.r2Reads, packs: cost.packs }
}
