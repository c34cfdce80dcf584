import { env } from 'cloudflare:test'
import { drizzle } from 'drizzle-orm/d1'
import { beforeEach, describe, expect, it } from 'vitest'
import type { AccountEvent, RecordEvent } from '../../../atproto/firehose/stream-event.ts'
import {
  PACK_COLLECTION,
  REF_COLLECTION,
  REFS_COLLECTION,
  REPO_COLLECTION,
} from '../../../atproto/records/collections.ts'
import { packKey, refKey, refsKey } from '../../../atproto/records/record-keys.ts'
import { tidFromTime } from '../../../atproto/records/tid.ts'
import type { Environment } from '../../../durable-objects/environment.ts'
import { D1IdentityCache } from '../../../storage/directory/identity-cache.ts'
import { RepositoryDirectory } from '../../../storage/directory/repository-directory.ts'
import { AccountWants } from '../../../storage/index/account-wants.ts'
import { DeadLetters } from '../../../storage/index/dead-letters.ts'
import { countDropped, DroppedRecords } from '../../../storage/index/dropped-records.ts'
import { IndexReader } from '../../../storage/index/index-reader.ts'
import { IndexStore } from '../../../storage/index/index-store.ts'
import type { AccountSnapshot, ApplyOutcome } from '../../../storage/index/index-types.ts'
import { Reconciles } from '../../../storage/index/reconciles.ts'
import { hostileRecords } from './hostile-records.ts'
import { dumpIndex, emptyIndex, findWant, showSearchWords } from './index-dump.ts'
import { didOf } from './random-stream.ts'

const { DB } = env as unknown as Environment
const db = drizzle(DB)
const store = new IndexStore(db)
const wants = new AccountWants(db)
const directory = new RepositoryDirectory(db)
const NOW = 1_795_000_000_000
const reader = new IndexReader(db, () => NOW)
const [ALICE, BOB] = [didOf(1), didOf(2)]
const APP = tid(-1_000_000)

beforeEach(async () => {
  await showSearchWords(DB)
  await emptyIndex(DB)
})

/** @param ago milliseconds from NOW */
function tid(ago: number): string {
  return tidFromTime((NOW + ago) * 1000, 0)
}

function repo(name: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  const base = { defaultBranch: 'main', objectFormat: 'sha1', createdAt: '2026-01-01T00:00:00Z' }
  return { $type: REPO_COLLECTION, name, ...base, ...fields }
}

function event(did: string, collection: string, rkey: string, value: unknown, ago = 0): RecordEvent {
  return { kind: 'record', did, collection, rkey, value, rev: tid(ago), cursor: 0, time: NOW + ago, isProven: true }
}

function status(did: string, isActive: boolean, word: string | null, ago: number): AccountEvent {
  return { kind: 'account', did, isActive, status: word, time: NOW + ago, cursor: 0 }
}

function ref(name: string, seq: number, fields: Record<string, unknown> = {}) {
  return { $type: REF_COLLECTION, name, seq, target: '1'.repeat(40), ...fields }
}

function snapshot(fields: Partial<AccountSnapshot> = {}): AccountSnapshot {
  const identity = { did: ALICE, handle: 'alice.test', pds: 'https://pds.test' }
  return { ...identity, isActive: true, status: null, rev: tid(0), listedAt: NOW, records: [], ...fields }
}

const APP_RECORD = { collection: REPO_COLLECTION, rkey: APP, value: repo('app') }
const listed = async (did: string) => wants.done(did, (await findWant(DB, did))!.wantedAt)
const wantedBy = ({ wanted }: ApplyOutcome) => wanted.map(({ did }) => did)
const names = async (did = ALICE) => (await directory.list(did)).map(({ record }) => record.name)
const found = async (text: string) =>
  (await reader.search(text, undefined, { limit: 10 })).repositories.items.map(({ record }) => record.name)

