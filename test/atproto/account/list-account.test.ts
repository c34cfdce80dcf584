import { describe, expect, it } from 'vitest'
import { LISTING_LIMITS, type ListingLimits, listAccount } from '../../../atproto/account/list-account.ts'
import type { ListRecordsOptions, PdsClient, RecordPage } from '../../../atproto/pds/pds-client.ts'
import { PACK_COLLECTION, REPO_COLLECTION } from '../../../atproto/records/collections.ts'

const DID = 'did:plc:abcdefghijklmnopqrstuvwx'
const REV = '3lzkosecbps2a'

class Host {
  now = 1_796_000_000_000
  /** Milliseconds that a page takes. */
  pace = 10
  readonly asked: ListRecordsOptions[] = []
  readonly #page: (options: ListRecordsOptions, n: number) => Partial<RecordPage>

  /** @param page the n-th of all, from 1 on */
  constructor(page: (options: ListRecordsOptions, n: number) => Partial<RecordPage>) {
    this.#page = page
  }

  list(limits: Partial<ListingLimits> = {}, collections = [REPO_COLLECTION, PACK_COLLECTION]) {
    const client: Pick<PdsClient, 'service' | 'getRepoStatus' | 'listRecords'> = {
      service: 'https://pds.test',
      getRepoStatus: async () => ({ isActive: true, status: null, rev: REV }),
      listRecords: async (options) => {
        this.asked.push(options)
        this.now += this.pace
        return { records: [], cursor: null, length: 100, ...this.#page(options, this.asked.length) }
      },
    }
    return listAccount(client as PdsClient, {
      did: DID,
      collections,
      condense: ({ value }) => ({ value: (value as { name: string }).name, bytes: 1000 }),
      now: () => this.now,
      limits: { ...LISTING_LIMITS, ...limits },
    })
  }
}

const keyOf = (n: number) => String(n).padStart(9, '0')
const fullPage = ({ limit }: ListRecordsOptions, n: number): Partial<RecordPage> => ({
  records: Array.from({ length: limit }, (_, i) => {
    const rkey = keyOf(n * 1000 + i)
    return { uri: `at://${DID}/c/${rkey}`, rkey, value: { name: rkey, junk: 'x' } }
  }),
  cursor: keyOf(n * 1000 + limit),
})

describe('an account that is listed', () => {
  it('is held as what is made of its records, a page of which is in memory at a time', async () => {
    const host = new Host((options, n) => (n < 4 ? fullPage(options, n) : {}))
    const listed = await host.list()
    expect(listed!.records).toHaveLength(300)
    expect(listed!.records[0]).toEqual({ collection: REPO_COLLECTION, rkey: keyOf(1000), value: keyOf(1000) })
    expect(host.asked.map(({ limit, maxBytes }) => [limit, maxBytes])).toEqual([
      ...Array(4).fill([100, 4_194_304]),
      [12, 4_194_304],
    ])
  })

  it.each<[string, (options: ListRecordsOptions, n: number) => Partial<RecordPage>, Partial<ListingLimits>, string]>([
    ['pages of what is no record, without end', (_, n) => ({ cursor: keyOf(n) }), { pages: 50 }, 'sent over 50 pages'],
    ['records without end', fullPage, { heldBytes: 1_000_000 }, 'sent more records than fit into 1000000 bytes'],
    [
      'pages of megabytes',
      (o, n) => ({ ...fullPage(o, n), length: 4e6 }),
      { length: 1e8 },
      'over 100000000 characters',
    ],
  ])('is given up where its host sends %s', async (_, page, limits, reason) => {
    const host = new Host(page)
    await expect(host.list(limits)).rejects.toThrow(
      `pds.test answered 200 InvalidResponse: it ${reason.startsWith('over') ? `sent ${reason}` : reason}`,
    )
    expect(host.asked.length).toBeLessThan(60)
  })

  it('is given up where its host takes too long for all of it, although it answers', async () => {
    const host = new Host(fullPage)
    host.pace = 9000
    await expect(host.list()).rejects.toThrow('did not send all records within 120 s (14 pages came)')
  })

  it('is bounded over all its collections', async () => {
    const host = new Host((options, n) =>
      n % 30 === 0 ? {} : { cursor: keyOf(n), records: fullPage(options, n).records! },
    )
    await expect(host.list({ pages: 50 })).rejects.toThrow('sent over 50 pages')
    expect(host.asked.at(-1)!.collection).toBe(PACK_COLLECTION)
  })
})
