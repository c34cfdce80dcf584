import { beforeEach, describe, expect, test } from 'vitest'
import type { Landing, LandingResult, RefMove } from '../../../atproto/account/landing.ts'
import { LandingQueue, type LandingQueueDeps } from '../../../atproto/account/landing-queue.ts'
import { PdsError, PdsUnreachableError } from '../../../atproto/pds/pds-error.ts'
import type { Write } from '../../../atproto/pds/write.ts'
import {
  PACK_COLLECTION,
  REF_COLLECTION,
  REFS_COLLECTION,
  REPO_COLLECTION,
} from '../../../atproto/records/collections.ts'
import { packKey, refKey, refsKey } from '../../../atproto/records/record-keys.ts'
import type { RepoRecord } from '../../../atproto/records/record-types.ts'
import { encodeRefsRecord } from '../../../atproto/records/ref-record.ts'
import { encodeRepoRecord } from '../../../atproto/records/repo-record.ts'
import { TidClock } from '../../../atproto/records/tid.ts'
import { PLAN_LIMITS } from '../../../atproto/refs/plan.ts'
import type { RefState } from '../../../atproto/refs/ref-state.ts'
import { MemoryPds } from '../memory-pds.ts'

/** How landings of one account are put together: the PDS is in memory, and each applyWrites waits to be let through. */

const DID = 'did:plc:abcdefghijklmnopqrstuvwx'
const tids = new TidClock()
const [A, B, C] = [tids.next(), tids.next(), tids.next()] as [string, string, string]

let pds: MemoryPds
/** The applyWrites that have arrived, in order. */
let flights: Flight[]
let arrived: PromiseWithResolvers<void>

interface Flight {
  readonly writes: readonly Write[]
  /** Carries it out, and answers. */
  run(): void
  /** Answers with a fault. @param done whether it is carried out all the same */
  fail(fault: Error, done?: boolean): void
}

beforeEach(() => {
  pds = new MemoryPds()
  flights = []
  arrived = Promise.withResolvers()
  // Repositories that are there already, their heads at 1.
  for (const repo of [A, B, C])
    pds.put(REFS_COLLECTION, refsKey(repo, 0, 1), encodeRefsRecord({ entries: [], landing: tids.next() }))
  for (const repo of [A, B, C]) pds.put(REPO_COLLECTION, repo, encodeRepoRecord(repoRecord(repo)))
})

function open(overrides: Partial<LandingQueueDeps> = {}): LandingQueue {
  return new LandingQueue({
    client: pds.client,
    applyWrites: (writes) => {
      const answer = Promise.withResolvers<void>()
      flights.push({
        writes,
        run() {
          try {
            pds.applyWrites(writes)
            answer.resolve()
          } catch (fault) {
            answer.reject(fault)
          }
        },
        fail(fault, done = false) {
          if (done) pds.applyWrites(writes)
          answer.reject(fault)
        },
      })
      arrived.resolve()
      return answer.promise
    },
    tids,
    sleep: async () => undefined,
    ...overrides,
  })
}

/** The nth applyWrites, once it has arrived. */
async function flight(n: number): Promise<Flight> {
  while (flights.length <= n) {
    arrived = Promise.withResolvers()
    await arrived.promise
  }
  return flights[n]!
}

/** Lets all through from the nth on, until the landings are done. */
async function runAll(from: number, landings: readonly Promise<LandingResult>[]): Promise<LandingResult[]> {
  const done = Promise.all(landings)
  let isDone = false
  const end = done.finally(() => {
    isDone = true
    arrived.resolve()
  })
  for (let n = from; !isDone; n++) {
    while (flights.length <= n && !isDone) {
      arrived = Promise.withResolvers()
      await arrived.promise
    }
    flights[n]?.run()
  }
  return end
}

function repoRecord(name: string): RepoRecord {
  return { name, defaultBranch: 'main', objectFormat: 'sha1', createdAt: '2026-11-30T12:00:00Z' }
}

