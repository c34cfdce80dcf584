import { env } from 'cloudflare:test'
import { drizzle } from 'drizzle-orm/d1'
import { beforeAll, describe, expect, it } from 'vitest'
import { REF_COLLECTION, REPO_COLLECTION } from '../../../atproto/records/collections.ts'
import { refKey } from '../../../atproto/records/record-keys.ts'
import { tidFromTime } from '../../../atproto/records/tid.ts'
import type { Environment } from '../../../durable-objects/environment.ts'
import { nameWords } from '../../../storage/directory/repository-row.ts'
import { IndexReader } from '../../../storage/index/index-reader.ts'
import { IndexStore } from '../../../storage/index/index-store.ts'
import type { Page, Position } from '../../../storage/index/keyset.ts'
import { parseSearch } from '../../../storage/index/search-query.ts'
import { BlockStore } from '../../../storage/operator/blocks.ts'
import { didOf } from './random-stream.ts'

const { DB } = env as unknown as Environment
const db = drizzle(DB)
const store = new IndexStore(db)
const NOW = 1_795_000_000_000
const reader = new IndexReader(db, () => NOW)
/** Of one account; the first ones are the oldest. */
const REPOSITORIES: Record<string, Record<string, unknown>> = {
  'my-app_v2': { description: 'Says hello' },
  XMLHttpParser: { description: 'Reads documents', topics: ['xml', 'machine-learning'] },
  dotfiles: { description: 'What I use, my parser too' },
  parser: { description: 'One more' },
  'café-au-lait': { description: 'Größe und Maße' },
  日本語: {},
  hindi: { description: 'हिन्दी में' },
  plain: { description: 'a parser for parsers: parser, parser', topics: ['Parsing'] },
}

beforeAll(async () => {
  const records = Object.entries(REPOSITORIES)
    .filter(([name]) => /^[\w.-]+$/.test(name) || name.startsWith('caf'))
    .map(([name, fields], i) => ({
      collection: REPO_COLLECTION,
      rkey: tidFromTime((NOW - 1_000_000 + i) * 1000, 0),
      value: {
        ...{ $type: REPO_COLLECTION, name: name.replace('é', 'e'), defaultBranch: 'main', objectFormat: 'sha1' },
        ...{ createdAt: '2026-01-01T00:00:00Z', ...fields },
      },
    }))
  const alice = { did: didOf(1), handle: 'alice.host.test', pds: 'https://pds.test' }
  await store.replaceAccount(
    { ...alice, isActive: true, status: null, rev: tidFromTime(NOW * 1000, 0), listedAt: NOW, records },
    NOW,
  )
})

async function search(text: string, topic?: string): Promise<string[]> {
  return (await reader.search(text, topic, { limit: 10 })).repositories.items.map(({ record }) => record.name)
}

const searchAccounts = async (text: string) => (await reader.search(text, undefined, { limit: 1 }, 5)).accounts

