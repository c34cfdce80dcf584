import type { PdsRequest } from '../../dev/atmosphere.ts'

/** How many applyWrites were among these requests, and what they cost. */
export function writesOf(requests: readonly PdsRequest[]): {
  readonly applyWrites: number
  readonly writePoints: number
} {
  const writes = requests.filter(({ path }) => path.endsWith('com.atproto.repo.applyWrites'))
  return { applyWrites: writes.length, writePoints: writes.reduce((sum, { writePoints }) => sum + writePoints, 0) }
}