function landing(repo: string, moves: readonly RefMove[], overrides: Partial<Landing> = {}): Landing {
  const size = 32
  const record = { bytes: new Uint8Array(size), size, objects: 1, checksum: '9'.repeat(40), thin: false }
  return {
    did: DID,
    pds: 'https://pds.test',
    repo,
    create: null,
    pack: { rkey: packKey(repo, tids.next()), record: { ...record, createdAt: '2026-11-30T12:00:00Z' } },
    moves,
    atomic: false,
    head: 1,
    ...overrides,
  }
}

function creating(repo: string, name: string, overrides: Partial<Landing> = {}): Landing {
  return landing(repo, [creation(name)], overrides)
}

function creation(name: string): RefMove {
  return { name: `refs/heads/${name}`, from: null, target: '1'.repeat(40), peeled: null }
}

function moving(state: RefState, target: string | null, overrides: Partial<Landing> = {}): Landing {
  return landing(A, [{ name: state.name, from: state, target, peeled: null }], { head: 2, ...overrides })
}

/** A branch of A that is there: `main`, at seq 1; the head is at 2. */
async function createMain(queue: LandingQueue): Promise<RefState> {
  const [result] = await runAll(0, [queue.land(creating(A, 'main'))])
  flights = []
  return stateOf(result!)
}

function stateOf(result: LandingResult): RefState {
  const [outcome] = result.moves
  if (outcome?.outcome !== 'landed') throw new Error(`${outcome?.outcome}`)
  return outcome.state
}

function outcomes(results: readonly LandingResult[]): string[] {
  return results.flatMap(({ moves }) => moves.map(({ outcome }) => outcome))
}

function packs(writes: readonly Write[]): string[] {
  return writes.filter(({ collection }) => collection === PACK_COLLECTION).map(({ rkey }) => rkey)
}

const serverError = new PdsError('pds.test', 500, 'InternalServerError', 'Internal Server Error', null)
const broken = new PdsUnreachableError('pds.test', 'broke off its answer')

