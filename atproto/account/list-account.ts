import type { PdsClient, RecordPage, RepoStatus } from '../pds/pds-client.ts'
import { PdsError } from '../pds/pds-error.ts'
import { PACK_COLLECTION } from '../records/collections.ts'
import { listRange } from './list-range.ts'

/** A record of an account: its JSON as it came. */
export interface ListedRecord {
  readonly collection: string
  readonly rkey: string
  readonly value: unknown
}

/** An account's records, and what its host said of it before they were listed: they are at least as new as `rev`. */
export interface ListedAccount extends RepoStatus {
  /** Their values are what was made of them. */
  readonly records: readonly ListedRecord[]
}

export interface ListAccountOptions {
  readonly did: string
  readonly collections: readonly string[]
  /** What is held of a record until all are there, and about how many bytes of memory that takes. */
  readonly condense: (record: ListedRecord) => { readonly value: unknown; readonly bytes: number }
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Default {@link LISTING_LIMITS}. */
  readonly limits?: ListingLimits
}

/** What bounds one listing of an account, whatever its host sends. */
export interface ListingLimits {
  /** Bytes of a page; where records are larger it has fewer. Three accounts are listed at once, and each page is there twice. */
  readonly pageBytes: number
  readonly pages: number
  /** UTF-16 units of all pages: reading them takes CPU, of which five minutes are there for some accounts. */
  readonly length: number
  /** Bytes that are held of all records. */
  readonly heldBytes: number
  /** No page is asked for after so many milliseconds. */
  readonly time: number
}

export const LISTING_LIMITS: ListingLimits = {
  pageBytes: 4 * 1024 * 1024,
  pages: 5_000,
  length: 1024 * 1024 * 1024,
  heldBytes: 20_000_000,
  time: 2 * 60_000,
}

/** Packs a page: with all of them inline a page has 3 MiB. */
const PACKS_A_PAGE = 12

/**
 * All records of an account in some collections. Null: its host does not have the account. One that is not active is not
 * listed.
 *
 * @throws {@link PdsError} also where there is more than the limits allow
 */
export async function listAccount(client: PdsClient, options: ListAccountOptions): Promise<ListedAccount | null> {
  const { did, collections, condense, now, limits = LISTING_LIMITS } = options
  const budget = new ListingBudget(client, limits, now)
  const status = await client.getRepoStatus(did)
  if (status === null) return null
  const records: ListedRecord[] = []
  if (!status.isActive) return { ...status, records }
  // One after the other: pages of packs are large.
  for (const collection of collections) {
    const range = listRange(client, {
      did,
      collection,
      prefix: '',
      pageBytes: limits.pageBytes,
      onPage: (page) => budget.page(page),
      ...(collection === PACK_COLLECTION ? { pageSize: PACKS_A_PAGE } : {}),
    })
    for await (const { rkey, value } of range) {
      const { value: held, bytes } = condense({ collection, rkey, value })
      budget.hold(bytes)
      records.push({ collection, rkey, value: held })
    }
  }
  return { ...status, records }
}

/** What of the limits is used up. */
class ListingBudget {
  readonly #host: string
  readonly #limits: ListingLimits
  readonly #now: () => number
  readonly #begun: number
  #pages = 0
  #length = 0
  #held = 0

  constructor(client: PdsClient, limits: ListingLimits, now: () => number) {
    this.#host = new URL(client.service).host
    this.#limits = limits
    this.#now = now
    this.#begun = now()
  }

  /** @throws {@link PdsError} */
  page({ length }: RecordPage): void {
    const { pages, length: longest, time } = this.#limits
    this.#pages++
    this.#length += length
    const seconds = time / 1000
    if (this.#pages > pages) throw this.#refusal(`sent over ${pages} pages of records`)
    if (this.#length > longest) throw this.#refusal(`sent over ${longest} characters of records`)
    if (this.#now() - this.#begun > time)
      throw this.#refusal(`did not send all records within ${seconds} s (${this.#pages} pages came)`)
  }

  /** @throws {@link PdsError} */
  hold(bytes: number): void {
    const { heldBytes } = this.#limits
    this.#held += bytes
    if (this.#held > heldBytes) throw this.#refusal(`sent more records than fit into ${heldBytes} bytes`)
  }

  #refusal(reason: string): PdsError {
    return new PdsError(this.#host, 200, 'InvalidResponse', `it ${reason}`, null)
  }
}
