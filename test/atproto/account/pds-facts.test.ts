import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listRange } from '../../../atproto/account/list-range.ts'
import { PdsError } from '../../../atproto/pds/pds-error.ts'
import type { Write } from '../../../atproto/pds/write.ts'
import { type LocalAccount, startLocalAccount } from '../local-account.ts'

/** What the storage format builds on, asked of the reference PDS itself. */

const COLLECTION = 'dev.skein.fact'
const RANGE_COLLECTION = 'dev.skein.range'
let local: LocalAccount

beforeAll(async () => {
  local = await startLocalAccount()
}, 60_000)
afterAll(() => local[Symbol.asyncDispose]())

function create(rkey: string, value: Record<string, unknown> = {}): Write {
  return { action: 'create', collection: COLLECTION, rkey, value: { $type: COLLECTION, ...value } }
}

async function statusOf(writes: readonly Write[]): Promise<number> {
  try {
    await local.applyWrites(writes)
    return 200
  } catch (fault) {
    if (fault instanceof PdsError) return fault.status
    throw fault
  }
}

async function exists(rkey: string): Promise<boolean> {
  return (await local.client.getRecord(local.account.did, COLLECTION, rkey)) !== null
}

describe('applyWrites', () => {
  test.each<[string, Write]>([
    ['a create of a key that is taken', create('taken')],
    ['a delete of a missing key', { action: 'delete', collection: COLLECTION, rkey: 'missing' }],
    ['an update of a missing key', { ...create('missing'), action: 'update' } as Write],
  ])('fails whole for %s', async (name, bad) => {
    if (!(await exists('taken'))) await local.applyWrites([create('taken')])
    const beside = `beside-${name.split(' ')[1]}`
    expect(await statusOf([create(beside), bad])).toBe(500)
    expect(await exists(beside)).toBe(false)
  })

  test('takes an update in place with the same content', async () => {
    await local.applyWrites([create('same', { n: 1 })])
    expect(await statusOf([{ ...create('same', { n: 1 }), action: 'update' } as Write])).toBe(200)
  })

  test('takes 200 writes, and not 201', async () => {
    const writes = Array.from({ length: 201 }, (_, i) => create(`many-${i}`))
    expect(await statusOf(writes)).toBe(400)
    expect(await statusOf(writes.slice(0, 200))).toBe(200)
  })

  test('takes 990,000 bytes, and not much more than 1,000,000', async () => {
    const text = (length: number) => ({ text: 'x'.repeat(length) })
    expect(await statusOf([create('large', text(989_000))])).toBe(200)
    expect(await statusOf([create('larger', text(1_000_001))])).toBe(413)
  })
})

describe('listRecords', () => {
  test('with reverse starts after the cursor, which need not exist, smallest key first', async () => {
    const keys = ['b:1', 'b:10', 'b:2', 'c:1', 'a:1']
    const value = { $type: RANGE_COLLECTION }
    await local.applyWrites(keys.map((rkey) => ({ action: 'create', collection: RANGE_COLLECTION, rkey, value })))
    const found = []
    for await (const { rkey } of listRange(local.client, {
      did: local.account.did,
      collection: RANGE_COLLECTION,
      prefix: 'b:',
      pageSize: 2,
    })) {
      found.push(rkey)
    }
    expect(found).toEqual(['b:1', 'b:10', 'b:2'])
    const page = await local.client.listRecords({
      did: local.account.did,
      collection: RANGE_COLLECTION,
      limit: 2,
      cursor: 'b:15',
      reverse: true,
    })
    expect(page.records.map(({ rkey }) => rkey)).toEqual(['b:2', 'c:1'])
  })
})

test('describeServer says how large a blob may be', async () => {
  const { blobUploadLimit, did } = await local.client.describeServer()
  expect(did).toMatch(/^did:web:/)
  expect(blobUploadLimit).toBe(5 * 1024 * 1024)
})

test('a blob goes in and comes out, until the last record that names it is gone', async () => {
  const bytes = crypto.getRandomValues(new Uint8Array(65_536))
  const stream = new Blob([bytes]).stream()
  const blob = await local.client.uploadBlob(stream, local.account.accessJwt)
  expect(blob).toMatchObject({ $type: 'blob', size: bytes.length })
  await local.applyWrites([create('with-blob', { parts: [blob] })])
  const back = await local.client.getBlob(local.account.did, blob.ref.$link, 1_000_000)
  expect(new Uint8Array(await new Response(back).arrayBuffer())).toEqual(bytes)
  const capped = await local.client.getBlob(local.account.did, blob.ref.$link, 1000)
  await expect(new Response(capped).arrayBuffer()).rejects.toThrow('more than 1000 bytes')
  await local.applyWrites([{ action: 'delete', collection: COLLECTION, rkey: 'with-blob' }])
  expect(await local.client.getBlob(local.account.did, blob.ref.$link, 1_000_000)).toBe(null)
})