describe('gathering', () => {
  test('the first landing goes at once; those that come meanwhile go together, of whatever repositories', async () => {
    const queue = open()
    const first = queue.land(creating(A, 'one'))
    expect(flights).toHaveLength(1)
    const wanted = [creating(A, 'two'), creating(B, 'one'), creating(A, 'three'), creating(C, 'one')]
    const landings = [first, ...wanted.map((each) => queue.land(each))]
    expect(flights).toHaveLength(1)
    const results = await runAll(0, landings)
    expect(outcomes(results)).toEqual(Array(5).fill('landed'))
    expect(flights).toHaveLength(2)
    expect(packs(flights[1]!.writes).sort()).toEqual(wanted.map(({ pack }) => pack!.rkey).sort())
    // Nobody had to look at the account, and each repository's head has moved once.
    expect(pds.calls).toEqual([])
    expect(pds.keys(REFS_COLLECTION)).toEqual([refsKey(A, 0, 3), refsKey(B, 0, 2), refsKey(C, 0, 2)])
  })

  test('those of one repository say which refs have come with the head that they leave', async () => {
    const queue = open()
    const landings = ['one', 'two', 'three'].map((name) => queue.land(creating(A, name)))
    const results = await runAll(0, landings)
    const needs = (...names: string[]) => names.map((name) => ({ name: `refs/heads/${name}`, seq: 1 }))
    expect(results).toMatchObject([
      { head: 2, isStale: false, headNeeds: [] },
      { head: 3, isStale: false, headNeeds: needs('one', 'three') },
      { head: 3, isStale: false, headNeeds: needs('one', 'two') },
    ])
  })

  test('what does not fit into one applyWrites waits for the next, in the order in which it came', async () => {
    const queue = open({ limits: { ...PLAN_LIMITS, writes: 8 } })
    // Each is its pack and its ref; two of them and the head are six writes.
    const wanted = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'].map((name) => creating(A, name))
    const results = await runAll(
      0,
      wanted.map((each) => queue.land(each)),
    )
    expect(outcomes(results)).toEqual(Array(7).fill('landed'))
    const keys = wanted.map(({ pack }) => pack!.rkey)
    expect(flights.map(({ writes }) => packs(writes))).toEqual([keys.slice(0, 1), keys.slice(1, 4), keys.slice(4, 7)])
  })

  test('one that takes many applyWrites does not hold up those that come after it', async () => {
    const queue = open({ limits: { ...PLAN_LIMITS, writes: 6, looseCreations: 100 } })
    const many = landing(
      A,
      Array.from({ length: 12 }, (_, n) => creation(`many-${n}`)),
    )
    const landings = [queue.land(many), queue.land(creating(B, 'small'))]
    const results = await runAll(0, landings)
    expect(outcomes(results)).toEqual(Array(13).fill('landed'))
    expect(flights.findIndex(({ writes }) => packs(writes)[0]?.startsWith(B))).toBe(1)
    expect(flights).toHaveLength(5)
  })

  test('an atomic landing is in one applyWrites, or refused in words', async () => {
    const queue = open({ limits: { ...PLAN_LIMITS, writes: 6, looseCreations: 100 } })
    const names = (count: number, prefix: string) => Array.from({ length: count }, (_, n) => creation(`${prefix}-${n}`))
    const landings = [
      queue.land(creating(A, 'first')),
      queue.land(landing(A, names(2, 'fits'), { atomic: true })),
      queue.land(landing(A, names(9, 'large'), { atomic: true })),
      queue.land(creating(B, 'other')),
    ]
    const results = await runAll(0, landings)
    expect(outcomes(results)).toEqual(['landed', 'landed', 'landed', ...Array(9).fill('failed'), 'landed'])
    expect(results[2]!.failure?.message).toMatch(/does not fit/)
    const fitting = flights.filter(({ writes }) => JSON.stringify(writes).includes('fits-'))
    expect(fitting).toHaveLength(1)
  })

  test('creations, a move, a deletion and an atomic landing go in one batch', async () => {
    const queue = open()
    const main = await createMain(queue)
    const [other] = await runAll(0, [queue.land(creating(A, 'other', { head: 2 }))])
    flights = []
    const landings = [
      queue.land(creating(B, 'first')),
      queue.land(creating(A, 'new', { head: 3 })),
      queue.land(moving(main, '2'.repeat(40), { head: 3 })),
      queue.land(moving(stateOf(other!), null, { head: 3, pack: null })),
      queue.land(landing(C, [creation('x'), creation('y')], { atomic: true })),
    ]
    const results = await runAll(0, landings)
    expect(outcomes(results)).toEqual(Array(6).fill('landed'))
    expect(flights).toHaveLength(2)
    expect(results[3]!.moves[0]).toMatchObject({ outcome: 'landed', state: { target: null, seq: 2 } })
  })

  test('a landing that has nothing to write is done', async () => {
    expect(await open().land(landing(A, [], { pack: null }))).toMatchObject({ moves: [], failure: null })
    expect(flights).toEqual([])
  })
})

describe('landings that cannot both land', () => {
  test('of two of one ref the later waits, and is told that it has lost, without a write that fails', async () => {
    const queue = open()
    const main = await createMain(queue)
    const [first, late] = [queue.land(moving(main, '2'.repeat(40))), queue.land(moving(main, '3'.repeat(40)))]
    const beside = queue.land(creating(A, 'beside', { head: 2 }))
    const results = await runAll(0, [first, late, beside])
    expect(outcomes(results)).toEqual(['landed', 'lost', 'landed'])
    expect(results[1]).toMatchObject({ packLanded: false, isStale: true, moves: [{ state: stateOf(results[0]!) }] })
    expect(flights).toHaveLength(2)
  })

  test('the later of two of one ref lands where the earlier did not', async () => {
    const queue = open()
    const main = await createMain(queue)
    const [first, late] = [queue.land(moving(main, '2'.repeat(40))), queue.land(moving(main, '3'.repeat(40)))]
    ;(await flight(0)).fail(new PdsError('pds.test', 429, 'RateLimitExceeded', 'Too many', 7))
    const results = await runAll(1, [first, late])
    expect(outcomes(results)).toEqual(['failed', 'landed'])
  })

  test.each([
    ['a', 'a/b'],
    ['a/b', 'a'],
  ])('of %s and %s the first lands', async (one, other) => {
    const queue = open()
    const results = await runAll(0, [queue.land(creating(A, one)), queue.land(creating(A, other))])
    expect(outcomes(results)).toEqual(['landed', 'failed'])
    expect(results[1]!.moves[0]).toMatchObject({
      message: `'refs/heads/${one}' exists; cannot create 'refs/heads/${other}'`,
    })
    expect(flights).toHaveLength(1)
  })

  test('of two that create a repository of one name the first does, and others do beside them', async () => {
    const queue = open()
    const create = (name: string) => queue.land(landing(tids.next(), [], { create: repoRecord(name), head: null }))
    const results = await runAll(0, [create('twin'), create('twin'), create('other')])
    const repositories = results.map(({ repository }) => repository)
    expect(repositories).toEqual(['created', { taken: expect.any(String) }, 'created'])
  })
})

