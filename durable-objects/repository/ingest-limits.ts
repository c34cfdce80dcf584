import { type Environment, readIngestEntries } from '../environment.ts'

const MEBIBYTE = 1024 * 1024

/** How much of a pack is taken in at once. Each step is to end well within the 5 minutes of CPU that an alarm has. */
export interface IngestLimits {
  /** Packs of the account with more entries, or more bytes, are cut into several. */
  readonly wholeEntries: number
  readonly wholeBytes: number
  /** A part that is cut off such a pack: its entries, and bytes after which it is ended. */
  readonly partEntries: number
  readonly partBytes: number
  /** Entries of a pack at most: the graph of all parts is made at once. */
  readonly entries: number
}

export const INGEST_LIMITS: IngestLimits = {
  wholeEntries: 400_000,
  wholeBytes: 512 * MEBIBYTE,
  partEntries: 250_000,
  partBytes: 512 * MEBIBYTE,
  entries: 1_200_000,
}

/** The same as a deployment has it. @throws ConfigError */
export function readIngestLimits(environment: Environment): IngestLimits {
  const entries = readIngestEntries(environment)
  return entries === null ? INGEST_LIMITS : { ...INGEST_LIMITS, wholeEntries: entries, partEntries: entries }
}
