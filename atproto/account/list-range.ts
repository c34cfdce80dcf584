import type { PdsClient, RawRecord } from '../pds/pds-client.ts'
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
  /** More than this are taken for an attack. Default 200,000. */
  readonly maxRecords?: number
}

const MAX_PAGE_SIZE = 100
/** A collection of one repository: 100,000 refs and what deleted ones leave. */
const MAX_RECORDS = 200_000

/**
 * All records whose keys start with a prefix, by key, smallest first. Each page is one request.
 *
 * @throws {@link PdsError} also where the pages do not advance, or never end
 */
export async function* listRange(client: PdsClient, options: RangeOptions): AsyncGenerator<RawRecord> {
  const { did, collection, prefix, maxRecords = MAX_RECORDS } = options
  let limit = options.pageSize ?? MAX_PAGE_SIZE
  let cursor = options.after ?? (prefix === '' ? undefined : prefix)
  for (let listed = 0; ; ) {
    const page = await client.listRecords({ did, collection, limit, cursor, reverse: true }).catch((fault: unknown) => {
      // A page of unusually large records: a smaller one may pass. A single record always should.
      if (fault instanceof PdsError && fault.error === 'ResponseTooLarge' && limit > 1) return null
      throw fault
    })
    if (!page) {
      limit = Math.ceil(limit / 4)
      continue
    }
    for (const record of page.records) if (record.rkey.startsWith(prefix)) yield record
    listed += page.records.length
    const last = page.records.at(-1)?.rkey
    if (page.cursor === null || (last !== undefined && !last.startsWith(prefix))) return
    if (listed > maxRecords || (cursor !== undefined && page.cursor <= cursor)) {
      throw new PdsError(new URL(client.service).host, 200, 'InvalidResponse', 'the list of records does not end', null)
    }
    cursor = page.cursor
  }
}
