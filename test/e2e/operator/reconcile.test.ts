import { expect, test, vi } from 'vitest'
import { startWorld } from '../harness.ts'
import { DirectWriter } from '../indexer/direct-push.ts'
import { indexedRows, listedRows } from '../indexer/index-records.ts'
import { edgeWith } from './edge-with.ts'
import { OPERATOR_TOKEN, operate } from './operate.ts'

// Nothing is followed: what the index has, it has by what the operator does.
const world = await startWorld({ vars: { OPERATOR_TOKEN } })
const { edge, alice, bob } = world
const accounts = [alice, bob]
const writers = accounts.map((account) => new DirectWriter(world, account))
const DAY = 24 * 60 * 60_000

async function succeed(...args: string[]) {
  const { status, stdout, stderr } = await operate(edge, [...args, '--json'])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return JSON.parse(stdout)
}

async function expectEqual(of = accounts): Promise<void> {
  const listed = await listedRows(world, of)
  await vi.waitFor(async () => expect(await indexedRows(await edge.database())).toEqual(listed), {
    timeout: 30_000,
    interval: 100,
  })
}

/** Lays down a dead letter. @returns its id */
async function bury(payload: unknown, diedAt: number): Promise<number> {
  const db = await edge.database()
  const row = await db
    .prepare('insert into dead_letters (payload, error, died_at) values (?, ?, ?) returning id')
    .bind(JSON.stringify(payload), 'Error: bad', diedAt)
    .first<{ id: number }>()
  return row!.id
}

/** A message that an account's repository was written. */
function written(did: string, rkey: string, name: string, time: number) {
  const value = {
    $type: 'dev.skein.repo',
    name,
    defaultBranch: 'main',
    objectFormat: 'sha1',
    createdAt: '2026-11-30T12:00:00Z',
  }
  const record = {
    kind: 'record',
    did,
    cursor: 1,
    time,
    collection: 'dev.skein.repo',
    rkey,
    rev: rkey,
    value,
    isProven: true,
  }
  return { kind: 'events', upstream: 'test', batch: 1, events: [record] }
}

test('accounts that the operator names are listed, then all that are known', async () => {
  const repos = await Promise.all(writers.map((writer) => writer.createRepository('app', { topics: ['git'] })))
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  await writers[0]!.push(repos[0]!, work)
  await succeed('reconcile', alice.did)
  await expectEqual([alice])
  await succeed('reconcile', bob.did, alice.did, bob.did)
  await expectEqual()

  for (const [i, writer] of writers.entries()) await writer.updateRepository(repos[i]!, 'renamed')
  expect(await succeed('reconcile')).toMatchObject({ lists: [{ source: 'known' }] })
  await expectEqual()
  await vi.waitFor(async () => {
    expect(await succeed('reconciling')).toMatchObject({
      lists: [{ source: 'known', accounts: 2, finishedAt: expect.any(String) }],
      accountsWanted: 0,
    })
  }, 30_000)
  const { stdout } = await operate(edge, ['reconciling'])
  expect(stdout).toMatch(/^known: 2 accounts, since \S+, done \S+\n0 accounts are still to be listed\n$/)
})

test('all that a relay knows are listed, where there is a relay', async () => {
  const refused = await operate(edge, ['reconcile', '--relay'])
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('NoRelay') })
  const other = await edgeWith(world, { OPERATOR_TOKEN, RELAY_URL: world.atmosphere.pdsUrl })
  expect(await operate(other, ['reconcile', '--relay'])).toMatchObject({ status: 0, stderr: '' })
  const listed = await listedRows(world, accounts)
  await vi.waitFor(async () => expect(await indexedRows(await other.database())).toEqual(listed), {
    timeout: 30_000,
    interval: 100,
  })
})

test('a dead letter is applied once more; of an old one, which could undo a deletion, the account is listed', async () => {
  const rkey = await writers[0]!.createRepository('late')
  const now = Date.now()
  const young = await bury(written(alice.did, rkey, 'late', now), now)
  const old = await bury(written(bob.did, '3lzkoq5qq2s2a', 'deleted-since', now - 4 * DAY), now - 4 * DAY)
  const none = await bury({ kind: 'nonsense' }, now)
  const { deadLetters } = await succeed('dead-letters')
  expect(deadLetters.map(({ id }: { id: number }) => id)).toEqual([none, old, young])
  expect(deadLetters[1]).toMatchObject({ error: 'Error: bad', diedAt: new Date(now - 4 * DAY).toISOString() })
  expect(await succeed('status')).toMatchObject({ deadLetters: 3, accountsWanted: 0, accountsDue: 0 })

  const direct = await writers[1]!.createRepository('only-listed')
  const absent = none + 1
  expect(await succeed('replay', `${young}`, `${old}`, `${none}`, `${absent}`)).toEqual({
    outcomes: [
      { id: young, outcome: 'replayed' },
      { id: old, outcome: 'wanted' },
      { id: none, outcome: 'unreadable' },
      { id: absent, outcome: 'absent' },
    ],
  })
  await expectEqual()
  const db = await edge.database()
  const found = await db.prepare('select rkey from repositories where did = ? order by name').bind(bob.did).all()
  expect(found.results).toContainEqual({ rkey: direct })
  expect(found.results).not.toContainEqual({ rkey: '3lzkoq5qq2s2a' })
  expect((await operate(edge, ['dead-letters'])).stdout).toBe(
    `${none}  ${new Date(now).toISOString()}  Error: bad  {"kind":"nonsense"}\n`,
  )
})

test('records that were not valid are counted by collection and reason', async () => {
  expect((await operate(edge, ['dropped'])).stdout).toBe('none was dropped\n')
  const value = { name: '../../etc', defaultBranch: 'main', objectFormat: 'sha1', createdAt: '2026-11-30T12:00:00Z' }
  const rkey = '3lzkoq5qq2s2b'
  await writers[0]!.write([{ action: 'create', collection: 'dev.skein.repo', rkey, value }])
  await succeed('reconcile', alice.did)
  await vi.waitFor(async () => expect(await succeed('status')).toMatchObject({ droppedRecords: 1 }), 30_000)
  const { droppedRecords } = await succeed('dropped')
  expect(droppedRecords).toEqual([
    {
      collection: 'dev.skein.repo',
      reason: expect.stringContaining('name'),
      count: 1,
      uri: `at://${alice.did}/dev.skein.repo/${rkey}`,
      droppedAt: expect.any(String),
    },
  ])
  expect((await operate(edge, ['dropped'])).stdout).toMatch(/^1 {2}dev\.skein\.repo {2}.*name/)
})
