import { isSignedBy, readCommitObject, type UncheckedCommit } from './commit-signature.ts'
import type { CommitBlocks, EventsFrame } from './frame.ts'
import type { Signers } from './signers.ts'
import type { RecordEvent, StreamEvent } from './stream-event.ts'

/**
 * Marks the records that are proven. An account's own PDS is believed. Of any other upstream a record is proven if the commit
 * is signed by the account's key, and its tree leads to the record; a deletion, if its tree says that there is no such record.
 * What is not proven stays as it is: it may be true all the same.
 *
 * @param origin of the upstream
 */
export async function proveEvents(
  frame: EventsFrame,
  signers: Signers,
  origin: string,
): Promise<readonly StreamEvent[]> {
  const { events, commit } = frame
  for (const { kind, did } of events) if (kind === 'identity') signers.forget(did)
  const [first] = events
  if (commit === null || first === undefined) return events
  const signer = await signers.of(commit.did)
  if (signer === null) return events
  if (signer.pds === origin) return events.map(proven)
  const unchecked = readCommitObject(commit)
  if (unchecked === null || !(await isSigned(unchecked, commit.did, signers))) return events
  return events.map((event) => (event.kind === 'record' && isInTree(event, commit, unchecked) ? proven(event) : event))
}

async function isSigned({ commit }: UncheckedCommit, did: string, signers: Signers): Promise<boolean> {
  const key = (await signers.of(did))?.key ?? null
  if (key !== null && (await isSignedBy(key, commit))) return true
  // The account may have a new key.
  const newKey = (await signers.again(did))?.key ?? null
  return newKey !== null && isSignedBy(newKey, commit)
}

function isInTree({ collection, rkey }: RecordEvent, { claims }: CommitBlocks, { tree }: UncheckedCommit): boolean {
  const path = `${collection}/${rkey}`
  const claim = claims.get(path)
  return claim !== undefined && tree.proves(path, claim)
}

function proven(event: StreamEvent): StreamEvent {
  return event.kind === 'record' ? { ...event, isProven: true } : event
}
