import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findRepositories } from '../../../atproto/account/find-repositories.ts'
import { listRange } from '../../../atproto/account/list-range.ts'
import { readRepository } from '../../../atproto/account/read-repository.ts'
import type { SkippedRecord } from '../../../atproto/account/skipped-record.ts'
import type { ListRecordsOptions, PdsClient, RecordPage } from '../../../atproto/pds/pds-client.ts'
import { PdsError } from '../../../atproto/pds/pds-error.ts'
import type { Write } from '../../../atproto/pds/write.ts'
import { PACK_COLLECTION, REF_COLLECTION, REPO_COLLECTION } from '../../../atproto/records/collections.ts'
import { encodePackRecord } from '../../../atproto/records/pack-record.ts'
import { nameHash, packKey, refKey } from '../../../atproto/records/record-keys.ts'
import { encodeRefRecord } from '../../../atproto/records/ref-record.ts'
import { encodeRepoRecord } from '../../../atproto/records/repo-record.ts'
import { TidClock, tidFromTime } from '../../../atproto/records/tid.ts'
import { type LocalAccount, startLocalAccount } from '../local-account.ts'
import { MemoryPds } from '../memory-pds.ts'

let local: LocalAccount
const tids = new TidClock()
const OID = '1'.repeat(40)
const CREATED = '2026-11-30T12:00:00Z'

beforeAll(async () => {
  local = await startLocalAccount()
}, 60_000)
afterAll(() => local[Symbol.asyncDispose]())

function create(collection: string, rkey: string, value: Record<string, unknown>): Write {
  return { action: 'create', collection, rkey, value: { $type: collection, ...value } }
}

function repo(rkey: string, name: string): Write {
  return create(
    REPO_COLLECTION,
    rkey,
    encodeRepoRecord({ name, defaultBranch: 'main', objectFormat: 'sha1', createdAt: CREATED }),
  )
}

function pack(rkey: string, size = 32): Write {
  const record = { bytes: new Uint8Array(size), size, objects: 0, checksum: OID, thin: false, createdAt: CREATED }
  return create(PACK_COLLECTION, rkey, encodePackRecord(record))
}

function ref(repoKey: string, name: string, needed?: string): Write {
  const entry = { name, target: OID, seq: 1, ...(needed === undefined ? {} : { pack: needed }) }
  return create(REF_COLLECTION, refKey(repoKey, name, 1), encodeRefRecord(entry))
}

describe('readRepository', () => {
  test('reads what belongs to the repository, and says what it had to skip', async () => {
    const [before, own, after] = [tids.next(), tids.next(), tids.next()]
    const packs = [packKey(own, tids.next()), packKey(own, tids.next())]
    const hostile = [
      create(REF_COLLECTION, `${own}:${nameHash('refs/heads/x')}:1`, { name: 'refs/heads/x', target: 'zzz', seq: 1 }),
      create(REF_COLLECTION, `${own}:zzz`, { name: 'refs/heads/y', target: OID, seq: 1 }),
      create(PACK_COLLECTION, packKey(own, tids.next()), { size: 'large' }),
    ]
    await local.applyWrites([
      repo(before, 'before'),
      repo(own, 'own'),
      repo(after, 'after'),
      pack(packKey(before, tids.next())),
      ...packs.map((rkey) => pack(rkey)),
      pack(packKey(after, tids.next())),
      ref(before, 'refs/heads/main'),
      ref(own, 'refs/heads/main', packs[1]),
      ref(after, 'refs/heads/main'),
      ...hostile,
    ])
    const stored = (await readRepository(local.client, local.account.did, own))!
    expect(stored.repo.name).toBe('own')
    expect(stored.packs.map(({ rkey }) => rkey)).toEqual(packs)
    expect([...stored.refs.keys()]).toEqual(['refs/heads/main'])
    expect(stored.head).toBe(null)
    const uris = hostile.map(({ collection, rkey }) => `at://${local.account.did}/${collection}/${rkey}`)
    expect(stored.skipped.map(({ uri }) => uri).sort()).toEqual(uris.sort())
    const newer = await readRepository(local.client, local.account.did, own, { since: packs[0]! })
    expect(newer!.packs.map(({ rkey }) => rkey)).toEqual([packs[1]])
  })

  test('answers null for what is not there, or is no repository', async () => {
    const rkey = tids.next()
    await local.applyWrites([create(REPO_COLLECTION, rkey, { name: 'no fields' })])
    expect(await readRepository(local.client, local.account.did, rkey)).toBe(null)
    expect(await readRepository(local.client, local.account.did, tids.next())).toBe(null)
  })

  test('takes four requests, and lists packs again only for a ref that names one it has not seen', async () => {
    const own = tids.next()
    const old = packKey(own, tids.next())
    const late = packKey(own, tids.next())
    await local.applyWrites([repo(own, 'late'), pack(old), ref(own, 'refs/heads/a', old)])
    const read = () => readRepository(local.client, local.account.did, own)
    expect(await local.requestsOf(read)).toHaveLength(4)
    await local.applyWrites([ref(own, 'refs/heads/b', late)])
    // The pack arrives after the first list was made.
    let lists = 0
    const client = Object.create(local.client, {
      getRecord: { value: local.client.getRecord.bind(local.client) },
      listRecords: {
        value: async (options: ListRecordsOptions) => {
          const page = await local.client.listRecords(options)
          if (options.collection === PACK_COLLECTION && ++lists === 1) await local.applyWrites([pack(late)])
          return page
        },
      },
    }) as PdsClient
    const stored = await readRepository(client, local.account.did, own)
    expect(stored!.packs.map(({ rkey }) => rkey)).toEqual([old, late])
    expect(lists).toBe(2)
  })

  test('does not list again for a pack that was compacted away long ago', async () => {
    const own = tids.next()
    const gone = packKey(own, tidFromTime((Date.now() - 3_600_000) * 1000, 1))
    await local.applyWrites([repo(own, 'compacted'), pack(packKey(own, tids.next())), ref(own, 'refs/tags/old', gone)])
    expect(await local.requestsOf(() => readRepository(local.client, local.account.did, own))).toHaveLength(4)
  })
})