describe('search', () => {
  it.each([
    ['my-app_v2', ['my-app_v2']],
    ['myapp', ['my-app_v2']],
    ['v2', ['my-app_v2']],
    ['app', ['my-app_v2']],
    ['http parser', ['XMLHttpParser']],
    ['xmlHttpParser', ['XMLHttpParser']],
    ['dotf', ['dotfiles']],
    ['CAFÉ', ['cafe-au-lait']],
    ['grosse', []],
    ['große', ['cafe-au-lait']],
    ['größe', ['cafe-au-lait']],
    ['grö', ['cafe-au-lait']],
    ['hello absent', []],
    ['alice.host.test dotfiles', ['dotfiles']],
    ['alice dotfiles', ['dotfiles']],
    ['हिन्दी', ['hindi']],
    ['hindi हिन्दी', ['hindi']],
  ])('finds by %j', async (text, names) => {
    expect(await search(text)).toEqual(names)
  })

  it('puts the very name first, then names with the word, then the newest of the others', async () => {
    expect(await search('parser')).toEqual(['parser', 'XMLHttpParser', 'plain', 'dotfiles'])
    expect((await search('PARSER'))[0]).toBe('parser')
  })

  it('takes a topic with or without a text', async () => {
    expect(await search('', 'machine-learning')).toEqual(['XMLHttpParser'])
    expect(await search('reads', 'XML')).toEqual(['XMLHttpParser'])
    expect(await search('hello', 'xml')).toEqual([])
  })

  it.each([
    ...[
      '"',
      "'",
      '*',
      '(',
      ')',
      'a OR',
      'NOT',
      'AND',
      'NEAR(a b)',
      'name:',
      '{name} : x',
      'a^b',
      '-',
      '--',
      '\0',
      'a\0b',
    ],
    ...[
      '\ud800',
      '%',
      '_',
      '😀',
      '日本語',
      '"a" "',
      'x'.repeat(1000),
      'a '.repeat(500),
      '\u202e',
      'a.b.c..d',
      '@alice',
      'हिन्दी',
      'a\u{17000}b',
      '\u0301',
      'é',
    ],
  ])('is not hurt by %j', async (text) => {
    expect(await search(text)).toBeInstanceOf(Array)
    expect(await searchAccounts(text)).toBeInstanceOf(Array)
    if (text !== '') expect(await search('x', text)).toBeInstanceOf(Array)
  })

  it('shows nothing that the operator has blocked, until it is unblocked', async () => {
    const blocks = new BlockStore(db)
    const did = didOf(1)
    const page = { limit: 10 }
    const names = ({ items }: Page<{ record: { name: string } }>) => items.map(({ record }) => record.name)
    const looks = async () => ({
      search: await search('parser'),
      newest: names(await reader.repositories(undefined, page)),
      own: names(await reader.repositoriesOf(did, 'name', page)),
      account: await reader.profile(did),
      accounts: await searchAccounts('alice'),
    })
    const before = await looks()
    const rkey = (await reader.search('parser', undefined, page)).repositories.items[0]!.rkey
    const without = (all: readonly string[]) => all.filter((name) => name !== 'parser')
    await blocks.put({ did, rkey, reason: '', createdAt: NOW })
    const { search: found, newest, own } = before
    const fewer = <T extends { repositories: number }>(one: T) => ({ ...one, repositories: one.repositories - 1 })
    expect(await looks()).toEqual({
      search: without(found),
      newest: without(newest),
      own: without(own),
      account: fewer(before.account!),
      accounts: before.accounts.map(fewer),
    })
    await blocks.put({ did, rkey: null, reason: '', createdAt: NOW })
    expect(await looks()).toEqual({ search: [], newest: [], own: [], account: null, accounts: [] })
    await blocks.remove({ did, rkey: null })
    await blocks.remove({ did, rkey })
    expect(await looks()).toEqual(before)
  })

  it('finds accounts by the start of their handles', async () => {
    expect(await searchAccounts('@Alice.h')).toMatchObject([{ did: didOf(1), handle: 'alice.host.test' }])
    expect(await searchAccounts('host')).toEqual([])
  })

  it.each([1, 2, 3])('goes on where a page of %i has ended', async (limit) => {
    const names: string[] = []
    for (let after: Position | undefined; ; ) {
      const { repositories: page } = await reader.search('parser', undefined, { limit, ...(after && { after }) })
      names.push(...page.items.map(({ record }) => record.name))
      if (page.next === null) break
      after = page.next
    }
    expect(names).toEqual(await search('parser'))
  })

  it('does not believe a push that is yet to come: it neither leads nor takes the place of others', async () => {
    const put = async (n: number, pushedAt: number) => {
      const rkey = tidFromTime((NOW - 800_000) * 1000, 0)
      const value = { name: 'same', defaultBranch: 'main', objectFormat: 'sha1', createdAt: '2026-01-01T00:00:00Z' }
      const ref = { name: 'refs/heads/main', seq: 1, target: '1'.repeat(40), landing: tidFromTime(pushedAt * 1000, 0) }
      const records = [
        { collection: REPO_COLLECTION, rkey, value: { $type: REPO_COLLECTION, ...value } },
        { collection: REF_COLLECTION, rkey: refKey(rkey, ref.name, 1), value: { $type: REF_COLLECTION, ...ref } },
      ]
      const account = { did: didOf(n), handle: `n${n}.test`, pds: 'https://pds.test', isActive: true, status: null }
      await store.replaceAccount({ ...account, rev: tidFromTime(NOW * 1000, 0), listedAt: NOW, records }, NOW)
    }
    await put(50, NOW - 5000)
    // So many that say so that there would be no room for it.
    for (let n = 0; n < 110; n++) await put(100 + n, NOW + 1e9 + n)
    const { items } = (await reader.search('same', undefined, { limit: 10 })).repositories
    expect(items[0]).toMatchObject({ did: didOf(50) })
  })

  it('reads no more words that begin alike than few have, however many strangers make', async () => {
    const put = (n: number, names: readonly (readonly [name: string, description: string])[]) => {
      const records = names.map(([name, description], i) => ({
        collection: REPO_COLLECTION,
        rkey: tidFromTime((NOW - 700_000 + i) * 1000, 0),
        value: {
          ...{ $type: REPO_COLLECTION, name, description, defaultBranch: 'main', objectFormat: 'sha1' },
          createdAt: '2026-01-01T00:00:00Z',
        },
      }))
      const account = { did: didOf(n), handle: `n${n}.test`, pds: 'https://pds.test', isActive: true, status: null }
      return store.replaceAccount({ ...account, rev: tidFromTime(NOW * 1000, 0), listedAt: NOW, records }, NOW)
    }
    await put(300, [
      ['kubernetes', 'Helm'],
      ['charts', 'für Kübernetes'],
    ])
    expect(await search('kubernet')).toEqual(['kubernetes', 'charts'])
    expect(await search('helm kübernet')).toEqual(['kubernetes'])
    await put(
      301,
      Array.from({ length: 250 }, (_, i) => [`flood-${i}`, `kubernete${i}`] as const),
    )
    // A word, or else the start that the index has.
    expect(await search('kubernetes')).toEqual(['kubernetes', 'charts'])
    expect(await search('HELM Kübernetes')).toEqual(['kubernetes'])
    expect(await search('helm kubernet')).toEqual(['kubernetes'])
    expect(await search('charts', undefined)).toEqual(['charts'])
    expect((await search('kubernet'))[0]).toBe('kubernetes')
    expect(await search('kubernete7')).toEqual(['flood-7'])
  })

  it('gives each once where more have a word than are weighed, the very name and names with it first', async () => {
    const did = didOf(2)
    const records = Array.from({ length: 700 }, (_, i) => ({
      collection: REPO_COLLECTION,
      rkey: tidFromTime((NOW - 900_000 + i) * 1000, 0),
      value: {
        ...{ $type: REPO_COLLECTION, name: i === 350 ? 'widget' : i % 100 === 0 ? `widget-${i}` : `thing-${i}` },
        ...{ description: 'A widget', defaultBranch: 'main', objectFormat: 'sha1', createdAt: '2026-01-01T00:00:00Z' },
      },
    }))
    const bob = { did, handle: 'bob.host.test', pds: 'https://pds.test', isActive: true, status: null }
    await store.replaceAccount({ ...bob, rev: tidFromTime(NOW * 1000, 0), listedAt: NOW, records }, NOW)
    const names: string[] = []
    for (let after: Position | undefined; ; ) {
      const { repositories } = await reader.search('widget', undefined, { limit: 100, ...(after && { after }) })
      const { items, next } = repositories
      names.push(...items.map(({ record }) => record.name))
      if (next === null) break
      after = next
    }
    expect(names[0]).toBe('widget')
    expect(names.slice(1, 8).every((name) => name.startsWith('widget-'))).toBe(true)
    expect(new Set(names).size).toBe(names.length)
    expect(names.length).toBeGreaterThanOrEqual(200)
  })
})

it('finds the words of names', () => {
  expect(nameWords('my-webApp2')).toBe('my webapp2 web app 2 mywebapp2')
  expect(nameWords('XMLHttpParser')).toBe('xmlhttpparser xml http parser')
  expect(nameWords('...')).toBe('')
})

it('reads a query as what can only be an expression', () => {
  expect(parseSearch('Hello wor').match).toBe('"Hello" AND "wor"*')
  expect(parseSearch('x', 'machine-learning').match).toBe('"x"* AND {topics} : ("machine learning")')
  expect(parseSearch('alice.test app').match).toBe('("alice" AND "test" OR {owner} : ("alice")) AND "app"*')
  expect(parseSearch('alice.test app').nameMatch).toBe('"alice" AND "test" AND "app"*')
  expect(parseSearch('x', 'machine-learning').nameMatch).toBe(null)
  expect(parseSearch('!!!').match).toBe(null)
})
