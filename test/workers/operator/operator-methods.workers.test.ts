import { createExecutionContext, env } from 'cloudflare:test'
import { jsonToLex } from '@atproto/lexicon'
import { drizzle } from 'drizzle-orm/d1'
import { beforeEach, describe, expect, it } from 'vitest'
import { tidFromTime } from '../../../atproto/records/tid.ts'
import type { Environment } from '../../../durable-objects/environment.ts'
import { D1IdentityCache } from '../../../storage/directory/identity-cache.ts'
import { RepositoryDirectory } from '../../../storage/directory/repository-directory.ts'
import { DeadLetters } from '../../../storage/index/dead-letters.ts'
import { countDropped } from '../../../storage/index/dropped-records.ts'
import { IndexReader } from '../../../storage/index/index-reader.ts'
import type { EventsMessage, WorkMessage } from '../../../storage/index/messages.ts'
import { MirrorRegister } from '../../../storage/operator/mirror-register.ts'
import { operatorRouter } from '../../../workers/operator/router.ts'
import { RequestContext } from '../../../workers/request-context.ts'
import { lexicons } from '../../../workers/xrpc/lexicons.ts'
import { emptyIndex, findWant } from '../../storage/index/index-dump.ts'
import { didOf } from '../../storage/index/random-stream.ts'

const OPERATOR_TOKEN = 'an-operators-token-of-some-length'
const bindings = env as unknown as Environment
const db = drizzle(bindings.DB)
const [ALICE, BOB] = [didOf(1), didOf(2)]
const APP = tidFromTime(1_790_000_000_000_000, 0)
const APP_URI = `at://${ALICE}/dev.skein.repo/${APP}`
const DAY = 24 * 60 * 60_000

/** What went to the Queues: nobody consumes it. */
let events: EventsMessage[] = []
let hints: WorkMessage[] = []
let counted: string[] = []
let hasRoom = true

function edge(vars: Partial<Environment> = {}): Environment {
  return {
    ...bindings,
    OPERATOR_TOKEN,
    EVENTS: { send: async (message: EventsMessage) => void events.push(message) } as unknown as Queue<EventsMessage>,
    WORK: {
      sendBatch: async (batch: { body: WorkMessage }[]) => void hints.push(...batch.map(({ body }) => body)),
    } as unknown as Queue<WorkMessage>,
    CALL_LIMIT: {
      limit: async ({ key }: { key: string }) => {
        counted.push(key)
        return { success: hasRoom }
      },
    } as unknown as RateLimit,
    ...vars,
  }
}

interface Asked {
  readonly vars?: Partial<Environment>
  readonly authorization?: string | null
  /** Default: the method's own. */
  readonly httpMethod?: string
}

const PROCEDURES = ['block', 'unblock', 'replayDeadLetters', 'reconcile']
const QUERIES = ['listBlocks', 'listDeadLetters', 'listDroppedRecords', 'getReconcile', 'getStatus']

async function ask(method: string, given: Record<string, unknown> = {}, asked: Asked = {}): Promise<Response> {
  const isProcedure = PROCEDURES.includes(method)
  const { vars, authorization = `Bearer ${OPERATOR_TOKEN}`, httpMethod = isProcedure ? 'POST' : 'GET' } = asked
  const search = new URLSearchParams(Object.entries(given).map(([name, value]) => [name, `${value}`]))
  const request = new Request(`https://edge.test/xrpc/dev.skein.operator.${method}${isProcedure ? '' : `?${search}`}`, {
    method: httpMethod,
    headers: {
      'Content-Type': 'application/json',
      'CF-Connecting-IP': '203.0.113.7',
      ...(authorization === null ? {} : { Authorization: authorization }),
    },
    ...(httpMethod === 'POST' ? { body: JSON.stringify(given) } : {}),
  })
  return (await operatorRouter.fetch(request, new RequestContext(edge(vars), createExecutionContext())))!
}

// biome-ignore lint/suspicious/noExplicitAny: what a method answers is checked by its lexicon, and then looked into
type Answer = any

/** What it answers, as its lexicon has it. */
async function call(method: string, given: Record<string, unknown> = {}, asked: Asked = {}): Promise<Answer> {
  const response = await ask(method, given, asked)
  const body = await response.json()
  expect(response.status, JSON.stringify(body)).toBe(200)
  expect(response.headers.get('Cache-Control')).toBe('no-store')
  lexicons.assertValidXrpcOutput(`dev.skein.operator.${method}`, jsonToLex(body as never))
  return body
}

async function refused(method: string, given?: Record<string, unknown>, asked?: Asked): Promise<unknown[]> {
  const response = await ask(method, given, asked)
  const { error, message } = (await response.json()) as Answer
  return [response.status, error, message]
}

