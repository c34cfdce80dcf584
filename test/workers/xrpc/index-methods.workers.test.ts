import { env } from 'cloudflare:test'
import { jsonToLex } from '@atproto/lexicon'
import { drizzle } from 'drizzle-orm/d1'
import { beforeAll, describe, expect, it } from 'vitest'
import { REF_COLLECTION, REFS_COLLECTION, REPO_COLLECTION } from '../../../atproto/records/collections.ts'
import { refKey, refsKey } from '../../../atproto/records/record-keys.ts'
import { tidFromTime } from '../../../atproto/records/tid.ts'
import type { Environment } from '../../../durable-objects/environment.ts'
import { IndexReader } from '../../../storage/index/index-reader.ts'
import { IndexStore } from '../../../storage/index/index-store.ts'
import { BlockStore } from '../../../storage/operator/blocks.ts'
import type { XrpcDeps } from '../../../workers/xrpc/deps.ts'
import { lexicons } from '../../../workers/xrpc/lexicons.ts'
import { xrpcRouter } from '../../../workers/xrpc/router.ts'
import { didOf } from '../../storage/index/random-stream.ts'

const db = drizzle((env as unknown as Environment).DB)
const store = new IndexStore(db)
const NOW = 1_795_000_000_000
const deps = { index: new IndexReader(db, () => NOW) } as unknown as XrpcDeps
const [ALICE, BOB, GONE] = [didOf(1), didOf(2), didOf(3)]
const key = (ago: number) => tidFromTime((NOW - ago) * 1000, 0)

function snapshot(did: string, handle: string, from: number) {
  const records = Array.from({ length: 5 }, (_, i) => {
    const rkey = key(from + i * 10)
    const base = {
      name: `app-${from}-${i}`,
      defaultBranch: 'main',
      objectFormat: 'sha1',
      createdAt: '2026-01-01T00:00:00Z',
    }
    const ref = { $type: REF_COLLECTION, name: 'refs/heads/main', seq: 1, target: '1'.repeat(40) }
    const entries = [{ ...ref, $type: undefined, name: 'refs/tags/v1' }]
    return [
      { collection: REPO_COLLECTION, rkey, value: { $type: REPO_COLLECTION, ...base } },
      // One says that it will be pushed in ten years.
      {
        collection: REF_COLLECTION,
        rkey: refKey(rkey, ref.name, 1),
        value: { ...ref, landing: key(i === 4 ? -3e11 : from + i) },
      },
      {
        collection: REFS_COLLECTION,
        rkey: refsKey(rkey, 64, 1),
        value: { $type: REFS_COLLECTION, entries, landing: key(from + i) },
      },
    ]
  }).flat()
  return { did, handle, pds: 'https://pds.test', isActive: true, status: null, rev: key(0), listedAt: NOW, records }
}

beforeAll(async () => {
  await store.replaceAccount(snapshot(ALICE, 'alice.test', 1000), NOW)
  await store.replaceAccount(snapshot(BOB, 'bob.test', 1005), NOW)
  await store.replaceAccount(snapshot(GONE, 'gone.test', 1007), NOW)
  const later = { listedAt: NOW + 1 }
  await store.replaceAccount(
    { ...snapshot(GONE, 'gone.test', 1007), ...later, isActive: false, status: 'takendown' },
    NOW + 1,
  )
  await store.replaceAccount({ ...snapshot(BOB, 'robert.test', 1005), ...later }, NOW + 1)
})

// biome-ignore lint/suspicious/noExplicitAny: what a method answers is checked by its lexicon, and then looked into
type Answer = any

async function ask(nsid: string, params: Record<string, string | number>): Promise<Response> {
  const search = new URLSearchParams(Object.entries(params).map(([name, value]) => [name, `${value}`]))
  return (await xrpcRouter.fetch(new Request(`https://edge.test/xrpc/${nsid}?${search}`), deps))!
}

async function call(nsid: string, params: Record<string, string | number> = {}): Promise<Answer> {
  const response = await ask(nsid, params)
  const body = await response.json()
  expect(response.status, JSON.stringify(body)).toBe(200)
  lexicons.assertValidXrpcOutput(nsid, jsonToLex(body as never))
  return body
}

/** All of a list, page by page, and what the first page of that size is. */
async function pages(
  nsid: string,
  field: string,
  params: Record<string, string | number>,
  limit: number,
): Promise<string[]> {
  const uris: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await call(nsid, { ...params, limit, ...(cursor === undefined ? {} : { cursor }) })
    expect(page[field].length).toBeLessThanOrEqual(limit)
    uris.push(...page[field].map(({ uri }: { uri: string }) => uri))
    if (page.cursor === undefined) return uris
    cursor = page.cursor
  }
}

const isSorted = (values: string[]) => values.every((value, i) => i === 0 || values[i - 1]! >= value)

describe('dev.skein.feed.timeline', () => {
  it('has the newest pushes first, of accounts that are served, and none from the future', async () => {
    const { pushes } = await call('dev.skein.feed.timeline')
    expect(pushes).toHaveLength(18)
    expect(isSorted(pushes.map(({ pushedAt }: Answer) => pushedAt))).toBe(true)
    expect(pushes[0]).toMatchObject({ refs: 1, pushedAt: new Date(NOW - 1000).toISOString() })
    expect(new Set(pushes.map(({ repository }: Answer) => repository.did))).toEqual(new Set([ALICE, BOB]))
  })

  it.each([1, 3, 100])('goes on where a page of %i has ended', async (limit) => {
    for (const kind of ['pushes', 'repositories']) {
      for (const params of [{ kind }, { kind, actor: ALICE }]) {
        const all: string[] = (await call('dev.skein.feed.timeline', params))[kind].map(({ uri }: Answer) => uri)
        expect(await pages('dev.skein.feed.timeline', kind, params, limit)).toEqual(all)
        expect(new Set(all).size).toBe(all.length)
      }
    }
  })

  it('has the newest repositories', async () => {
    const { repositories } = await call('dev.skein.feed.timeline', { kind: 'repositories' })
    expect(repositories).toHaveLength(10)
    expect(repositories[0]).toMatchObject({ handle: 'alice.test', name: 'app-1000-0' })
    const own = await call('dev.skein.feed.timeline', { kind: 'repositories', actor: 'robert.test' })
    expect(own.repositories).toHaveLength(5)
  })
})

