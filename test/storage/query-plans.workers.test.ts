import { env } from 'cloudflare:test'
import { drizzle } from 'drizzle-orm/d1'
import { expect, it } from 'vitest'
import { REF_COLLECTION, REPO_COLLECTION } from '../../atproto/records/collections.ts'
import { refKey } from '../../atproto/records/record-keys.ts'
import { tidFromTime } from '../../atproto/records/tid.ts'
import type { Environment } from '../../durable-objects/environment.ts'
import { LandingAudit } from '../../storage/access/landing-audit.ts'
import { TokenStore } from '../../storage/access/token-store.ts'
import { UsedJwts } from '../../storage/access/used-jwts.ts'
import { D1IdentityCache } from '../../storage/directory/identity-cache.ts'
import { RepositoryDirectory } from '../../storage/directory/repository-directory.ts'
import { AccountStandings } from '../../storage/index/account-standings.ts'
import { AccountWants } from '../../storage/index/account-wants.ts'
import { DeadLetters } from '../../storage/index/dead-letters.ts'
import { DroppedRecords } from '../../storage/index/dropped-records.ts'
import { findMirrored, isKnownAccount, knownAccounts, whichAreMirrored } from '../../storage/index/find-mirrored.ts'
import { IndexReader } from '../../storage/index/index-reader.ts'
import { IndexStore } from '../../storage/index/index-store.ts'
import { Reconciles } from '../../storage/index/reconciles.ts'
import { BlockStore } from '../../storage/operator/blocks.ts'
import { MirrorRegister } from '../../storage/operator/mirror-register.ts'
import { hostileRecords } from './index/hostile-records.ts'
import { didOf } from './index/random-stream.ts'

// No query may read a table from one end to the other: each class is driven through all of its methods, and what it asks D1
// is explained.
const { DB } = env as unknown as Environment
const NOW = 1_795_000_000_000
const DID = didOf(1)
const RKEY = tidFromTime(NOW * 1000, 0)
const RECORD = { name: 'app', defaultBranch: 'main', objectFormat: 'sha1', createdAt: '2026-01-01T00:00:00Z' } as const
const IDENTITY = { did: DID, handle: 'alice.test', pds: 'https://pds.test' }

/** Tables with a row for each thing that an operator has or each kind of fault, and those that hold what waits. */
const SMALL = ['reconciles', 'dropped_records', 'account_wants', 'dead_letters', 'blocks']

const asked = new Set<string>()
const recording = new Proxy(DB, {
  get(target, name) {
    if (name === 'prepare') {
      return (query: string) => {
        asked.add(query)
        return target.prepare(query)
      }
    }
    const value: unknown = Reflect.get(target, name)
    return typeof value === 'function' ? value.bind(target) : value
  },
})

