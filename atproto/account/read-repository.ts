import type { PdsClient } from '../pds/pds-client.ts'
import { PACK_COLLECTION, REPO_COLLECTION } from '../records/collections.ts'
import { InvalidRecordError } from '../records/record-error.ts'
import { decodePackRecord } from '../records/pack-record.ts'
import { keyPrefix, parsePackKey } from '../records/record-keys.ts'
import type { PackRecord, RepoRecord } from '../records/record-types.ts'
import { decodeRepoRecord } from '../records/repo-record.ts'
import { mergeRefs } from '../refs/merge.ts'
import type { RefState } from '../refs/ref-state.ts'
import { listRange } from './list-range.ts'
import { decodeAll, readLooseRefs, readShards } from './read-refs.ts'
import type { SkippedRecord } from './skipped-record.ts'

export interface StoredPack {
  /** Whole record key. They sort by age. */
  readonly rkey: string
  readonly record: PackRecord
}

/** A repository as its account holds it. */
export interface StoredRepository {
  readonly repo: RepoRecord
  /** Oldest first; only those after `since`, where that was given. */
  readonly packs: readonly StoredPack[]
  /** By full name; deleted refs are there with no target. */
  readonly refs: ReadonlyMap<string, RefState>
  /** To be passed on in a `Landing`. */
  readonly head: number | null
  /** What was not valid, and why. */
  readonly skipped: readonly SkippedRecord[]
}

/** Records a request: with all packs inline at 192 KiB (256 KiB as JSON) a page has 9 MiB. */
const PACK_PAGE_SIZE = 36

/**
 * Reads all of a repository but the blobs. Null if there is no valid record of it.
 *
 * Packs and refs are listed at the same time, so a ref may be newer than the list of packs: where one names a pack that
 * is not in the list, the packs after the last known are listed once more. If it is missing even then, it has been
 * compacted away since, or was never written.
 *
 * @param since record key of the newest pack that the caller knows: older ones are not listed
 */
export async function readRepository(
  client: PdsClient,
  did: string,
  rkey: string,
  since?: string,
): Promise<StoredRepository | null> {
  const skipped: SkippedRecord[] = []
  const skip = (record: SkippedRecord) => void skipped.push(record)
  const [repo, packs, loose, shards] = await Promise.all([
    readRepo(client, did, rkey, skip),
    readPacks(client, did, rkey, since, skip),
    readLooseRefs(client, did, rkey, 'all', skip),
    readShards(client, did, rkey, skip),
  ])
  if (!repo) return null
  const { refs, head } = mergeRefs(loose, shards)
  const lastKnown = packs.at(-1)?.rkey ?? since
  if (namesUnlistedPack(refs.values(), packs, since)) {
    packs.push(...(await readPacks(client, did, rkey, lastKnown, skip)))
  }
  return { repo, packs, refs, head, skipped }
}

async function readRepo(
  client: PdsClient,
  did: string,
  rkey: string,
  skip: (skipped: SkippedRecord) => void,
): Promise<RepoRecord | null> {
  const record = await client.getRecord(did, REPO_COLLECTION, rkey)
  if (!record) return null
  const [repo = null] = await decodeAll(asAsync([record]), skip, ({ value }) => decodeRepoRecord(value))
  return repo
}

async function readPacks(
  client: PdsClient,
  did: string,
  repo: string,
  since: string | undefined,
  skip: (skipped: SkippedRecord) => void,
): Promise<StoredPack[]> {
  const range = listRange(client, {
    did,
    collection: PACK_COLLECTION,
    prefix: keyPrefix(repo),
    pageSize: PACK_PAGE_SIZE,
    ...(since === undefined ? {} : { after: since }),
  })
  return decodeAll(range, skip, ({ rkey, value }) => {
    if (!parsePackKey(rkey)) throw new InvalidRecordError('the record key is not <repo>:<TID>')
    return { rkey, record: decodePackRecord(value) }
  })
}

/** Whether a ref needs a pack that is newer than the listed ones. */
function namesUnlistedPack(refs: Iterable<RefState>, packs: readonly StoredPack[], since: string | undefined): boolean {
  const newest = packs.at(-1)?.rkey ?? since ?? ''
  for (const { pack } of refs) if (pack !== null && pack > newest) return true
  return false
}

async function* asAsync<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}
