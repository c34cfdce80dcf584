import type { PdsClient } from '../../atproto/pds/pds-client.ts'
import { PdsError, PdsUnreachableError } from '../../atproto/pds/pds-error.ts'
import type { Write } from '../../atproto/pds/write.ts'

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

  /** All or nothing, as the reference PDS does it. @throws {@link PdsError} 500 for a key that is taken, or not there */
  applyWrites(writes: readonly Write[]): void {
    const has = ({ collection, rkey }: Write) => this.#records.get(collection)?.has(rkey) ?? false
    const failing = writes.find((write) => (write.action === 'create') === has(write))
    if (failing) throw new PdsError('pds.test', 500, 'InternalServerError', `${failing.action} ${failing.rkey}`, null)
    for (const write of writes) {
      if (write.action === 'delete') this.delete(write.collection, write.rkey)
      else this.put(write.collection, write.rkey, write.value)
    }
  }

  keys(collection: string): string[] {
    return [...(this.#records.get(collection)?.keys() ?? [])].sort()
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
        return { records: page, cursor: keys.length > limit ? page.at(-1)!.rkey : null, length: 0 }
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
