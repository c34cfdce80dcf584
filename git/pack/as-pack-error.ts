import { MemoryLimitError } from '../bytes/memory-account.ts'
import { CrowdedOidsError } from '../bytes/oid-table.ts'
import { DeltaError } from '../delta/apply-delta.ts'
import { PackError } from './entry-header.ts'
import { InflateError } from './inflate-error.ts'

/** What is wrong with an entry or its ids is wrong with the pack; anything else stays what it is. */
export function asPackError(error: unknown): unknown {
  if (error instanceof MemoryLimitError) return new PackError(`${error.message}. Push it in parts`)
  const isOfThePack = error instanceof DeltaError || error instanceof InflateError || error instanceof CrowdedOidsError
  return isOfThePack ? new PackError(error.message) : error
}
