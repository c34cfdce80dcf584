import { expect, test, vi } from 'vitest'
import type { StreamEvent } from '../../../atproto/firehose/stream-event.ts'
import { packKey, refKey } from '../../../atproto/records/record-keys.ts'
import type { EventsMessage } from '../../../storage/index/messages.ts'
import { startWorld } from '../harness.ts'
import { DirectWriter } from './direct-push.ts'
import { indexedRows } from './index-records.ts'
import { health, settled } from './settled.ts'

const world = await startWorld({ isFollowing: true })
const { edge, alice, bob } = world
const direct = new DirectWriter(world, alice)
const REPO = '3lzkoq5qq2s2a'
const CREATED = '2026-11-30T12:00:00Z'
const good = { name: 'app', defaultBranch: 'main', objectFormat: 'sha1', createdAt: CREATED }

const repos: Record<string, unknown>[] = [
  { name: 7, defaultBranch: {}, objectFormat: [], createdAt: null },
  { ...good, name: '../../etc' },
  { ...good, name: '.git' },
  { ...good, name: 'a\u0000b' },
  { ...good, name: 'rtl\u202egnp' },
  { ...good, description: 'x'.repeat(100_000) },
  { ...good, description: '\u0000\u0007\u202e\ud83d' },
  { ...good, topics: Array.from({ length: 5_000 }, (_, n) => `topic${n}`) },
  { ...good, createdAt: '9999-12-31T23:59:59Z' },
  { ...good, createdAt: 'yesterday' },
  { ...good, forkOf: 'javascript:alert(1)' },
  { $type: 'dev.skein.other', ...good },
  {},
]

const records: [collection: string, rkey: string, value: Record<string, unknown>][] = [
  ...repos.map((value, n): [string, string, Record<string, unknown>] => ['dev.skein.repo', `hostile-${n}`, value]),
  ...repos.map((value, n): [string, string, Record<string, unknown>] => [
    'dev.skein.repo',
    `3lzkoq5qq2${'234567abcdefghij'[n]}2a`,
    value,
  ]),
  ['dev.skein.ref', 'nonsense', { name: 'refs/heads/main', seq: 1 }],
  ['dev.skein.ref', refKey(REPO, 'refs/heads/main', 1), { name: 'refs/heads/../../x', seq: 1, target: '1'.repeat(40) }],
  ['dev.skein.ref', refKey(REPO, 'refs/heads/a', 1), { name: 'refs/heads/a', seq: 1e21, target: 'z' }],
  ['dev.skein.pack', packKey(REPO, '3lzkosecbps2a'), { size: -1, objects: 'many', checksum: '', thin: 'yes' }],
  [
    'dev.skein.pack',
    packKey(REPO, 'jzzzzzzzzzzzz'),
    {
      bytes: { $bytes: 'AAAA' },
      size: 3,
      objects: 1e12,
      checksum: '1'.repeat(40),
      thin: false,
      createdAt: '9999-12-31T23:59:59Z',
    },
  ],
  ['dev.skein.refs', `${REPO}:64:1`, { entries: Array.from({ length: 3_000 }, () => ({ name: 'x' })) }],
  ['dev.skein.refs', `${REPO}:64:2`, { entries: 'none' }],
]

async function stillWorks(name: string): Promise<void> {
  const repo = await direct.createRepository(name)
  await vi.waitFor(async () => {
    const { repositories } = await indexedRows(await edge.database())
    expect(repositories).toContain(`${alice.did} ${repo} ${name} `)
  }, 20_000)
}

test('records that strangers write into the real PDS neither break it nor hold it up', async () => {
  let taken = 0
  for (const [collection, rkey, value] of records) {
    // Some the PDS does not take: they come by the Queue below.
    await world.createRecord(bob, collection, rkey, value).then(
      () => taken++,
      () => undefined,
    )
  }
  expect(taken).toBeGreaterThan(15)
  await stillWorks('after-hostile-records')
  const { deadLetters, droppedRecords, status } = await settled(edge)
  expect([deadLetters, status]).toEqual([0, 'ok'])
  expect(droppedRecords).toBeGreaterThan(10)
  for (const path of ['bob.test', `xrpc/dev.skein.repo.search?q=app`, 'xrpc/dev.skein.feed.timeline']) {
    expect((await fetch(`${edge.url}/${path}`)).status).toBe(200)
  }
})

test('the same as events, and worse, are dropped and counted, and no message of theirs is stuck', async () => {
  const base = {
    kind: 'record' as const,
    did: bob.did,
    cursor: 1,
    time: Date.now(),
    rev: '3zzzzzzzzzzzz',
    isProven: true,
  }
  const events: StreamEvent[] = [
    ...records.map(([collection, rkey, value]) => ({ ...base, collection, rkey, value })),
    { ...base, collection: 'dev.skein.repo', rkey: '../../../x', value: good },
    { ...base, collection: 'dev.skein.repo', rkey: 'x'.repeat(600), value: good },
    { ...base, collection: 'dev.skein.repo', rkey: REPO, value: 'text' },
    { ...base, collection: 'dev.skein.repo', rkey: REPO, value: [1, 2, 3] },
    {
      ...base,
      collection: 'dev.skein.pack',
      rkey: packKey(REPO, '3lzkosecbps2b'),
      value: {},
      parked: 'packs/elsewhere',
    },
    { ...base, collection: 'x'.repeat(1_000), rkey: 'y', value: {} },
    { ...base, did: 'did:plc:nonsense', collection: 'dev.skein.repo', rkey: REPO, value: good },
    { ...base, did: `did:web:${'x'.repeat(300)}`, collection: 'dev.skein.repo', rkey: REPO, value: good },
    { ...base, rev: '', collection: 'dev.skein.repo', rkey: REPO, value: good },
    { kind: 'identity', did: 'nobody', cursor: -1, time: Number.MAX_SAFE_INTEGER },
    { kind: 'account', did: bob.did, cursor: 1, time: 8.64e15, isActive: true, status: '\u0000'.repeat(100) },
    { kind: 'sync', did: bob.did, cursor: 1, time: 1, rev: 'x' },
  ]
  const queue = await edge.queue<unknown>('EVENTS')
  for (const [n, event] of events.entries()) {
    await queue.send({ kind: 'events', upstream: 'elsewhere', batch: n, events: [event] } satisfies EventsMessage)
  }
  // Of these nothing can be made at all.
  const letters = [null, 'text', { kind: 'events' }, { kind: 'events', upstream: 'x', batch: 1, events: [null] }]
  for (const body of letters) await queue.send(body)
  await stillWorks('after-hostile-events')
  await vi.waitFor(async () => expect((await health(edge)).deadLetters).toBe(letters.length), 30_000)
  expect(edge.logs.filter(({ message }) => message.includes('"events-failed"'))).toEqual([])
  expect(edge.logs.filter(({ message }) => message.includes('crashed'))).toEqual([])
})
