import type { PdsClient } from '../pds/pds-client.ts'
import { REPO_COLLECTION } from '../records/collections.ts'
import type { RepoRecord } from '../records/record-types.ts'
import { decodeRepoRecord } from '../records/repo-record.ts'
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
 * the smallest record key has the name, and the other is left out until it is renamed.
 */
export async function findRepositories(
  client: PdsClient,
  did: string,
  skip: (skipped: SkippedRecord) => void = () => undefined,
): Promise<FoundRepository[]> {
  const range = listRange(client, { did, collection: REPO_COLLECTION, prefix: '', maxRecords: MAX_REPOSITORIES })
  const all = await decodeAll(range, skip, ({ rkey, value }) => ({ rkey, record: decodeRepoRecord(value) }))
  const byName = new Map<string, FoundRepository>()
  for (const found of all) {
    const { name } = found.record
    if (byName.has(name))
      skip({ uri: `at://${did}/${REPO_COLLECTION}/${found.rkey}`, reason: `${name} is taken by an older one` })
    else byName.set(name, found)
  }
  return [...byName.values()]
}