test('of a repository with hosts of invalid records some are told of, and all else is read', async () => {
  const pds = new MemoryPds()
  const rkey = tids.next()
  const { value } = repo(rkey, 'app') as { value: unknown }
  pds.put(REPO_COLLECTION, rkey, value)
  for (let n = 0; n < 500; n++) pds.put(REF_COLLECTION, refKey(rkey, `refs/heads/${n}`, 1), { name: 7 })
  const stored = await readRepository(pds.client, 'did:plc:a', rkey)
  expect([stored!.repo.name, stored!.skipped.length]).toEqual(['app', 100])
})

describe('findRepositories', () => {
  test('lists the oldest repository of a name first, and none whose key could have no packs', async () => {
    const [first, second] = [tids.next(), tids.next()]
    await local.applyWrites([repo(second, 'same'), repo(first, 'same'), repo('self', 'same')])
    const skipped: SkippedRecord[] = []
    const found = await findRepositories(local.client, local.account.did, (record) => skipped.push(record))
    expect(found.filter(({ record }) => record.name === 'same').map(({ rkey }) => rkey)).toEqual([first, second])
    expect(skipped.map(({ uri }) => uri)).toContain(`at://${local.account.did}/${REPO_COLLECTION}/self`)
    expect(found.map(({ rkey }) => rkey)).not.toContain('self')
  })
})

describe('listRange', () => {
  /** A host that lists in its own way. */
  function host(list: (options: ListRecordsOptions) => Omit<RecordPage, 'length'>): PdsClient {
    return {
      service: 'https://pds.example.com',
      listRecords: async (options: ListRecordsOptions) => ({ ...list(options), length: 0 }),
    } as unknown as PdsClient
  }

  async function keysOf(client: PdsClient, pageSize: number): Promise<string[]> {
    const keys = []
    for await (const { rkey } of listRange(client, { did: 'did:plc:a', collection: 'c', prefix: 'p:', pageSize }))
      keys.push(rkey)
    return keys
  }

  test('asks for fewer records where a page is too large', async () => {
    const limits: number[] = []
    const client = host(({ limit, cursor }) => {
      limits.push(limit)
      if (limit > 3) throw new PdsError('pds.example.com', 200, 'ResponseTooLarge', '', null)
      const next = cursor === 'p:' ? 'p:1' : 'p:2'
      return { records: [{ uri: '', rkey: next, value: {} }], cursor: next === 'p:1' ? 'p:1' : null }
    })
    expect(await keysOf(client, 36)).toEqual(['p:1', 'p:2'])
    expect(limits).toEqual([36, 9, 3, 3])
  })

  test('stops at the end of the range, and leaves out what is not in it', async () => {
    const keys = ['a:1', 'p:1', 'q:1']
    const client = host(() => ({ records: keys.map((rkey) => ({ uri: '', rkey, value: {} })), cursor: 'q:1' }))
    expect(await keysOf(client, 3)).toEqual(['p:1'])
  })

  test('gives up on a list that does not advance', async () => {
    const client = host(() => ({ records: [{ uri: '', rkey: 'p:1', value: {} }], cursor: 'p:1' }))
    await expect(keysOf(client, 1)).rejects.toThrow('does not end')
  })

  test('gives up on full pages of what is no record, without end', async () => {
    let pages = 0
    const client = host(() => ({ records: [], cursor: `p:${String(++pages).padStart(6, '0')}` }))
    await expect(keysOf(client, 100)).rejects.toThrow('does not end')
    expect(pages).toBe(2001)
    await expect(keysOf(client, 1)).rejects.toThrow('does not end')
    expect(pages).toBe(2001 + 6001)
  })
})
