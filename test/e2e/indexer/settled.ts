import { expect, vi } from 'vitest'
import type { Edge } from '../../../dev/edge.ts'

interface Health {
  readonly status: string
  readonly upstreams: readonly {
    readonly isConnected: boolean
    readonly pendingBatches: number
    readonly cursor: number
  }[]
  readonly deadLetters: number
  readonly droppedRecords: number
}

export async function health(edge: Edge): Promise<Health> {
  return (await (await fetch(`${edge.url}/health`)).json()) as Health
}

/** Waits until nothing of what has happened is left to be read, applied or listed. */
export async function settled(edge: Edge, cursor = 0): Promise<Health> {
  let quiet = 0
  const db = await edge.database()
  return vi.waitFor(
    async () => {
      const now = await health(edge)
      // What `health` says of them may be seconds old.
      const wanted = await db.prepare('select 1 from account_wants limit 1').first()
      const isQuiet =
        wanted === null &&
        now.upstreams.every((one) => one.isConnected && one.pendingBatches === 0 && one.cursor >= cursor)
      quiet = isQuiet ? quiet + 1 : 0
      // Events gather for a moment before there is a batch of them.
      expect([quiet >= 5, now]).toEqual([true, now])
      return now
    },
    { timeout: 60_000, interval: 100 },
  )
}
