import { DeltaError } from '../delta/apply-delta.ts'
import { PackError } from './entry-header.ts'
import { InflateError } from './inflate-error.ts'

/** What is wrong with an entry is wrong with its pack; anything else stays what it is. */
export function asPackError(error: unknown): unknown {
  return error instanceof DeltaError || error instanceof InflateError ? new PackError(error.message) : error
}