describe('a batch that does not land', () => {
  /** Three that gather behind one that is let through: main moves, and two branches are created. */
  async function gather(queue: LandingQueue, main: RefState) {
    const first = queue.land(creating(B, 'first'))
    const rest = [
      queue.land(creating(C, 'one')),
      queue.land(moving(main, '2'.repeat(40))),
      queue.land(creating(B, 'two')),
    ]
    ;(await flight(0)).run()
    await first
    return { rest, batch: await flight(1) }
  }

  test('is split where somebody else was first: the others land without the one that lost', async () => {
    const queue = open()
    const main = await createMain(queue)
    const { rest, batch } = await gather(queue, main)
    // Past this writer.
    const elsewhere = open({ applyWrites: async (writes) => pds.applyWrites(writes) })
    await elsewhere.land(moving(main, '7'.repeat(40)))
    batch.run()
    const results = await runAll(2, rest)
    expect(outcomes(results)).toEqual(['landed', 'lost', 'landed'])
    expect(results.map(({ isStale }) => isStale)).toEqual([false, true, false])
    expect(flights).toHaveLength(3)
    expect(packs(flights[2]!.writes)).toHaveLength(2)
  })

  test('that is the first of many of one landing is taken up with all that is still to come', async () => {
    const queue = open({ limits: { ...PLAN_LIMITS, writes: 6, looseCreations: 100 } })
    const many = landing(
      A,
      Array.from({ length: 9 }, (_, n) => creation(`many-${n}`)),
    )
    const landed = queue.land(many)
    // The last comes past this writer and moves on: its key is free again.
    const elsewhere = open({ applyWrites: async (writes) => pds.applyWrites(writes) })
    const created = stateOf(await elsewhere.land(creating(A, 'many-8')))
    const moved = stateOf(await elsewhere.land(moving(created, '7'.repeat(40))))
    const [result] = await runAll(0, [landed])
    expect(outcomes([result!])).toEqual([...Array(8).fill('landed'), 'lost'])
    expect(result!.moves[8]).toMatchObject({ state: moved })
  })

  test('is split where somebody else has moved a head, and all land in the end', async () => {
    const queue = open()
    const main = await createMain(queue)
    const { rest, batch } = await gather(queue, main)
    const elsewhere = open({ applyWrites: async (writes) => pds.applyWrites(writes) })
    await elsewhere.land(creating(C, 'elsewhere'))
    batch.run()
    const results = await runAll(2, rest)
    expect(outcomes(results)).toEqual(Array(3).fill('landed'))
    expect(results.map(({ isStale }) => isStale)).toEqual([true, false, false])
    // Those that lost nothing first.
    expect(flights.slice(2).map(({ writes }) => packs(writes).length)).toEqual([2, 1])
  })

  test.each([
    ['a broken connection', broken],
    ['a 500', serverError],
  ])('has landed all the same where only its answer was lost to %s', async (_, fault) => {
    const queue = open()
    const main = await createMain(queue)
    const { rest, batch } = await gather(queue, main)
    batch.fail(fault, true)
    const results = await Promise.all(rest)
    expect(outcomes(results)).toEqual(Array(3).fill('landed'))
    expect(results.every(({ packLanded, isStale }) => packLanded && !isStale)).toBe(true)
    expect(flights).toHaveLength(2)
  })

  test('has landed also where others have moved on what of it can be seen but one', async () => {
    const queue = open()
    const main = await createMain(queue)
    const { rest, batch } = await gather(queue, main)
    pds.applyWrites(batch.writes)
    const elsewhere = open({ applyWrites: async (writes) => pds.applyWrites(writes) })
    await elsewhere.land(moving({ ...main, target: '2'.repeat(40), seq: 2 }, '8'.repeat(40)))
    batch.fail(broken)
    expect(outcomes(await Promise.all(rest))).toEqual(Array(3).fill('landed'))
  })

  test.each([
    [401, 'ExpiredToken'],
    [403, 'Forbidden'],
  ])('tells each of them that it is for the owner to do something where the PDS says %i', async (status, error) => {
    const queue = open()
    const { rest, batch } = await gather(queue, await createMain(queue))
    batch.fail(new PdsError('pds.test', status, error, 'not you', null))
    const failures = (await Promise.all(rest)).map(({ failure }) => failure)
    expect(failures).toMatchObject(Array(3).fill({ isUncertain: false, isForOwner: true }))
  })

  test('tells each of them when to come back where the PDS takes no more', async () => {
    const queue = open()
    const main = await createMain(queue)
    const { rest, batch } = await gather(queue, main)
    batch.fail(new PdsError('pds.test', 429, 'RateLimitExceeded', 'Too many', 77))
    for (const result of await Promise.all(rest)) {
      expect(result.moves).toMatchObject([{ outcome: 'failed', retryAfterSeconds: 77 }])
      expect(result.failure).toMatchObject({ isUncertain: false, isForOwner: false })
    }
    expect(outcomes(await runAll(2, [queue.land(creating(C, 'later'))]))).toEqual(['landed'])
  })

  test('is tried again where the PDS could not run it', async () => {
    const queue = open()
    const { rest, batch } = await gather(queue, await createMain(queue))
    batch.fail(serverError)
    expect(outcomes(await runAll(2, rest))).toEqual(Array(3).fill('landed'))
  })

  test.each([
    ['refuses', 400],
    ['cannot take', 413],
    ['fails on', 500],
  ])('is halved until what the PDS %s is alone: the others land', async (_, status) => {
    const refused = creating(A, 'refused', { head: 2 })
    const isRefused = (writes: readonly Write[]) => packs(writes).includes(refused.pack!.rkey)
    const queue = open({
      applyWrites: async (writes) => {
        flights.push({ writes } as Flight)
        // After others have had their turn.
        await Promise.resolve()
        if (isRefused(writes)) throw new PdsError('pds.test', status, 'Odd', 'not that', null)
        pds.applyWrites(writes)
      },
    })
    await queue.land(creating(A, 'main'))
    flights = []
    const wanted = [
      creating(B, 'first'),
      ...['a', 'b', 'c'].map((name) => creating(A, name, { head: 2 })),
      refused,
      ...['d', 'e', 'f'].map((name) => creating(A, name, { head: 2 })),
    ]
    const results = await Promise.all(wanted.map((each) => queue.land(each)))
    expect(outcomes(results)).toEqual(wanted.map((each) => (each === refused ? 'failed' : 'landed')))
    expect(results[wanted.indexOf(refused)]!.failure?.message).toMatch(/not that/)
    expect(flights.length).toBeLessThanOrEqual(10)
  })

  test('is not explained by a head that none of those who cannot go rely on', async () => {
    const pauses: number[] = []
    const queue = open({ sleep: async (milliseconds) => void pauses.push(milliseconds), random: () => 0.5 })
    const main = await createMain(queue)
    const first = queue.land(creating(A, 'first', { head: 2 }))
    // It knows the head of before `first`, and is left with it: it needs none.
    const rest = [queue.land(moving(main, '2'.repeat(40))), queue.land(creating(A, 'two', { head: 2 }))]
    ;(await flight(0)).run()
    await first
    const calls = pds.calls.length
    ;(await flight(1)).fail(serverError)
    const results = await runAll(2, rest)
    expect(outcomes(results)).toEqual(['landed', 'landed'])
    expect(results.map(({ isStale }) => isStale)).toEqual([false, false])
    // It has paused, and each went alone.
    expect(pauses).toEqual([150])
    expect(flights.slice(2).map(({ writes }) => packs(writes).length)).toEqual([1, 1])
    expect(results[0]!.head).toBe(2)
    expect(pds.calls.length - calls).toBeLessThanOrEqual(2)
  })

  test('is of uncertain fate for all where the PDS cannot be read either, and those who come later are served', async () => {
    const queue = open()
    const main = await createMain(queue)
    const { rest, batch } = await gather(queue, main)
    pds.isDown = true
    batch.fail(broken)
    for (const { failure, moves } of await Promise.all(rest)) {
      expect(failure).toMatchObject({ isUncertain: true, message: expect.not.stringContaining('push') })
      expect(moves).toMatchObject([
        { message: `${failure!.message}; whether the push has arrived is not known, fetch to see` },
      ])
    }
    pds.isDown = false
    expect(outcomes(await runAll(2, [queue.land(creating(C, 'later'))]))).toEqual(['landed'])
  })

  test('by a fault of the program is told to those in it, and to nobody else', async () => {
    const queue = open()
    const main = await createMain(queue)
    const { rest, batch } = await gather(queue, main)
    const later = queue.land(creating(C, 'later'))
    batch.fail(new TypeError('a bug'))
    for (const each of rest) await expect(each).rejects.toThrow('a bug')
    expect(outcomes(await runAll(2, [later]))).toEqual(['landed'])
  })

  test('that lands late, after it was given up for lost, is recognised by each', async () => {
    const queue = open()
    const main = await createMain(queue)
    const { rest, batch } = await gather(queue, main)
    batch.fail(broken)
    const again = await flight(2)
    pds.applyWrites(batch.writes)
    again.run()
    const results = await runAll(3, rest)
    expect(outcomes(results)).toEqual(Array(3).fill('landed'))
    expect(pds.keys(PACK_COLLECTION)).toHaveLength(5)
  })
})

