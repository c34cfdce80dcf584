import { isObject } from '../network/json.ts'
import type { PdsClient, RepoStatus } from '../pds/pds-client.ts'
import { PACK_COLLECTION } from '../records/collections.ts'
import { listRange } from './list-range.ts'
import { PACK_PAGE_SIZE } from './read-repository.ts'

/** A record of an account: its JSON as it came. */
export interface ListedRecord {
  readonly collection: string
  readonly rkey: string
  readonly value: unknown
}

/** An account's records, and what its host said of it before they were listed: they are at least as new as `rev`. */
export interface ListedAccount extends RepoStatus {
  readonly records: readonly ListedRecord[]
}

/**
 * All records of an account in some collections, without the bytes of packs: `bytes` are there, and empty. Null: its host
 * does not have the account. One that is not active is not listed.
 */
export async function listAccount(
  client: PdsClient,
  did: string,
  collections: readonly string[],
): Promise<ListedAccount | null> {
  const status = await client.getRepoStatus(did)
  if (status === null) return null
  const records: ListedRecord[] = []
  if (!status.isActive) return { ...status, records }
  // One after the other: pages of packs are large.
  for (const collection of collections) {
    const pageSize = collection === PACK_COLLECTION ? { pageSize: PACK_PAGE_SIZE } : {}
    for await (const { rkey, value } of listRange(client, { did, collection, prefix: '', ...pageSize })) {
      records.push({ collection, rkey, value: collection === PACK_COLLECTION ? withoutBytes(value) : value })
    }
  }
  return { ...status, records }
}

function withoutBytes(value: unknown): unknown {
  return isObject(value) && value.bytes !== undefined ? { ...value, bytes: { $bytes: '' } } : value
}
