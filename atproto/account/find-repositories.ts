import type { PdsClient } from '../pds/pds-client.ts'
import { REPO_COLLECTION } from '../records/collections.ts'
import { InvalidRecordError } from '../records/record-error.ts'
import type { RepoRecord } from '../records/record-types.ts'
import { decodeRepoRecord } from '../records/repo-record.ts'
import { isTid } from '../records/tid.ts'
import { listRange } from './list-range.ts'
import { decodeAll } from './read-refs.ts'
import type { SkippedRecord } from './skipped-record.ts'

/** Of one account. They are held in memory all at once. */
const MAX_REPOSITORIES = 10_000

export interface FoundRepository {
  readonly rkey: string
  readonly record: RepoRecord
}

/**
 * The repositories of an account, oldest first. Of two with one name, which two writers at once can make, the one with
 * the smallest record key, and so the first here, has the name.
 */
export async function findRepositories(
  client: PdsClient,
  did: string,
  skip: (skipped: SkippedRecord) => void = () => undefined,
): Promise<FoundRepository[]> {
  const range = listRange(client, { did, collection: REPO_COLLECTION, prefix: '', maxRecords: MAX_REPOSITORIES })
  return decodeAll(range, skip, ({ rkey, value }) => {
    // Nothing could be in it: keys of packs and refs start with it.
    if (!isTid(rkey)) throw new InvalidRecordError('the record key is no TID')
    return { rkey, record: decodeRepoRecord(value) }
  })
}
