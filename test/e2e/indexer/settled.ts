import { expect, vi } from 'vitest'
import type { Edge } from '../../../dev/edge.ts'

interface Health {
  readonly status: string
  readonly upstreams: readonly {
    readonly isConnected: boolean
    readonly pendingBatches: number
    readonly cursor: number
  }[]
  readonly accountsWanted: { readonly all: number; readonly due: number }
  readonly deadLetters: number
  readonly droppedRecords: number
}

export async function health(edge: Edge): Promise<Health> {
  return (await (await fetch(`${edge.url}/health`)).json()) as Health
}

/** Waits until nothing of what has happened is left to be read, applied or listed. */
export async function settled(edge: Edge, cursor = 0): Promise<Health> {
  let quiet = 0
  return vi.waitFor(
    async () => {
      const now = await health(edge)
      const isQuiet =
        now.accountsWanted.all === 0 &&
        now.upstreams.every((one) => one.isConnected && one.pendingBatches === 0 && one.cursor >= cursor)
      quiet = isQuiet ? quiet + 1 : 0
      // Events gather for a moment before there is a batch of them.
      expect([quiet >= 5, now]).toEqual([true, now])
      return now
    },
    { timeout: 60_000, interval: 100 },
  )
}
