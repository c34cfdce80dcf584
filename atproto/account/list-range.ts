import type { PdsClient, RawRecord, RecordPage } from '../pds/pds-client.ts'
import { PdsError } from '../pds/pds-error.ts'

export interface RangeOptions {
  readonly did: string
  readonly collection: string
  /** Record keys that start with this. '' for the whole collection. */
  readonly prefix: string
  /** The rkey after which to start, exclusive; it need not exist. Default: before the first of the prefix. */
  readonly after?: string
  /** Records a request, at most 100. */
  readonly pageSize?: number
  /** More than this are taken for an attack, whether they are records or not. Default 200,000. */
  readonly maxRecords?: number
  /** Bytes of a page. Default: the client's. */
  readonly pageBytes?: number
  /** Hears of each page before its records are given out, and may throw to end it. */
  readonly onPage?: (page: RecordPage) => void
}

const MAX_PAGE_SIZE = 100
/** A collection of one repository: 100,000 refs and what deleted ones leave. */
const MAX_RECORDS = 200_000
/** As many packs are in so many pages. */
const MAX_PAGES = 6_000

/**
 * All records whose keys start with a prefix, by key, smallest first. Each page is one request.
 *
 * @throws {@link PdsError} also where the pages do not advance, or never end
 */
export async function* listRange(client: PdsClient, options: RangeOptions): AsyncGenerator<RawRecord> {
  const { did, collection, prefix, maxRecords = MAX_RECORDS, pageBytes, onPage } = options
  let limit = options.pageSize ?? MAX_PAGE_SIZE
  let cursor = options.after ?? (prefix === '' ? undefined : prefix)
  const size = pageBytes === undefined ? {} : { maxBytes: pageBytes }
  for (let listed = 0, pages = 1; ; pages++) {
    const asked = { did, collection, limit, cursor, reverse: true, ...size }
    const page = await client.listRecords(asked).catch((fault: unknown) => {
      // A page of unusually large records: a smaller one may pass. A single record always should.
      if (fault instanceof PdsError && fault.error === 'ResponseTooLarge' && limit > 1) return null
      throw fault
    })
    if (!page) {
      limit = Math.ceil(limit / 4)
      continue
    }
    onPage?.(page)
    for (const record of page.records) if (record.rkey.startsWith(prefix)) yield record
    // Each page that is not the last is full, though there may be no record in it.
    listed += limit
    const last = page.records.at(-1)?.rkey
    if (page.cursor === null || (last !== undefined && !last.startsWith(prefix))) return
    if (listed > maxRecords || pages > MAX_PAGES || (cursor !== undefined && page.cursor <= cursor)) {
      throw new PdsError(new URL(client.service).host, 200, 'InvalidResponse', 'the list of records does not end', null)
    }
    cursor = page.cursor
  }
}
