import type { PdsClient } from '../../atproto/pds/pds-client.ts'
import { PdsUnreachableError } from '../../atproto/pds/pds-error.ts'

/** An account's records and blobs in memory, for tests that run where there is no PDS. It is read as a PDS is. */
export class MemoryPds {
  readonly blobs = new Map<string, Uint8Array>()
  /** Calls since it was last emptied: `listRecords dev.skein.pack after …`. */
  readonly calls: string[] = []
  isDown = false
  readonly #records = new Map<string, Map<string, unknown>>()

  put(collection: string, rkey: string, value: unknown): void {
    const records = this.#records.get(collection) ?? new Map<string, unknown>()
    this.#records.set(collection, records)
    records.set(rkey, value)
  }

  delete(collection: string, rkey: string): void {
    this.#records.get(collection)?.delete(rkey)
  }

  /** Only what reading an account takes. */
  get client(): PdsClient {
    const client: Pick<PdsClient, 'service' | 'getRecord' | 'listRecords' | 'getBlob'> = {
      service: 'https://pds.test',
      getRecord: async (did, collection, rkey) => {
        this.#called(`getRecord ${collection}`)
        const value = this.#records.get(collection)?.get(rkey)
        return value === undefined ? null : { uri: `at://${did}/${collection}/${rkey}`, rkey, value }
      },
      listRecords: async ({ did, collection, limit, cursor = '' }) => {
        this.#called(`listRecords ${collection} after ${cursor}`)
        const keys = [...(this.#records.get(collection)?.keys() ?? [])].filter((key) => key > cursor).sort()
        const page = keys.slice(0, limit).map((rkey) => {
          return { uri: `at://${did}/${collection}/${rkey}`, rkey, value: this.#records.get(collection)!.get(rkey) }
        })
        return { records: page, cursor: keys.length > limit ? page.at(-1)!.rkey : null }
      },
      getBlob: async (_, cid) => {
        this.#called(`getBlob ${cid}`)
        const bytes = this.blobs.get(cid)
        return bytes === undefined ? null : new Blob([bytes.slice()]).stream()
      },
    }
    return client as PdsClient
  }

  #called(call: string): void {
    if (this.isDown) throw new PdsUnreachableError('pds.test', 'cannot be reached')
    this.calls.push(call)
  }
}