const called = new Map<object, Set<string>>()
/** Notes which methods are called. */
function watched<T extends object>(instance: T): T {
  const names = new Set<string>()
  called.set(instance, names)
  return new Proxy(instance, {
    get(target, name) {
      names.add(String(name))
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const db = drizzle(recording)
const directory = watched(new RepositoryDirectory(db))
const identities = watched(new D1IdentityCache(db))
const store = watched(new IndexStore(db))
const reader = watched(new IndexReader(db, () => NOW))
const wants = watched(new AccountWants(db))
const letters = watched(new DeadLetters(db))
const dropped = watched(new DroppedRecords(db))
const reconciles = watched(new Reconciles(db))
const tokens = watched(new TokenStore(db))
const audit = watched(new LandingAudit(db))
const jwts = watched(new UsedJwts(db))
const blocks = watched(new BlockStore(db))
const register = watched(new MirrorRegister(db))

async function callAll(): Promise<void> {
  await directory.replace(DID, [{ rkey: RKEY, record: RECORD }], NOW, IDENTITY)
  await directory.put(DID, { rkey: RKEY, record: RECORD })
  await Promise.all([directory.atHand(DID, 'app'), directory.lookUp(DID, 'app'), directory.find(DID, 'app')])
  await Promise.all([directory.get(DID, RKEY), directory.list(DID), directory.listedAt(DID)])
  await identities.put('alice.test', IDENTITY, 60)
  await Promise.all([identities.get('bob.test'), identities.prune()])
  const origin = { did: DID, cursor: 1, time: NOW }
  const record = { ...origin, kind: 'record', rev: RKEY, isProven: true } as const
  await store.apply(
    [
      { ...record, collection: REPO_COLLECTION, rkey: RKEY, value: RECORD },
      { ...record, collection: REF_COLLECTION, rkey: refKey(RKEY, 'refs/heads/main', 1), value: null },
      { ...origin, kind: 'account', isActive: false, status: 'deleted' },
      { ...origin, did: didOf(2), kind: 'account', isActive: true, status: null },
      { ...record, collection: REPO_COLLECTION, rkey: RKEY, value: null, isProven: false },
      { ...origin, kind: 'identity' },
      { ...origin, kind: 'sync', rev: RKEY },
      ...hostileRecords(RKEY).map((hostile) => ({ ...record, ...hostile })),
    ],
    NOW,
  )
  const records = [
    ...hostileRecords(RKEY),
    { collection: REPO_COLLECTION, rkey: RKEY, value: { $type: REPO_COLLECTION, ...RECORD } },
  ]
  const snapshot = { ...IDENTITY, isActive: true, status: null, rev: RKEY, listedAt: NOW + 1, records }
  await store.replaceAccount(snapshot, NOW)
  await store.prune(NOW)
  for (const after of [undefined, [1, 2, 3, 4]])
    await reader.search('app', 'topic', { limit: 2, ...(after && { after }) }, 5)
  for (const did of [undefined, DID]) {
    for (const after of [undefined, [1, 'a', 'b']]) await reader.pushes(did, { limit: 2, ...(after && { after }) })
    for (const after of [undefined, ['a', 'b']]) await reader.repositories(did, { limit: 2, ...(after && { after }) })
  }
  for (const [order, at] of [
    ['pushed', [1, 'a']],
    ['name', ['a', 'b']],
    ['created', ['a']],
  ] as const) {
    for (const after of [undefined, at]) await reader.repositoriesOf(DID, order, { limit: 2, ...(after && { after }) })
  }
  await reader.places('did:plc:a', 2)
  await Promise.all([reader.profile(DID), reader.findByHandle('alice.test')])
  await store.forgetAccount(DID, NOW)
  await wants.want([DID], 'test', NOW)
  await Promise.all([
    wants.due(NOW, 2),
    wants.next('https://pds.test', NOW),
    wants.next(null, NOW),
    wants.place(DID, 'https://pds.test', NOW),
    wants.prune(NOW),
    wants.count(),
    wants.countDue(NOW),
    wants.begin(DID, NOW, NOW),
    wants.putOff(DID, NOW, 'x'),
    wants.renew(DID, NOW),
    wants.done(DID, NOW),
  ])
  await letters.add('{}', 'x', NOW)
  await Promise.all([
    letters.list(2),
    letters.list(2, 9),
    letters.take(1),
    letters.count(),
    letters.canWrite(),
    letters.prune(NOW),
  ])
  await dropped.list()
  await dropped.total()
  await findMirrored(db, [{ did: DID, rkey: 'a' }])
  await whichAreMirrored(db, [{ did: DID, rkey: 'a' }])
  await Promise.all([knownAccounts(db, '', 2), isKnownAccount(db, DID)])
  await new AccountStandings(db).of(DID)
  await reconciles.start('x', NOW)
  await Promise.all([
    reconciles.advance({ source: 'x', cursor: null, startedAt: NOW }, 1, null, NOW),
    reconciles.find('x'),
    reconciles.list(),
  ])
  await blocks.put({ did: DID, rkey: RKEY, reason: '', createdAt: NOW })
  await Promise.all([blocks.list(2), blocks.list(2, DID), blocks.of(DID), blocks.count()])
  await blocks.remove({ did: DID, rkey: RKEY })
  const key = { did: DID, rkey: RKEY }
  await register.exchange({ ...key, bytes: 1, usedAt: NOW }, true)
  await register.exchange({ ...key, bytes: 1, usedAt: NOW }, false)
  await Promise.all([register.keysOf(DID, 2), register.keysOf(DID, 2, RKEY), register.bytesOf(DID)])
  await Promise.all([register.unusedSince(NOW, 2), register.totals()])
  await register.remove(key)
  const grant = { repositories: null, branches: null, rights: ['commit'] } as const
  await tokens.create(
    { id: 'a', did: DID, label: 'x', grant: { ...grant }, createdAt: NOW, expiresAt: NOW + 1, revokedAt: null },
    'text',
  )
  await Promise.all([tokens.find('text'), tokens.unrevoked(['a']), tokens.list(DID), tokens.revoke(DID, 'a', NOW)])
  const landing = {
    ticket: 't',
    did: DID,
    rkey: RKEY,
    ref: 'refs/heads/main',
    landing: 'l',
    commit: null,
    kind: 'push',
  } as const
  await audit.record([{ ...landing, submitter: DID, token: null, label: null, landedAt: NOW }])
  await Promise.all([audit.list(DID, RKEY, 2), audit.prune(NOW)])
  await jwts.use('iss', 'jti', NOW, NOW)
}

async function plan(query: string): Promise<string[]> {
  const holes = (query.match(/\?/g) ?? []).length
  const { results } = await DB.prepare(`explain query plan ${query}`)
    .bind(...Array.from({ length: holes }, () => null))
    .all<{ detail: string }>()
  return results.map(({ detail }) => detail)
}

/** Steps of a plan that read a whole table, by whatever index. Full text is read by words or row ids, which the plan names. */
async function scans(query: string, names: ReadonlyMap<string, string>): Promise<string[]> {
  return (await plan(query)).filter((step) => {
    const scanned = /^SCAN (\S+)/.exec(step)?.[1]
    if (scanned === undefined || /VIRTUAL TABLE INDEX \d+:\S/.test(step)) return false
    const table = names.get(scanned) ?? scanned
    return tables.has(table) && !SMALL.includes(table)
  })
}

/** Aliases that a query gives to tables. */
function aliases(query: string): Map<string, string> {
  return new Map(
    [...query.matchAll(/"?(\w+)"? (?:as )?(\w+)\b/gi)].flatMap(([, table, alias]) =>
      tables.has(table!) ? [[alias!, table!]] : [],
    ),
  )
}

const tables = new Set<string>()

it('no query and no trigger reads a whole table', async () => {
  const { results } = await DB.prepare(
    "select name, type, sql from sqlite_master where type in ('table', 'trigger')",
  ).all<{
    name: string
    type: string
    sql: string
  }>()
  for (const { name, type } of results) if (type === 'table') tables.add(name)
  await callAll()
  for (const [instance, names] of called) {
    const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(instance)).filter((name) => name !== 'constructor')
    expect(
      methods.filter((name) => !names.has(name)),
      instance.constructor.name,
    ).toEqual([])
  }
  // What a trigger does, with a parameter for each value of its row.
  const inTriggers = results
    .filter(({ type }) => type === 'trigger')
    .flatMap(({ sql }) => /\bBEGIN\s([\s\S]*)END$/.exec(sql)![1]!.split(';'))
    .map((statement) => statement.replace(/\b(new|old)\.\w+/g, '?').trim())
    .filter((statement) => statement !== '')
  expect(inTriggers.length).toBeGreaterThan(15)
  expect(asked.size).toBeGreaterThan(70)
  const faults: Record<string, string[]> = {}
  for (const query of [...asked, ...inTriggers]) {
    const found = await scans(query, aliases(query))
    if (found.length > 0) faults[query] = found
  }
  expect(faults).toEqual({})
})
