import { setTimeout } from 'node:timers/promises'
import type { Edge } from '../dev/edge.ts'

/** What the edge logs of each fetch that it has answered. */
export interface FetchCost {
  readonly packs: number
  readonly r2Reads: number
}

/** Of the last fetch. @throws where there was none */
export function lastFetch({ logs }: Edge): FetchCost {
  const line = logs.findLast(({ message }) => message.includes('"event":"fetched"'))
  if (line === undefined) throw new Error('the edge has logged no fetch')
  return JSON.parse(line.message) as FetchCost
}

/** The same for a report. */
export function costFacts(edge: Edge): Record<string, number> {
  const { r2Reads, packs } = lastFetch(edge)
  return { r2_reads: r2Reads, packs }
}

/** Refs that the `Repository` object has sent for a list of refs, the only one that is asked for meanwhile. */
export async function refsSentFor(edge: Edge, list: () => Promise<unknown>): Promise<number> {
  const from = edge.logs.length
  await list()
  // The line comes by another way than the answer.
  for (;;) {
    const line = edge.logs.slice(from).find(({ message }) => message.includes('"event":"listed"'))
    if (line !== undefined) return (JSON.parse(line.message) as { refsSent: number }).refsSent
    await setTimeout(10)
  }
}
