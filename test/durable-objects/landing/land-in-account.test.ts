import { expect, test } from 'vitest'
import type { Landing, LandingResult } from '../../../atproto/account/landing.ts'
import type { RefState } from '../../../atproto/refs/ref-state.ts'
import { type LandAnswer, refusal } from '../../../durable-objects/account-writer/answers.ts'
import { type LandingDeps, landInAccount } from '../../../durable-objects/landing/land-in-account.ts'
import type { Landed, ReadAccountOutcome } from '../../../durable-objects/repository/answers.ts'

const RECORD = { name: 'app', defaultBranch: 'main', objectFormat: 'sha1' as const, createdAt: '2026-11-30T12:00:00Z' }
const NAME = 'refs/heads/main'
const OID = '1'.repeat(40)
const STATE: RefState = { name: NAME, target: OID, peeled: null, seq: 1, pack: null, at: { kind: 'loose' } }
const LANDING: Landing = {
  did: 'did:plc:abcdefghijklmnopqrstuvwx',
  pds: 'https://pds.test',
  repo: '3lzkoq5qq2s2a',
  create: null,
  pack: null,
  moves: [{ name: NAME, from: null, target: OID, peeled: null }],
  atomic: true,
  head: null,
}
const LANDED: LandingResult = {
  moves: [{ name: NAME, outcome: 'landed', state: STATE }],
  packLanded: true,
  repository: 'unchanged',
  failure: null,
  head: 1,
  headNeeds: [],
  isStale: false,
}
const LOST: LandingResult = {
  ...LANDED,
  moves: [{ name: NAME, outcome: 'lost', state: { ...STATE, target: '2'.repeat(40) } }],
  packLanded: false,
  isStale: true,
}

/** Lands, and says what has happened meanwhile, in order. */
async function land(
  answer: () => LandAnswer,
  change: { readonly landing?: Partial<Landing>; readonly puts?: Error; readonly takesOver?: Error } = {},
) {
  const events: string[] = []
  const later: Promise<unknown>[] = []
  const landed: Landed[] = []
  const deps: LandingDeps = {
    writer: { land: async () => answer() },
    mirror: {
      async land(one) {
        if (change.takesOver) throw change.takesOver
        landed.push(one)
        events.push('taken over')
      },
      async refresh(): Promise<ReadAccountOutcome> {
        // An answer over a network: what goes on at once comes before it.
        await new Promise((resolve) => setImmediate(resolve))
        events.push('refreshed')
        return { state: 'read' }
      },
    },
    noteRepository: async (_, { rkey, record }) => void events.push(`noted ${rkey} ${record.name}`),
    waitUntil: (work) => void later.push(work),
  }
  const pack = {
    async putFiles() {
      if (change.puts) throw change.puts
    },
    manifestPack: () => ({ id: '3lzkoq5qq2s2b', size: 100, objects: 3 }),
    discard: async () => void events.push('discarded'),
  }
  const result = await landInAccount(deps, { ...LANDING, ...change.landing }, pack)
  events.push('told')
  await Promise.all(later)
  return { result, events, landed }
}

test('what landed is in the mirror before anybody is told', async () => {
  const { result, events, landed } = await land(() => ({ ok: true, result: LANDED }))
  expect([result, events]).toEqual([LANDED, ['taken over', 'told']])
  expect(landed).toMatchObject([{ record: null, pack: { objects: 3 }, states: [STATE], head: 1 }])
})

test('a repository that was created is noted under its name', async () => {
  const answer = { ok: true, result: { ...LANDED, repository: 'created' } } as const
  const { events, landed } = await land(() => answer, { landing: { create: RECORD } })
  expect(events).toEqual(['taken over', 'noted 3lzkoq5qq2s2a app', 'told'])
  expect(landed).toMatchObject([{ record: RECORD }])
})

test('one that was not, for its name, leaves nothing', async () => {
  const taken = { ...LOST, repository: { taken: '3lzkoq5qq2s2c' } }
  const { events } = await land(() => ({ ok: true, result: taken }), { landing: { create: RECORD } })
  expect(events).toEqual(['discarded', 'told'])
})

test('who has lost is told so once the mirror has what was faster, and the pack is discarded', async () => {
  const { result, events } = await land(() => ({ ok: true, result: LOST }))
  expect([result, events]).toEqual([LOST, ['taken over', 'refreshed', 'discarded', 'told']])
})

test('who has landed does not wait for what others have written', async () => {
  const { events } = await land(() => ({ ok: true, result: { ...LANDED, isStale: true } }))
  expect(events).toEqual(['taken over', 'told', 'refreshed'])
})

test.each([
  ['the mirror', { takesOver: new Error('evicted') }],
  ['R2', { puts: new Error('no room') }],
])('what is in the account has landed, whatever %s does: the mirror has it read', async (_, change) => {
  const { result, events } = await land(() => ({ ok: true, result: LANDED }), change)
  expect([result, events]).toEqual([LANDED, ['told', 'refreshed']])
})

test('a writer that breaks off leaves it open whether it landed: the pack stays, and the account is read', async () => {
  const { result, events } = await land(() => {
    throw new Error('Durable Object reset')
  })
  expect(result.failure).toMatchObject({ isUncertain: true, isForOwner: false })
  expect(result.moves).toMatchObject([{ name: NAME, outcome: 'failed' }])
  expect(events).toEqual(['told', 'refreshed'])
})

test.each([
  ['signed-out', true],
  ['refused', true],
  ['rate-limited', false],
  ['unreachable', false],
] as const)(
  'a refusal (%s) says whether it is for the owner to do something, and leaves nothing',
  async (reason, is) => {
    const { result, events } = await land(() => refusal(reason, 'not now', 30))
    expect(result.failure).toEqual({
      message: 'not now',
      retryAfterSeconds: 30,
      isUncertain: false,
      isForOwner: is,
      isRefused: false,
    })
    expect(result.moves).toEqual([{ name: NAME, outcome: 'failed', message: 'not now', retryAfterSeconds: 30 }])
    expect(events).toEqual(['discarded', 'told'])
  },
)