describe('apply', () => {
  it('says what has changed, and that accounts which are new are wanted', async () => {
    const main = 'refs/heads/main'
    const events = [
      event(ALICE, REPO_COLLECTION, APP, repo('app')),
      event(ALICE, REF_COLLECTION, refKey(APP, main, 1), ref(main, 1)),
      event(BOB, 'dev.skein.collaborator', ALICE, { subject: ALICE }),
      event(BOB, REPO_COLLECTION, APP, { name: 1 }),
    ]
    const outcome = await store.apply(events, NOW)
    expect(outcome).toMatchObject({ applied: 3, wanted: [{ did: ALICE, dueAt: NOW }] })
    expect(outcome.dropped.map(({ uri }) => uri)).toEqual([`at://${BOB}/${REPO_COLLECTION}/${APP}`])
    // It is told once: until it is listed the row says so.
    expect(await store.apply(events, NOW)).toMatchObject({ applied: 0, wanted: [] })
    expect(await store.apply([], NOW)).toEqual({ applied: 0, dropped: [], wanted: [] })
  })

  it('takes a record away that is not valid any more', async () => {
    await store.apply([event(ALICE, REPO_COLLECTION, APP, repo('app'), -2)], NOW)
    await store.apply([event(ALICE, REPO_COLLECTION, APP, repo('a/b'), -1)], NOW)
    expect(await names()).toEqual([])
    await store.apply([event(ALICE, REPO_COLLECTION, APP, repo('back'), 0)], NOW)
    expect([await names(), await found('back'), await found('app')]).toEqual([['back'], ['back'], []])
  })

  it('leaves accounts that it does not know alone, and lists those that changed', async () => {
    await store.replaceAccount(snapshot({ records: [APP_RECORD] }), NOW)
    const outcome = await store.apply(
      [
        { kind: 'identity', did: ALICE, cursor: 1, time: NOW },
        { kind: 'identity', did: BOB, cursor: 2, time: NOW },
        { kind: 'sync', did: BOB, cursor: 3, time: NOW, rev: tid(0) },
        status(BOB, false, 'takendown', 0),
      ],
      NOW,
    )
    expect(wantedBy(outcome)).toEqual([ALICE])
    expect(await findWant(DB, BOB)).toBe(null)
  })

  it('lists no account for what its listing has told already', async () => {
    await store.replaceAccount(snapshot({ records: [APP_RECORD] }), NOW)
    const sync = (ago: number, rev = tid(ago)) => ({ kind: 'sync', did: ALICE, cursor: 1, time: NOW, rev }) as const
    const unproven = (ago: number) => ({ ...event(ALICE, REPO_COLLECTION, APP, null, ago), isProven: false })
    expect(wantedBy(await store.apply([sync(-1), sync(0), unproven(0), status(ALICE, true, null, 9)], NOW))).toEqual([])
    for (const news of [sync(1), sync(0, ''), unproven(1), status(ALICE, false, null, -9)]) {
      expect(wantedBy(await store.apply([news], NOW))).toEqual([ALICE])
      await listed(ALICE)
    }
    // While it is being listed its host may have been asked before.
    await wants.want([ALICE], 'test', NOW)
    const { wantedAt } = (await findWant(DB, ALICE))!
    await store.apply([status(ALICE, true, null, 0)], NOW)
    expect((await findWant(DB, ALICE))!.wantedAt).toBeGreaterThan(wantedAt)
    // Nor for what another upstream has proven.
    await store.apply([event(ALICE, REPO_COLLECTION, APP, repo('app'), 2)], NOW)
    await listed(ALICE)
    expect(wantedBy(await store.apply([unproven(2)], NOW))).toEqual([])
  })

  it('believes nobody who says that an account is gone: its host is asked', async () => {
    await store.replaceAccount(snapshot({ records: [APP_RECORD] }), NOW)
    const before = await dumpIndex(DB)
    for (const word of ['deleted', 'deactivated', 'takendown', '<script>']) {
      expect(wantedBy(await store.apply([status(ALICE, false, word, 1e12)], NOW))).toEqual([ALICE])
      expect(await dumpIndex(DB)).toEqual(before)
      await listed(ALICE)
    }
  })

  it('makes rows of no record that is not proven, of whatever collection, and deletes none', async () => {
    const main = 'refs/heads/main'
    const [pack, refRkey, shard] = [packKey(APP, tid(-9)), refKey(APP, main, 1), refsKey(APP, 64, 1)]
    const entries = [ref('refs/tags/v1', 1)]
    const packRecord = {
      size: 40,
      objects: 1,
      checksum: '0'.repeat(40),
      thin: false,
      createdAt: '2026-01-01T00:00:00Z',
    }
    const records = [
      APP_RECORD,
      {
        collection: PACK_COLLECTION,
        rkey: pack,
        value: { $type: PACK_COLLECTION, ...packRecord, bytes: { $bytes: '' } },
      },
      { collection: REF_COLLECTION, rkey: refRkey, value: ref(main, 1) },
      { collection: REFS_COLLECTION, rkey: shard, value: { $type: REFS_COLLECTION, entries } },
    ]
    const unproven = (did: string, deletes: boolean) =>
      records.map(({ collection, rkey, value }) => ({
        ...event(did, collection, rkey, deletes ? null : value, 1),
        ...(collection === PACK_COLLECTION ? { parked: null } : {}),
        isProven: false,
      }))
    await store.replaceAccount(snapshot({ records, rev: tid(-1) }), NOW)
    const before = await dumpIndex(DB)
    expect(before).toMatchObject({ repositories: [{}], packs: [{}], pushes: [{}, {}] })
    for (const one of unproven(ALICE, true)) {
      expect(await store.apply([one], NOW)).toEqual({ applied: 0, dropped: [], wanted: [{ did: ALICE, dueAt: NOW }] })
      await listed(ALICE)
    }
    for (const one of unproven(BOB, false)) {
      expect(await store.apply([one], NOW)).toEqual({ applied: 0, dropped: [], wanted: [{ did: BOB, dueAt: NOW }] })
      await listed(BOB)
    }
    // Of a stranger that has nothing, or nothing valid, there is nothing to ask.
    const invalid = { ...event(BOB, REPO_COLLECTION, APP, { name: 1 }, 1), isProven: false }
    expect(await store.apply([...unproven(BOB, true), invalid], NOW)).toEqual({ applied: 0, dropped: [], wanted: [] })
    expect(await dumpIndex(DB)).toEqual(before)
    // The rev of what is not proven holds off nothing.
    await store.apply([event(ALICE, REPO_COLLECTION, APP, repo('renamed'), 0)], NOW)
    expect(await names()).toEqual(['renamed'])
  })

  it('asks the account where something proven is so old that what came after it is not known any more', async () => {
    const DAY = 24 * 3_600_000
    await store.replaceAccount(snapshot({ records: [], rev: tid(-9 * DAY) }), NOW)
    const old = event(ALICE, REPO_COLLECTION, APP, repo('deleted'), -4 * DAY)
    expect(await store.apply([old], NOW)).toMatchObject({ applied: 0, wanted: [{ did: ALICE }] })
    expect(await names()).toEqual([])
    expect(await store.apply([{ ...old, rev: tid(-2 * DAY) }], NOW)).toMatchObject({ applied: 1 })
  })

  it('hides accounts whose hosts do not serve them, and shows them when they come back', async () => {
    const list = (ago: number, fields: Partial<AccountSnapshot>) =>
      store.replaceAccount(snapshot({ listedAt: NOW + ago, ...fields }), NOW + ago)
    await list(-100, { records: [APP_RECORD] })
    await list(-50, { isActive: false, status: 'deactivated' })
    expect([await found('app'), await reader.profile(ALICE)]).toEqual([[], null])
    // What comes of it meanwhile is kept, and is a sign that it may be back.
    const renamed = event(ALICE, REPO_COLLECTION, APP, repo('renamed'), -49)
    expect(wantedBy(await store.apply([{ ...renamed, rev: tid(-60) }], NOW))).toEqual([])
    expect(wantedBy(await store.apply([renamed], NOW))).toEqual([ALICE])
    expect(await found('renamed')).toEqual([])
    // One that began before changes nothing.
    await list(-60, { records: [APP_RECORD] })
    expect(await found('app')).toEqual([])
    await list(-1, { records: [APP_RECORD] })
    expect(await found('app')).toEqual(['app'])
    await list(0, { isActive: false, status: '<script>' })
    expect(await reader.findByHandle('alice.test')).toMatchObject({ did: ALICE, status: 'inactive' })
  })

  it('forgets an account that was deleted, whatever comes of it late, until it is back', async () => {
    const main = 'refs/heads/main'
    const written = [
      event(ALICE, REPO_COLLECTION, APP, repo('app'), -9),
      event(ALICE, REF_COLLECTION, refKey(APP, main, 1), ref(main, 1), -8),
    ]
    await store.replaceAccount(snapshot({ listedAt: NOW - 1, rev: tid(-20) }), NOW - 1)
    await store.apply(written, NOW)
    // Somebody wants it while it is being forgotten.
    await wants.want([ALICE], 'test', NOW)
    await store.forgetAccount(ALICE, NOW)
    expect(await findWant(DB, ALICE)).not.toBe(null)
    await listed(ALICE)
    expect(wantedBy(await store.apply(written, NOW))).toEqual([])
    await store.replaceAccount(snapshot({ listedAt: NOW - 1, records: [APP_RECORD] }), NOW)
    const dump = await dumpIndex(DB)
    expect(dump).toEqual({ repositories: [], pushes: [], packs: [], accounts: [], search: [] })
    expect(wantedBy(await store.apply([status(ALICE, true, null, 1)], NOW + 1))).toEqual([ALICE])
    expect(await dumpIndex(DB)).toEqual(dump)
    await store.replaceAccount(snapshot({ listedAt: NOW + 2, records: [APP_RECORD] }), NOW + 2)
    expect(await found('app')).toEqual(['app'])
  })

  it('takes hostile records or drops them, and those beside them are there', async () => {
    const records = hostileRecords(APP)
    const events = records.map(({ collection, rkey, value }, i) => event(ALICE, collection, rkey, value, i))
    const fine = event(BOB, REPO_COLLECTION, APP, repo('fine'))
    const odd = [
      { ...event('did:web:a/b', REPO_COLLECTION, APP, repo('x')) },
      { ...event('\0', REPO_COLLECTION, APP, repo('x')) },
      { ...event(BOB, REPO_COLLECTION, APP, repo('x')), rev: 'zzzz' },
      { ...event(BOB, 'dev.skein.\ud800', APP, repo('x')) },
    ]
    const { dropped } = await store.apply([...events, ...odd, fine], NOW)
    expect(dropped.length).toBeGreaterThan(20)
    for (const { uri, reason } of dropped) {
      expect(`${uri}${reason}`.isWellFormed()).toBe(true)
      expect(`${uri}${reason}`).not.toMatch(/\p{Cc}|\u202e/u)
      expect(uri.length + reason.length).toBeLessThan(800)
    }
    expect(await names(BOB)).toEqual(['fine'])
    // One by one, each being the newest of its record, and listed.
    for (const [i, { collection, rkey, value }] of records.entries()) {
      await store.apply([event(ALICE, collection, rkey, value, 1000 + i)], NOW)
    }
    await dumpIndex(DB)
    await reader.search('app', undefined, { limit: 10 })
    await reader.pushes(undefined, { limit: 10 })
    await emptyIndex(DB)
    await store.replaceAccount(snapshot({ records }), NOW)
    const counts = await new DroppedRecords(db).list()
    expect(counts.length).toBeGreaterThan(5)
    expect(counts.length).toBeLessThan(80)
  })

  it('shows one repository of a name, and counts names', async () => {
    const [older, newer] = [tid(-3), tid(-2)]
    const count = async () => (await reader.profile(ALICE))!.repositories
    await store.apply([event(ALICE, REPO_COLLECTION, newer, repo('same'), -1)], NOW)
    await store.apply([event(ALICE, REPO_COLLECTION, older, repo('same'), 0)], NOW)
    expect([await names(), await found('same'), await count()]).toEqual([['same'], ['same'], 1])
    expect((await directory.find(ALICE, 'same'))!.rkey).toBe(older)
    expect(await directory.get(ALICE, newer)).toBe(null)
    await store.apply([event(ALICE, REPO_COLLECTION, older, repo('other'), 1)], NOW)
    expect([(await names()).sort(), await count()]).toEqual([['other', 'same'], 2])
    await store.apply([event(ALICE, REPO_COLLECTION, newer, null, 2)], NOW)
    expect([await names(), await count()]).toEqual([['other'], 1])
  })

  it('sums packs, and knows the newest push, whichever record comes first', async () => {
    const main = 'refs/heads/main'
    const pack = {
      $type: PACK_COLLECTION,
      size: 40,
      objects: 1,
      checksum: '0'.repeat(40),
      thin: false,
      createdAt: '2026-01-01T00:00:00Z',
    }
    const parked = { ...event(ALICE, PACK_COLLECTION, packKey(APP, tid(-9)), pack, 1), parked: 'p' }
    const entries = [ref('refs/tags/v1', 1, { pack: packKey(APP, tid(-7)) }), ref('refs/tags/v2', 1)]
    await store.apply(
      [parked, event(ALICE, REF_COLLECTION, refKey(APP, main, 1), ref(main, 1, { landing: tid(-8) }), 1)],
      NOW,
    )
    await store.apply([event(ALICE, REPO_COLLECTION, APP, repo('app'), 2)], NOW)
    const state = async () => (await reader.repositoriesOf(ALICE, 'pushed', { limit: 1 })).items[0]!
    expect(await state()).toMatchObject({ size: 40, pushedAt: NOW - 8 })
    await store.apply([event(ALICE, REFS_COLLECTION, refsKey(APP, 64, 1), { $type: REFS_COLLECTION, entries }, 3)], NOW)
    expect(await state()).toMatchObject({ size: 40, pushedAt: NOW - 7 })
    expect(await reader.profile(ALICE)).toMatchObject({ size: 40, pushedAt: NOW - 7, repositories: 1 })
    await store.apply(
      [
        event(ALICE, REFS_COLLECTION, refsKey(APP, 64, 1), null, 4),
        event(ALICE, PACK_COLLECTION, parked.rkey, null, 4),
      ],
      NOW,
    )
    expect(await state()).toMatchObject({ size: 0, pushedAt: NOW - 8 })
  })
})

