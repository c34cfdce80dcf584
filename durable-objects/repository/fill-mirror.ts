import { PdsError, PdsUnreachableError } from '../../atproto/pds/pds-error.ts'
import { ObjectGoneError } from '../../storage/packs/r2-range.ts'
import type { IngestNews, ReadAccountOutcome, RepositoryAddress } from './answers.ts'
import type { IngestDeps } from './ingest-deps.ts'
import { ingestWanted } from './ingest-wanted.ts'
import { PackMovedError } from './pack-arrival.ts'

/** How often an ingest may find that the account was compacted under it before it gives up. */
const MOVED_LIMIT = 3
/** How soon an ingest that failed, or was killed, is taken up again; doubled with each. */
const FIRST_PAUSE = 20_000
const LONGEST_PAUSE = 60 * 60_000
/** After so many failures, about half a day, it waits for the next reader. */
const FAILURE_LIMIT = 18

export interface FillDeps extends IngestDeps {
  /** Reads all of the account again: what it said of its packs is not true any more. */
  readAll(): Promise<ReadAccountOutcome>
  /** Has what R2 has lost of the mirror wanted again. */
  restore(): Promise<ReadAccountOutcome>
  /** Has the mirror filled later, by itself, and not before. @param pause in milliseconds */
  resumeLater(pause: number): Promise<void>
}

/**
 * Fills a mirror that lacks packs or does not know its refs.
 *
 * @returns the last news; null if the turn was over before it was done, and it goes on by itself. It does not throw
 */
export async function fillMirror(
  deps: FillDeps,
  address: RepositoryAddress,
  onProgress: (line: string) => void,
): Promise<IngestNews | null> {
  const { store, log } = deps
  if (!store.isComplete()) {
    // What is killed, by a limit of CPU or memory, notes nothing any more.
    const pause = resumePause(store.noteIngest())
    if (pause !== null) await deps.resumeLater(pause)
  }
  try {
    for (let moved = 0; !store.isComplete(); ) {
      const outcome = await ingestOrMove(deps, address, onProgress)
      if (outcome === 'moved' && ++moved > MOVED_LIMIT) {
        throw new PackMovedError('the account is compacted again and again')
      }
      if (outcome === 'turn over') {
        store.noteProgress()
        await deps.resumeLater(0)
        return null
      }
    }
    store.noteProgress()
    return { done: true }
  } catch (error) {
    log('ingest-failed', { did: address.did, rkey: address.rkey, reason: String(error) })
    const pause = resumePause(store.failedIngests() || store.noteIngest())
    if (pause !== null) await deps.resumeLater(pause)
    return failure(error)
  }
}

/** `moved`: the account had to be read again. */
type Outcome = 'done' | 'moved' | 'turn over'

async function ingestOrMove(
  deps: FillDeps,
  address: RepositoryAddress,
  onProgress: (line: string) => void,
): Promise<Outcome> {
  try {
    return (await ingestWanted(deps, address, onProgress)) ? 'done' : 'turn over'
  } catch (error) {
    if (!(error instanceof PackMovedError || error instanceof ObjectGoneError)) throw error
    const outcome = await (error instanceof PackMovedError ? deps.readAll() : deps.restore())
    if (outcome.state !== 'read') throw error
    return 'moved'
  }
}

/** How long to wait after so many failures, in milliseconds; null: no more of its own accord. */
export function resumePause(failures: number): number | null {
  if (failures > FAILURE_LIMIT) return null
  return Math.min(FIRST_PAUSE * 2 ** Math.max(failures - 1, 0), LONGEST_PAUSE)
}

function failure(error: unknown): IngestNews {
  const isUpstream = error instanceof PdsError || error instanceof PdsUnreachableError
  const retryAfter = error instanceof PdsError ? error.retryAfter : null
  return {
    error: `the repository cannot be read from its account now: ${isUpstream ? error.message : 'try again later'}`,
    retryAfterSeconds: retryAfter ?? FIRST_PAUSE / 1000,
  }
}