beforeEach(async () => {
  ;[events, hints, counted, hasRoom] = [[], [], [], true]
  await emptyIndex(bindings.DB)
  await bindings.DB.batch(
    ['blocks', 'mirrors', 'reconciles'].map((table) => bindings.DB.prepare(`delete from ${table}`)),
  )
  const alice = { did: ALICE, handle: 'alice.test', pds: 'https://pds.test' }
  await new D1IdentityCache(db).put('alice.test', alice, 3600)
  const record = {
    name: 'app',
    defaultBranch: 'main',
    objectFormat: 'sha1',
    createdAt: '2026-01-01T00:00:00Z',
  } as const
  // So late that nobody asks the account for a name that is not there.
  await new RepositoryDirectory(db).replace(ALICE, [{ rkey: APP, record }], Date.now() + 60_000, alice)
})

describe('who may call', () => {
  it.each([...PROCEDURES, ...QUERIES, 'nonsense'])('%s: the operator alone', async (method) => {
    for (const authorization of [null, 'Bearer wrong', `Basic ${btoa(`x:${OPERATOR_TOKEN}`)}`, OPERATOR_TOKEN]) {
      expect(await refused(method, {}, { authorization })).toEqual([
        401,
        'AuthenticationRequired',
        expect.stringContaining('operator’s token'),
      ])
    }
    expect(new Set(counted)).toEqual(new Set(['operator 203.0.113.7']))
    hasRoom = false
    expect((await refused(method, {}, { authorization: 'Bearer wrong' }))[0]).toBe(429)
    expect((await refused(method, {}, { vars: { OPERATOR_TOKEN: '' } })).slice(0, 2)).toEqual([404, 'OperatorDisabled'])
  })

  it('is not counted with the right token', async () => {
    hasRoom = false
    await call('getStatus')
    expect(counted).toEqual([])
  })

  it.each([...PROCEDURES, ...QUERIES])('%s by its own HTTP method alone', async (method) => {
    const httpMethod = PROCEDURES.includes(method) ? 'GET' : 'POST'
    expect((await refused(method, {}, { httpMethod })).slice(0, 2)).toEqual([405, 'InvalidRequest'])
  })

  it('and nothing that there is not', async () => {
    expect((await refused('nonsense')).slice(0, 2)).toEqual([501, 'MethodNotImplemented'])
  })
})

describe('what is refused, in words', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['block', {}, 'must have the property "subject"'],
    ['block', { subject: '' }, 'subject'],
    ['block', { subject: 'a/b/c' }, 'a subject is <handle or DID>'],
    ['block', { subject: 'did:nonsense:x' }, 'did:nonsense:x is no DID'],
    ['block', { subject: ALICE, reason: 'x'.repeat(1001) }, 'reason'],
    ['block', { subject: ALICE, keepBytes: 'yes' }, 'keepBytes'],
    ['unblock', {}, 'subject'],
    ['listBlocks', { limit: 1001 }, 'limit'],
    ['listDeadLetters', { cursor: 'x' }, 'cursor'],
    ['listDeadLetters', { limit: 0 }, 'limit'],
    ['replayDeadLetters', { ids: [] }, 'ids'],
    ['replayDeadLetters', { ids: [0] }, 'ids'],
    ['replayDeadLetters', { ids: ['1'] }, 'ids'],
    ['reconcile', { accounts: [] }, 'accounts'],
    ['reconcile', { accounts: ['alice.test'] }, 'accounts'],
    ['reconcile', { accounts: ['did:plc:abc'] }, 'did:plc:abc is no DID of an account'],
    ['reconcile', { source: 'nonsense' }, 'source must be relay or known'],
  ])('%s %j', async (method, given, words) => {
    expect(await refused(method, given)).toEqual([400, 'InvalidRequest', expect.stringContaining(words)])
    expect([hints, events]).toEqual([[], []])
  })

  it('a repository that is not there, a relay that is not set', async () => {
    expect(await refused('block', { subject: 'alice.test/other' })).toEqual([
      404,
      'RepositoryNotFound',
      "the account alice.test has no repository named 'other'",
    ])
    expect(await refused('reconcile', { source: 'relay' })).toEqual([400, 'NoRelay', expect.any(String)])
  })
})