describe('revs that lie in the future', () => {
  const HOUR = 3_600_000

  it('are none of an event: what really happens next counts', async () => {
    await store.apply([event(ALICE, REPO_COLLECTION, APP, repo('app'), -HOUR)], NOW)
    const { dropped } = await store.apply([event(ALICE, REPO_COLLECTION, APP, null, HOUR)], NOW)
    expect(dropped).toMatchObject([{ reason: 'the rev lies in the future' }])
    expect(await names()).toEqual(['app'])
    await store.apply([event(ALICE, REPO_COLLECTION, APP, repo('later'), 0)], NOW)
    expect(await names()).toEqual(['later'])
  })

  it('that a host tells hold off neither events nor another listing', async () => {
    const records = [{ collection: REPO_COLLECTION, rkey: APP, value: repo('app') }]
    await store.replaceAccount(snapshot({ records, rev: 'jzzzzzzzzzzzz' }), NOW)
    await store.apply([event(ALICE, REPO_COLLECTION, APP, repo('by-event'), HOUR)], NOW + HOUR)
    expect(await names()).toEqual(['by-event'])
    const later = { records: [{ ...records[0]!, value: repo('by-list') }], rev: tid(-HOUR), listedAt: NOW + 2 * HOUR }
    await store.prune(NOW + 100 * HOUR)
    await store.replaceAccount(snapshot(later), NOW + 2 * HOUR)
    expect(await names()).toEqual(['by-list'])
  })
})

