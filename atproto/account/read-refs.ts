import type { PdsClient, RawRecord } from '../pds/pds-client.ts'
import { REF_COLLECTION, REFS_COLLECTION } from '../records/collections.ts'
import { InvalidRecordError } from '../records/record-error.ts'
import { keyPrefix, parseRefsKey, refKeyPrefix } from '../records/record-keys.ts'
import type { RefRecord } from '../records/record-types.ts'
import { decodeRefRecord, decodeRefsRecord } from '../records/ref-record.ts'
import { mergeRefs, type Shard, type StoredRefs } from '../refs/merge.ts'
import { listRange } from './list-range.ts'
import type { SkippedRecord } from './skipped-record.ts'

/** Reading these many refs one by one is cheaper than listing all of a repository's, which may be hundreds of pages. */
const SINGLE_READS = 4
/** The versions of one ref: the current one, and what a host that is lenient about deletes has left. */
const SINGLE_PAGE_SIZE = 10

/**
 * The refs of a repository: all of them, or at least those of `names`.
 *
 * The shards are read first, so that no ref can have got its first loose record between the head and the loose records:
 * a head that is older than what it stands beside costs its user a retry, a newer one could cost somebody a ref.
 */
export async function readRefs(
  client: PdsClient,
  did: string,
  repo: string,
  names: readonly string[] | 'all',
  skip: (skipped: SkippedRecord) => void,
): Promise<StoredRefs> {
  const shards = await readShards(client, did, repo, skip)
  return mergeRefs(await readLooseRefs(client, did, repo, names, skip), shards)
}

/** The loose records alone: without the shards, a ref that is not among them may still be packed. */
export async function readLooseRefs(
  client: PdsClient,
  did: string,
  repo: string,
  names: readonly string[] | 'all',
  skip: (skipped: SkippedRecord) => void,
): Promise<RefRecord[]> {
  const collection = REF_COLLECTION
  const ranges =
    names === 'all' || names.length > SINGLE_READS
      ? [listRange(client, { did, collection, prefix: keyPrefix(repo) })]
      : names.map((name) =>
          listRange(client, { did, collection, prefix: refKeyPrefix(repo, name), pageSize: SINGLE_PAGE_SIZE }),
        )
  const found = await Promise.all(
    ranges.map((range) => decodeAll(range, skip, (record) => decodeRefRecord(record.rkey, record.value))),
  )
  return found.flat()
}

/** All shards of a repository, the head among them. */
function readShards(
  client: PdsClient,
  did: string,
  repo: string,
  skip: (skipped: SkippedRecord) => void,
): Promise<Shard[]> {
  const range = listRange(client, { did, collection: REFS_COLLECTION, prefix: keyPrefix(repo) })
  return decodeAll(range, skip, ({ uri, rkey, value }) => {
    const record = decodeRefsRecord(rkey, value, (reason) => skip({ uri, reason }))
    const { shard, seq } = parseRefsKey(rkey)!
    return { shard, seq, record }
  })
}

/** Decodes one by one: a record that is not valid is skipped, and hides no other. */
export async function decodeAll<T>(
  records: AsyncIterable<RawRecord> | Iterable<RawRecord>,
  skip: (skipped: SkippedRecord) => void,
  decode: (record: RawRecord) => T | Promise<T>,
): Promise<T[]> {
  const decoded: T[] = []
  for await (const record of records) {
    try {
      decoded.push(await decode(record))
    } catch (cause) {
      if (!(cause instanceof InvalidRecordError)) throw cause
      skip({ uri: record.uri, reason: cause.message })
    }
  }
  return decoded
}
