import type { PdsClient } from '../pds/pds-client.ts'
import { PACK_COLLECTION, REPO_COLLECTION } from '../records/collections.ts'
import { decodePackRecord } from '../records/pack-record.ts'
import { InvalidRecordError } from '../records/record-error.ts'
import { keyPrefix, packKey, parsePackKey } from '../records/record-keys.ts'
import type { PackRecord, RepoRecord } from '../records/record-types.ts'
import { decodeRepoRecord } from '../records/repo-record.ts'
import { CLOCK_SKEW, tidBefore } from '../records/tid.ts'
import type { RefState } from '../refs/ref-state.ts'
import { listRange } from './list-range.ts'
import { decodeAll, readRefs } from './read-refs.ts'
import type { SkippedRecord } from './skipped-record.ts'

export interface StoredPack {
  /** Whole record key. They sort by age. */
  readonly rkey: string
  readonly record: PackRecord
}

export interface ReadRepositoryOptions {
  /** Record key of the newest pack that the caller knows: older ones are not listed. */
  readonly since?: string
  /**
   * Takes the bytes of each pack whose record holds them, as the list is read; the packs are without them then. All of
   * them together may be far more than fits into memory.
   */
  readonly takeBytes?: (rkey: string, bytes: Uint8Array) => Promise<void>
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
  /** What was not valid, and why: the first of them. */
  readonly skipped: readonly SkippedRecord[]
}

/** A host can serve as many invalid records as it likes: so many are told of. */
const MAX_SKIPPED = 100

/** Records a request: with all packs inline at 192 KiB (256 KiB as JSON) a page has 9 MiB. */
export const PACK_PAGE_SIZE = 36

/**
 * Reads all of a repository but the blobs. Null if there is no valid record of it.
 *
 * Packs and refs are listed at the same time, so a ref may be newer than the list of packs: where one names a pack that
 * is not in the list, the packs from there on are listed once more. If it is missing even then, it has been
 * compacted away since, or was never written.
 */
export async function readRepository(
  client: PdsClient,
  did: string,
  rkey: string,
  options: ReadRepositoryOptions = {},
): Promise<StoredRepository | null> {
  const { since } = options
  const skipped: SkippedRecord[] = []
  const skip = (record: SkippedRecord) => {
    if (skipped.length < MAX_SKIPPED) skipped.push(record)
  }
  const [repo, packs, { refs, head }] = await Promise.all([
    readRepo(client, did, rkey, skip),
    readPacks(client, did, rkey, options, skip),
    readRefs(client, did, rkey, 'all', skip),
  ])
  if (!repo) return null
  const unlisted = oldestUnlistedPack(rkey, refs.values(), packs, since)
  if (unlisted === null) return { repo, packs, refs, head, skipped }
  const known = packs.filter((pack) => pack.rkey < unlisted)
  const last = known.at(-1)?.rkey
  const rest = await readPacks(client, did, rkey, last === undefined ? options : { ...options, since: last }, skip)
  return { repo, packs: [...known, ...rest], refs, head, skipped }
}

async function readRepo(
  client: PdsClient,
  did: string,
  rkey: string,
  skip: (skipped: SkippedRecord) => void,
): Promise<RepoRecord | null> {
  const record = await client.getRecord(did, REPO_COLLECTION, rkey)
  if (!record) return null
  const [repo = null] = await decodeAll([record], skip, ({ value }) => decodeRepoRecord(value))
  return repo
}

async function readPacks(
  client: PdsClient,
  did: string,
  repo: string,
  { since, takeBytes }: ReadRepositoryOptions,
  skip: (skipped: SkippedRecord) => void,
): Promise<StoredPack[]> {
  const range = listRange(client, {
    did,
    collection: PACK_COLLECTION,
    prefix: keyPrefix(repo),
    pageSize: PACK_PAGE_SIZE,
    ...(since === undefined ? {} : { after: since }),
  })
  return decodeAll(range, skip, async ({ rkey, value }) => {
    if (!parsePackKey(rkey)) throw new InvalidRecordError('the record key is not <repo>:<TID>')
    const record = decodePackRecord(value)
    if (record.bytes === undefined || takeBytes === undefined) return { rkey, record }
    const { bytes, ...rest } = record
    await takeBytes(rkey, bytes)
    return { rkey, record: rest }
  })
}

/**
 * The smallest key of a pack that a ref names, that is not in the list, and that may have been written while the list
 * was read. A pack that was compacted away long ago is no reason to list again, so only recent ones count.
 */
function oldestUnlistedPack(
  repo: string,
  refs: Iterable<RefState>,
  packs: readonly StoredPack[],
  since: string | undefined,
): string | null {
  const listed = new Set(packs.map((pack) => pack.rkey))
  const newest = packs.at(-1)?.rkey
  const recent = newest === undefined ? '' : packKey(repo, tidBefore(parsePackKey(newest)!.tid, CLOCK_SKEW))
  const floor = since ?? recent
  let oldest: string | null = null
  for (const { pack } of refs) {
    if (pack === null || pack <= floor || listed.has(pack)) continue
    if (oldest === null || pack < oldest) oldest = pack
  }
  return oldest
}