describe('dev.skein.actor', () => {
  it('knows accounts by DID, handle and former handle', async () => {
    const bob = {
      did: BOB,
      handle: 'robert.test',
      repositories: 5,
      size: 0,
      pushedAt: new Date(NOW - 1005).toISOString(),
    }
    for (const actor of [BOB, 'robert.test', 'Bob.test']) {
      expect(await call('dev.skein.actor.getProfile', { actor })).toEqual(bob)
    }
    for (const actor of [GONE, 'gone.test', didOf(9), 'nobody.test']) {
      for (const nsid of ['dev.skein.actor.getProfile', 'dev.skein.actor.listRepos']) {
        const response = await ask(nsid, { actor })
        expect([response.status, ((await response.json()) as Answer).error]).toEqual([404, 'ActorNotFound'])
      }
    }
  })

  it.each(['pushed', 'name', 'created'])('lists repositories by %s', async (sort) => {
    const { repositories } = await call('dev.skein.actor.listRepos', { actor: 'alice.test', sort })
    const names: string[] = repositories.map(({ name }: Answer) => name)
    const expected = { pushed: [4, 0, 1, 2, 3], name: [0, 1, 2, 3, 4], created: [0, 1, 2, 3, 4] }[sort]!
    expect(names).toEqual(expected.map((i) => `app-1000-${i}`))
    const uris = repositories.map(({ uri }: Answer) => uri)
    expect(await pages('dev.skein.actor.listRepos', 'repositories', { actor: ALICE, sort }, 2)).toEqual(uris)
  })
})

describe('dev.skein.repo.search', () => {
  it('finds repositories, and accounts on the first page', async () => {
    const page = await call('dev.skein.repo.search', { q: 'alice', limit: 2 })
    expect(page.actors).toEqual([{ did: ALICE, handle: 'alice.test', repositories: 5 }])
    expect(page.repositories).toHaveLength(2)
    expect((await call('dev.skein.repo.search', { q: 'alice', limit: 2, cursor: page.cursor })).actors).toEqual([])
    expect(await pages('dev.skein.repo.search', 'repositories', { q: 'app' }, 3)).toHaveLength(10)
    expect((await call('dev.skein.repo.search', { q: 'gone' })).repositories).toEqual([])
  })

  it.each([
    ['dev.skein.repo.search', { q: ' ' }],
    ['dev.skein.repo.search', { q: 'x', limit: 101 }],
    ['dev.skein.repo.search', { q: 'x', cursor: 'x' }],
    ['dev.skein.repo.search', { q: 'x', cursor: Buffer.from('[1,2,3,"4"]').toString('base64url') }],
    ['dev.skein.repo.search', { q: 'x', cursor: Buffer.from('[1,2,3,1e999]').toString('base64url') }],
    ['dev.skein.feed.timeline', { cursor: Buffer.from('{}').toString('base64url') }],
    ['dev.skein.feed.timeline', { kind: 'stars' }],
    ['dev.skein.feed.timeline', { cursor: Buffer.from('["a","b"]').toString('base64url') }],
    ['dev.skein.actor.listRepos', { actor: ALICE, sort: 'size' }],
    ['dev.skein.actor.getProfile', { actor: '\0' }],
  ] as [string, Record<string, string | number>][])('%s refuses %j', async (nsid, params) => {
    const response = await ask(nsid, params)
    expect([response.status, ((await response.json()) as Answer).error]).toEqual([400, 'InvalidRequest'])
  })
})

describe('what the operator blocks', () => {
  const blocks = new BlockStore(db)
  const block = (did: string, rkey: string | null) => blocks.put({ did, rkey, reason: 'spam', createdAt: NOW })
  const found = async (q: string) =>
    (await call('dev.skein.repo.search', { q })).repositories.map(({ uri }: { uri: string }) => uri)
  const ofAlice = (uris: readonly string[]) => uris.filter((uri) => uri.includes(ALICE))
  const listed = async () =>
    (await call('dev.skein.actor.listRepos', { actor: 'alice.test', limit: 100 })).repositories.map(
      ({ uri }: { uri: string }) => uri,
    )

  it('is in no answer while it is blocked, and in all of them after', async () => {
    const all = await listed()
    expect(all).toHaveLength(5)
    const [uri] = all
    const rkey = uri.split('/').at(-1)
    await block(ALICE, rkey)
    expect(await listed()).toEqual(all.slice(1))
    expect(ofAlice(await found('app'))).not.toContain(uri)
    expect(JSON.stringify(await call('dev.skein.feed.timeline', { limit: 100 }))).not.toContain(uri)
    await blocks.remove({ did: ALICE, rkey })
    expect(await listed()).toEqual(all)

    await block(ALICE, null)
    expect(ofAlice(await found('app'))).toEqual([])
    expect(JSON.stringify(await call('dev.skein.feed.timeline', { limit: 100 }))).not.toContain(ALICE)
    expect((await ask('dev.skein.actor.getProfile', { actor: 'alice.test' })).status).not.toBe(200)
    await blocks.remove({ did: ALICE, rkey: null })
    expect(ofAlice(await found('app'))).toHaveLength(5)
    expect(await listed()).toEqual(all)
  })
})