describe('block and unblock', () => {
  const shown = async () => (await new IndexReader(db).search('app', undefined, { limit: 5 })).repositories.items.length
  const listed = async () => {
    const context = new RequestContext(edge(), createExecutionContext())
    return (await context.listRepositories(await context.resolveActor('alice.test'))).map(({ rkey }) => rkey)
  }

  it.each(['alice.test/app', 'alice.test/app.git', `${ALICE}/app`.replace(ALICE, 'at://alice.test'), APP_URI])(
    'a repository, %s',
    async (subject) => {
      expect(await shown()).toBe(1)
      const { block, mirrors } = await call('block', { subject, reason: 'spam' })
      expect([block, mirrors]).toEqual([{ subject: APP_URI, reason: 'spam', createdAt: expect.any(String) }, 1])
      expect([await shown(), await listed()]).toEqual([0, []])
      expect((await call('block', { subject, reason: 'worse' })).block).toEqual({ ...block, reason: 'worse' })
      expect(await call('unblock', { subject })).toEqual({ subject: APP_URI, wasBlocked: true, mirrors: 1 })
      expect([await shown(), await listed()]).toEqual([1, [APP]])
      expect(await call('unblock', { subject })).toMatchObject({ wasBlocked: false })
    },
  )

  it('an account: all mirrors hear of it', async () => {
    const register = new MirrorRegister(db)
    for (const rkey of ['one', 'two']) await register.exchange({ did: ALICE, rkey, bytes: 7, usedAt: 1 }, true)
    expect(await call('block', { subject: 'alice.test', keepBytes: true })).toMatchObject({
      block: { subject: ALICE, reason: '' },
      mirrors: 2,
    })
    expect(await shown()).toBe(0)
    await expect(listed()).rejects.toMatchObject({ status: 403, code: 'Blocked' })
    expect(await call('unblock', { subject: ALICE })).toMatchObject({ wasBlocked: true, mirrors: 2 })
    expect(await listed()).toEqual([APP])
  })

  it('what is not there, by its DID; and all of it is listed page by page', async () => {
    for (const subject of [BOB, APP_URI, ALICE]) await call('block', { subject })
    const subjects: string[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await call('listBlocks', { limit: 2, ...(cursor === undefined ? {} : { cursor }) })
      subjects.push(...page.blocks.map(({ subject }: { subject: string }) => subject))
      cursor = page.cursor
      if (cursor === undefined) break
    }
    expect(subjects).toEqual([APP_URI, ALICE, BOB].toSorted())
    expect(await call('getStatus')).toMatchObject({ blocks: 3 })
  })
})

describe('dead letters', () => {
  const letters = new DeadLetters(db)
  const event = (time: number) => ({ kind: 'identity', did: BOB, cursor: 1, time })
  const message = (time: number) => ({ kind: 'events', upstream: 'wss://relay.test', batch: 1, events: [event(time)] })

  it('are listed page by page, and delivered once more; of old ones the accounts are listed', async () => {
    const now = Date.now()
    for (const [payload, at] of [
      [message(now), now],
      [message(now - 4 * DAY), now - 4 * DAY],
      [{ kind: 'nonsense' }, now],
    ] as const) {
      await letters.add(JSON.stringify(payload), 'Error: bad', at)
    }
    const first = await call('listDeadLetters', { limit: 2 })
    const rest = await call('listDeadLetters', { limit: 2, cursor: first.cursor })
    expect([first.deadLetters.length, rest.deadLetters.length, rest.cursor]).toEqual([2, 1, undefined])
    const [none, old, young] = [...first.deadLetters, ...rest.deadLetters].map(({ id }: { id: number }) => id)
    expect(first.deadLetters[1]).toEqual({
      id: old,
      payload: JSON.stringify(message(now - 4 * DAY)),
      error: 'Error: bad',
      diedAt: new Date(now - 4 * DAY).toISOString(),
    })
    const { outcomes } = await call('replayDeadLetters', { ids: [young, old, none, none! + 1] })
    expect(outcomes.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'replayed',
      'wanted',
      'unreadable',
      'absent',
    ])
    expect(events).toEqual([message(now)])
    expect(hints).toEqual([{ kind: 'account', did: BOB }])
    expect(await findWant(bindings.DB, BOB)).toMatchObject({ reason: 'named by an old dead letter' })
    expect((await call('listDeadLetters')).deadLetters.map(({ id }: { id: number }) => id)).toEqual([none])
  })
})

describe('reconcile', () => {
  it('wants accounts that are named, each once', async () => {
    expect(await call('reconcile', { accounts: [BOB, ALICE, BOB] })).toEqual({ lists: [], accountsWanted: 2 })
    expect(hints).toEqual([BOB, ALICE].map((did) => ({ kind: 'account', did })))
    expect(await call('getStatus')).toMatchObject({ accountsWanted: 2, accountsDue: 2 })
  })

  it.each<[Record<string, unknown>, string]>([
    [{}, 'known'],
    [{ source: 'known' }, 'known'],
    [{ source: 'relay' }, 'https://relay.test'],
  ])('begins a list, %j', async (given, source) => {
    const state = await call('reconcile', given, { vars: { RELAY_URL: 'https://relay.test/' } })
    expect(state).toEqual({ lists: [{ source, accounts: 0, startedAt: expect.any(String) }], accountsWanted: 0 })
    expect(hints).toEqual([{ kind: 'reconcile', source }])
    expect(await call('getReconcile')).toEqual(state)
  })
})

it('counts what was dropped, by collection and reason', async () => {
  const dropped = (rkey: string) => ({
    uri: `at://${BOB}/dev.skein.repo/${rkey}`,
    collection: 'dev.skein.repo',
    reason: 'bad',
  })
  await db.run(countDropped([dropped('a'), dropped('b')], 5))
  expect(await call('listDroppedRecords')).toEqual({
    droppedRecords: [{ ...dropped('b'), count: 2, droppedAt: new Date(5).toISOString() }],
  })
  expect(await call('getStatus')).toEqual({
    ...{ mirrors: 0, mirroredBytes: 0, blocks: 0, accountsWanted: 0, accountsDue: 0, deadLetters: 0 },
    droppedRecords: 2,
  })
})