test('a landing that finds the repository gone is told so, and the others land', async () => {
  const queue = open()
  const first = queue.land(creating(B, 'first'))
  const rest = [queue.land(creating(A, 'gone')), queue.land(creating(C, 'there'))]
  ;(await flight(0)).run()
  await first
  pds.delete(REPO_COLLECTION, A)
  pds.delete(REFS_COLLECTION, refsKey(A, 0, 1))
  const results = await runAll(1, rest)
  expect(outcomes(results)).toEqual(['failed', 'landed'])
  expect(results[0]!.failure?.message).toBe('the repository is gone from the account')
})

describe('a landing whose write may still arrive', () => {
  /** What the PDS holds up: `first` is given up for lost, pauses, and goes again beside `beside`. */
  async function goAgainBeside(first: Landing, beside: Landing) {
    const [asleep, awake] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const queue = open({
      sleep: () => {
        asleep.resolve()
        return awake.promise
      },
    })
    const landings = [queue.land(first)]
    const lost = await flight(0)
    lost.fail(new PdsUnreachableError('pds.test', 'did not answer within 30 s'))
    await asleep.promise
    const between = queue.land(creating(C, 'between'))
    const ahead = await flight(1)
    landings.push(queue.land(beside))
    awake.resolve()
    // The pause is over before the flight is.
    await new Promise(setImmediate)
    ahead.run()
    await between
    const together = await flight(2)
    expect(packs(together.writes).sort()).toEqual([first.pack!.rkey, beside.pack!.rkey].sort())
    return { landings, lost, together }
  }

  test.each([
    ['another repository', () => creating(B, 'beside')],
    ['the same', () => creating(A, 'beside')],
  ])('says nothing of who goes with it when it goes again: one of %s lands once, for itself', async (_, other) => {
    const [first, beside] = [creating(A, 'first'), other()]
    const { landings, lost, together } = await goAgainBeside(first, beside)
    pds.applyWrites(lost.writes)
    together.run()
    const results = await runAll(3, landings)
    expect(outcomes(results)).toEqual(['landed', 'landed'])
    expect(flights.map(({ writes }) => packs(writes)).slice(3)).toEqual([[beside.pack!.rkey]])
    for (const { pack } of [first, beside]) expect(pds.keys(PACK_COLLECTION)).toContain(pack!.rkey)
  })

  test('is recognised by its pack alone, also where others have moved on what it moved', async () => {
    const [first, beside] = [creating(A, 'first'), creating(B, 'beside')]
    const { landings, lost, together } = await goAgainBeside(first, beside)
    pds.applyWrites(lost.writes)
    const elsewhere = open({ applyWrites: async (writes) => pds.applyWrites(writes) })
    const state = { name: 'refs/heads/first', target: '1'.repeat(40), peeled: null, seq: 1, pack: null }
    await elsewhere.land(moving({ ...state, at: { kind: 'loose' } }, '8'.repeat(40)))
    together.run()
    expect(outcomes(await runAll(3, landings))).toEqual(['landed', 'landed'])
    expect(pds.keys(PACK_COLLECTION)).toContain(beside.pack!.rkey)
  })

  test('is of uncertain fate where it is refused when it goes again', async () => {
    const { landings, together } = await goAgainBeside(creating(A, 'first'), creating(B, 'beside'))
    together.fail(new PdsError('pds.test', 429, 'RateLimitExceeded', 'Too many', 77))
    const [first, beside] = await Promise.all(landings)
    const message = expect.stringMatching(/Too many; whether the push has arrived is not known, fetch to see/)
    expect(first!.moves).toMatchObject([{ outcome: 'failed', message }])
    expect(first!.failure).toEqual({
      message: expect.stringMatching(/Too many$/),
      retryAfterSeconds: 77,
      isUncertain: true,
      isForOwner: false,
      isRefused: false,
    })
    expect(beside!.failure).toMatchObject({ isUncertain: false })
  })

  test('has landed with all that went with it where one of those was in no write before', async () => {
    const [first, beside] = [creating(A, 'first'), creating(B, 'beside')]
    const { landings, together } = await goAgainBeside(first, beside)
    together.fail(broken, true)
    expect(outcomes(await Promise.all(landings))).toEqual(['landed', 'landed'])
    expect(flights).toHaveLength(3)
  })

  test('leaves open what head it has come with: nothing is made to rely on one that is not there', async () => {
    const queue = open()
    const first = queue.land(creating(C, 'first'))
    const landings = [queue.land(creating(A, 'one')), queue.land(creating(A, 'two'))]
    ;(await flight(0)).run()
    await first
    const together = await flight(1)
    together.fail(broken)
    const alone = await flight(2)
    expect(packs(alone.writes)).toHaveLength(1)
    // Both with one move of the head, to 2.
    pds.applyWrites(together.writes)
    alone.run()
    const results = await runAll(3, landings)
    expect(outcomes(results)).toEqual(['landed', 'landed'])
    // Neither knows which refs have come with the head.
    for (const result of results) expect(result).toMatchObject({ head: 1, headNeeds: [], isStale: true })
    // Past this writer: the head goes to 3, and `…:1` is free again.
    const elsewhere = open({ applyWrites: async (writes) => pds.applyWrites(writes) })
    const created = stateOf(await elsewhere.land(creating(A, 'x', { head: 2 })))
    const moved = stateOf(await elsewhere.land(moving(created, '7'.repeat(40), { head: 3 })))
    const [late] = await runAll(flights.length, [queue.land(creating(A, 'x'))])
    expect(late!.moves).toEqual([{ name: 'refs/heads/x', outcome: 'lost', state: moved }])
  })
})

