import { LINK_LIMITS, type LinkLimits } from '../../git/graph/link-files.ts'
import {
  DEFAULT_REPOSITORY_OBJECTS,
  type Environment,
  readIngestEntries,
  readRepositoryObjects,
} from '../environment.ts'

const MEBIBYTE = 1024 * 1024

/** How much of a pack is taken in at once. Each step is to end well within the 5 minutes of CPU that an alarm has. */
export interface IngestLimits {
  /** Packs of the account with more entries, or more bytes, are cut into several. */
  readonly wholeEntries: number
  readonly wholeBytes: number
  /** A part that is cut off such a pack: its entries, and bytes after which it is ended. */
  readonly partEntries: number
  readonly partBytes: number
  /** Objects of a repository at most: whoever reads it holds the indexes and graphs of all its packs. */
  readonly objects: number
  /** See {@link LinkLimits}. */
  readonly link: LinkLimits
}

export const INGEST_LIMITS: IngestLimits = {
  wholeEntries: 400_000,
  wholeBytes: 512 * MEBIBYTE,
  partEntries: 250_000,
  partBytes: 512 * MEBIBYTE,
  objects: DEFAULT_REPOSITORY_OBJECTS,
  link: LINK_LIMITS,
}

/** The same as a deployment has it. @throws ConfigError */
export function readIngestLimits(environment: Environment): IngestLimits {
  const entries = readIngestEntries(environment)
  const objects = readRepositoryObjects(environment)
  const parts = entries === null ? {} : { wholeEntries: entries, partEntries: entries }
  return { ...INGEST_LIMITS, ...parts, objects }
}