describe('what an account is called', () => {
  it('leads on from the handle that it had, until another has it', async () => {
    const put = (did: string, handle: string | null, at: number) =>
      store.replaceAccount(snapshot({ did, handle, listedAt: at, records: did === ALICE ? [APP_RECORD] : [] }), at)
    const holder = async (handle: string) => {
      const { did, handle: present } = (await reader.findByHandle(handle))!
      return [did, present]
    }
    await put(ALICE, 'alice.test', NOW)
    expect(await found('alice')).toEqual(['app'])
    await new D1IdentityCache(db).put('alice.test', { did: ALICE, handle: 'alice.test', pds: 'https://pds.test' }, 3600)
    await put(ALICE, 'alba.test', NOW + 1)
    expect(await new D1IdentityCache(db).get('alice.test')).toBe(null)
    expect(await holder('alba.test')).toEqual([ALICE, 'alba.test'])
    expect(await holder('alice.test')).toEqual([ALICE, 'alba.test'])
    expect([await found('alba'), await found('alice')]).toEqual([['app'], []])
    // What was resolved before comes too late.
    await put(ALICE, 'alice.test', NOW)
    expect(await holder('alba.test')).toEqual([ALICE, 'alba.test'])
    await put(BOB, 'alba.test', NOW + 2)
    expect(await holder('alba.test')).toEqual([BOB, 'alba.test'])
    expect(await reader.profile(ALICE)).toMatchObject({ handle: null })
    await put(ALICE, 'alice.test', NOW + 3)
    expect(await holder('alice.test')).toEqual([ALICE, 'alice.test'])
    expect(await reader.findByHandle('nobody.test')).toBe(null)
    expect((await reader.search('al', undefined, { limit: 1 }, 5)).accounts).toMatchObject([
      { did: BOB },
      { did: ALICE },
    ])
  })
})