test.each([
  ['was moved here before', 'main', 1],
  ['comes without a head', 'new', null],
])('a landing that is read for, since its ref %s, finds the repository gone', async (_, name, head) => {
  const queue = open()
  const main = await createMain(queue)
  pds.delete(REPO_COLLECTION, A)
  pds.delete(REFS_COLLECTION, refsKey(A, 0, 2))
  pds.delete(REF_COLLECTION, refKey(A, main.name, main.seq))
  const [result] = await runAll(0, [queue.land(creating(A, name, { head }))])
  expect(result).toMatchObject({ isStale: true, failure: { message: 'the repository is gone from the account' } })
  expect(flights).toEqual([])
})

describe('a landing that breaks the program', () => {
  test.each([
    [
      'when it is held against those before it',
      { moves: [{ ...creation('x'), name: undefined as unknown as string }] },
    ],
    ['when its batch is made', { head: 1n as unknown as number }],
  ])('%s is told so, and those who wait land', async (_, fault) => {
    const queue = open()
    const landings = [queue.land(creating(A, 'first')), queue.land(creating(A, 'before'))]
    const wrong = [queue.land(landing(B, [creation('x')], fault)), queue.land(landing(B, [creation('y')], fault))]
    landings.push(queue.land(creating(C, 'later')))
    const refused = Promise.allSettled(wrong)
    const results = await runAll(0, landings)
    expect(outcomes(results)).toEqual(['landed', 'landed', 'landed'])
    expect(await refused).toMatchObject([{ reason: expect.any(TypeError) }, { reason: expect.any(TypeError) }])
  })
})

