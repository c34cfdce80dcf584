import type { PdsClient } from '../pds/pds-client.ts'
import { PACK_COLLECTION, REPO_COLLECTION } from '../records/collections.ts'
import { decodePackRecord } from '../records/pack-record.ts'
import { InvalidRecordError } from '../records/record-error.ts'
import { keyPrefix, packKey, parsePackKey } from '../records/record-keys.ts'
import type { PackRecord, RepoRecord } from '../records/record-types.ts'
import { decodeRepoRecord } from '../records/repo-record.ts'
import { tidFromTime, tidTime } from '../records/tid.ts'
import type { RefState } from '../refs/ref-state.ts'
import { listRange } from './list-range.ts'
import { decodeAll, readRefs } from './read-refs.ts'
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

export interface ReadOptions {
  /** Record key of the newest pack that the caller knows: older ones are not listed. Default: all are. */
  readonly since?: string
  /**
   * Takes the bytes of each pack that its record holds, as it is listed, in place of leaving them in the result: thousands
   * of pushes make more of them than memory holds. May be called twice for one pack.
   */
  readonly keepInline?: (rkey: string, bytes: Uint8Array) => Promise<void>
}

/** Records a request: with all packs inline at 192 KiB (256 KiB as JSON) a page has 9 MiB. */
const PACK_PAGE_SIZE = 36

/** How far the clocks of two writers may differ, in microseconds: 10 minutes. */
const CLOCK_SKEW = 10 * 60 * 1_000_000

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
  options: ReadOptions = {},
): Promise<StoredRepository | null> {
  const { since } = options
  const skipped: SkippedRecord[] = []
  const skip = (record: SkippedRecord) => void skipped.push(record)
  const [repo, packs, { refs, head }] = await Promise.all([
    readRepo(client, did, rkey, skip),
    readPacks(client, did, rkey, options, skip),
    readRefs(client, did, rkey, 'all', skip),
  ])
  if (!repo) return null
  const unlisted = oldestUnlistedPack(rkey, refs.values(), packs, since)
  if (unlisted === null) return { repo, packs, refs, head, skipped }
  const known = packs.filter((pack) => pack.rkey < unlisted)
  const after = known.at(-1)?.rkey ?? since
  const rest = await readPacks(
    client,
    did,
    rkey,
    { ...options, ...(after === undefined ? {} : { since: after }) },
    skip,
  )
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
  const [repo = null] = await decodeAll(asAsync([record]), skip, ({ value }) => decodeRepoRecord(value))
  return repo
}

async function readPacks(
  client: PdsClient,
  did: string,
  repo: string,
  { since, keepInline }: ReadOptions,
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
    const { bytes, ...record } = decodePackRecord(value)
    if (bytes === undefined) return { rkey, record }
    if (keepInline === undefined) return { rkey, record: { bytes, ...record } }
    await keepInline(rkey, bytes)
    return { rkey, record }
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
  const recent = newest ? tidTime(parsePackKey(newest)!.tid) - CLOCK_SKEW : 0
  const floor = since ?? packKey(repo, tidFromTime(Math.max(0, recent), 0))
  let oldest: string | null = null
  for (const { pack } of refs) {
    if (pack === null || pack <= floor || listed.has(pack)) continue
    if (oldest === null || pack < oldest) oldest = pack
  }
  return oldest
}

async function* asAsync<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}