describe('a handle that cannot be checked', () => {
  const put = (handle: string | null, uncheckedHandle: string | undefined, at: number) =>
    store.replaceAccount(
      snapshot({
        handle,
        ...(uncheckedHandle === undefined ? {} : { uncheckedHandle }),
        listedAt: NOW + at,
        records: [APP_RECORD],
      }),
      NOW + at,
    )
  const handle = async () => (await reader.profile(ALICE))!.handle

  it('stays if it was the account’s, and the account names it still', async () => {
    await put(null, 'alice.test', 0)
    expect(await handle()).toBe(null)
    await put('alice.test', undefined, 1)
    await put(null, 'alice.test', 2)
    expect([await handle(), await found('alice')]).toEqual(['alice.test', ['app']])
    await put(null, 'alba.test', 3)
    expect(await handle()).toBe(null)
    await put('alice.test', undefined, 4)
    await put(null, undefined, 5)
    expect([await handle(), await found('alice')]).toEqual([null, []])
  })
})

describe('a listing by the directory', () => {
  const entry = (name: string) => ({
    rkey: APP,
    record: { name, defaultBranch: 'main', objectFormat: 'sha1', createdAt: '2026-01-01T00:00:00Z' } as const,
  })
  const LONG_AGO = NOW - 3_600_000

  it('that began before an event was applied does not undo it', async () => {
    await store.apply([event(ALICE, REPO_COLLECTION, APP, repo('renamed'))], NOW)
    await directory.replace(ALICE, [entry('app')], NOW)
    expect(await names()).toEqual(['renamed'])
    await directory.replace(ALICE, [], NOW)
    expect(await names()).toEqual(['renamed'])
    await directory.replace(ALICE, [entry('again')], NOW + 1)
    expect(await names()).toEqual(['again'])
    await store.apply([event(ALICE, REPO_COLLECTION, APP, null, 1)], NOW + 5)
    await directory.replace(ALICE, [entry('revived')], NOW + 5)
    await directory.put(ALICE, entry('revived'))
    expect(await names()).toEqual([])
  })

  it('is not undone by one that is older', async () => {
    await directory.replace(ALICE, [entry('new')], NOW)
    await directory.replace(ALICE, [entry('old')], NOW - 1)
    await store.replaceAccount(
      snapshot({ listedAt: NOW - 1, records: [{ collection: REPO_COLLECTION, rkey: APP, value: repo('old') }] }),
      NOW,
    )
    expect([await names(), await directory.listedAt(ALICE)]).toEqual([['new'], NOW])
    await store.replaceAccount(
      snapshot({ listedAt: NOW + 1, records: [{ collection: REPO_COLLECTION, rkey: APP, value: repo('newest') }] }),
      NOW,
    )
    expect(await names()).toEqual(['newest'])
    await directory.replace(ALICE, [], NOW)
    expect(await names()).toEqual(['newest'])
  })

  it('notes who the account is, unless that is known better', async () => {
    const identity = (handle: string) => ({ did: ALICE, handle, pds: 'https://pds.test' })
    await directory.replace(ALICE, [entry('app')], LONG_AGO, identity('alice.test'))
    expect(await reader.profile(ALICE)).toMatchObject({ handle: 'alice.test', repositories: 1 })
    await store.replaceAccount(
      snapshot({ ...identity('alba.test'), listedAt: LONG_AGO, records: [APP_RECORD] }),
      LONG_AGO,
    )
    await directory.replace(ALICE, [entry('app')], LONG_AGO + 1, identity('alice.test'))
    expect(await reader.profile(ALICE)).toMatchObject({ handle: 'alba.test' })
    await directory.replace(ALICE, [entry('app')], NOW + 1, identity('alma.test'))
    expect(await reader.profile(ALICE)).toMatchObject({ handle: 'alma.test' })
    // Who asked may have asked while DNS did not answer.
    await directory.replace(ALICE, [entry('app')], NOW + 2, { ...identity('x'), handle: null })
    expect(await reader.profile(ALICE)).toMatchObject({ handle: 'alma.test' })
  })
})