describe('what waits', () => {
  test('is made JSON of only where it may have room in the batch', async () => {
    const queue = open()
    let encoded = 0
    const heavy = (name: string) => {
      const { pack, ...rest } = creating(A, name)
      const { createdAt, ...record } = { ...pack!.record, bytes: new Uint8Array(190_000), size: 190_000 }
      // All of a record is read when it is encoded, and only then.
      const counting = {
        ...record,
        get createdAt() {
          encoded++
          return createdAt
        },
      }
      return { ...rest, pack: { ...pack!, record: counting } }
    }
    const first = queue.land(creating(B, 'first'))
    const rest = Array.from({ length: 20 }, (_, n) => queue.land(heavy(`heavy-${n}`)))
    ;(await flight(0)).run()
    await first
    const { writes } = await flight(1)
    expect([packs(writes).length, encoded]).toEqual([3, 3])
    expect(outcomes(await runAll(1, rest))).toEqual(Array(20).fill('landed'))
    expect([flights.length, encoded]).toEqual([8, 20])
  })

  test('is looked through by the writes that it takes, too', async () => {
    const queue = open({ limits: { ...PLAN_LIMITS, writes: 8 } })
    const first = queue.land(creating(C, 'first'))
    // Six writes, then two that do not fit beside, then one that does.
    const two = ['one', 'two'].map((name) => queue.land(creating(A, name)))
    const many = queue.land(landing(A, [creation('x'), creation('y'), creation('z')]))
    const third = queue.land(creating(A, 'three'))
    ;(await flight(0)).run()
    await first
    expect(packs((await flight(1)).writes)).toHaveLength(3)
    expect(outcomes(await runAll(1, [...two, many, third]))).toEqual(Array(6).fill('landed'))
    expect(flights).toHaveLength(3)
  })

  test.each([
    ['landings', { landings: 3, bytes: 1_000_000 }],
    ['bytes', { landings: 100, bytes: 3_000 }],
  ])('is bounded in %s: who comes then is told to come back, and nothing of it is written', async (_, waiting) => {
    const queue = open({ waiting })
    const large = (name: string) => {
      const { pack, ...rest } = creating(B, name)
      const record = { ...pack!.record, size: 4_000, bytes: new Uint8Array(4_000) }
      return { ...rest, pack: { ...pack!, record } }
    }
    const landings = ['one', 'two', 'three'].map((name) => queue.land(creating(A, name, { pack: null })))
    expect(await queue.land(large('refused'))).toMatchObject({
      moves: [{ outcome: 'failed', message: expect.stringMatching(/push again/), retryAfterSeconds: 5 }],
      failure: { retryAfterSeconds: 5, isUncertain: false },
      packLanded: false,
      isStale: false,
    })
    expect(outcomes(await runAll(0, landings))).toEqual(Array(3).fill('landed'))
    expect(pds.keys(PACK_COLLECTION)).toEqual([])
    // There is room again, and for one alone there always is.
    expect(outcomes(await runAll(flights.length, [queue.land(large('alone'))]))).toEqual(['landed'])
  })
})