describe('what is kept for later', () => {
  it('keeps dead letters until they are taken', async () => {
    const letters = new DeadLetters(db)
    for (const n of [1, 2, 3]) await letters.add(`{"n":${n}}`, 'fault', NOW)
    const [last, second] = await letters.list(2)
    expect([last!.payload, second!.payload]).toEqual(['{"n":3}', '{"n":2}'])
    expect((await letters.list(5, second!.id)).map(({ payload }) => payload)).toEqual(['{"n":1}'])
    expect(await letters.take(last!.id)).toEqual(last)
    expect(await letters.take(last!.id)).toBe(null)
    expect([await letters.canWrite(), await letters.count()]).toEqual([true, 2])
    await letters.prune(NOW + 365 * 24 * 3_600_000)
    expect(await letters.count()).toBe(0)
  })

  it('goes on with a listing of all accounts where it was cut off', async () => {
    const reconciles = new Reconciles(db)
    await reconciles.start('https://relay.test', NOW)
    const first = { source: 'https://relay.test', cursor: null, startedAt: NOW }
    expect(await reconciles.advance(first, 100, 'next', NOW)).toBe(true)
    // Somebody else was faster, or it has begun anew.
    expect(await reconciles.advance(first, 100, 'next', NOW)).toBe(false)
    const second = { ...first, cursor: 'next' }
    expect(await reconciles.advance({ ...second, startedAt: NOW - 1 }, 100, 'x', NOW)).toBe(false)
    expect(await reconciles.find('https://relay.test')).toMatchObject({
      cursor: 'next',
      accounts: 100,
      finishedAt: null,
    })
    expect(await reconciles.advance(second, 5, null, NOW + 1)).toBe(true)
    expect(await reconciles.list()).toMatchObject([{ cursor: null, accounts: 105, finishedAt: NOW + 1 }])
  })

  it('drops revs that no stream can bring back', async () => {
    await store.apply([event(ALICE, REPO_COLLECTION, APP, repo('app'))], NOW)
    await store.apply([event(ALICE, REPO_COLLECTION, tid(-5), repo('tool'), 80 * 3_600_000)], NOW + 80 * 3_600_000)
    await store.prune(NOW + 81 * 3_600_000)
    const { results } = await DB.prepare('select rkey from record_revs').all()
    expect(results).toEqual([{ rkey: tid(-5) }])
  })

  it('counts a stranger’s reasons as one when there are too many', async () => {
    const reasons = Array.from({ length: 300 }, (_, i) => `${String.fromCharCode(0x4e00 + i)} is wrong`)
    for (const reason of reasons) await db.run(countDropped([{ uri: 'at://x', collection: 'c', reason }], NOW))
    const counts = await new DroppedRecords(db).list()
    expect(counts.length).toBe(201)
    expect(counts.find(({ reason }) => reason === 'other')!.count).toBe(100)
  })

  it('says which property is missing, and nothing that the record says', async () => {
    await emptyIndex(DB)
    for (const reason of [
      'Record must have the property "name"',
      '"x \\"y\\"": no name',
      'Record/entries/7 must have the property "seq" "z"',
    ])
      await db.run(countDropped([{ uri: 'at://x', collection: 'c', reason }], NOW))
    const reasons = (await new DroppedRecords(db).list()).map(({ reason }) => reason)
    expect(reasons.toSorted()).toEqual([
      'Record must have the property "name"',
      'Record/entries/# must have the property "seq" …',
      '…: no name',
    ])
  })
})
