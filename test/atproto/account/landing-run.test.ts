import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Landing, LandingResult, RefMove } from '../../../atproto/account/landing.ts'
import { LandingQueue, type LandingQueueDeps } from '../../../atproto/account/landing-queue.ts'
import { readRepository, type StoredRepository } from '../../../atproto/account/read-repository.ts'
import { PdsError, PdsUnreachableError } from '../../../atproto/pds/pds-error.ts'
import { REF_COLLECTION, REFS_COLLECTION, REPO_COLLECTION } from '../../../atproto/records/collections.ts'
import { packKey, refKey, refsKey } from '../../../atproto/records/record-keys.ts'
import type { PackRecord, RepoRecord } from '../../../atproto/records/record-types.ts'
import { TidClock } from '../../../atproto/records/tid.ts'
import type { RefState } from '../../../atproto/refs/ref-state.ts'
import { type LocalAccount, startLocalAccount } from '../local-account.ts'

/** What becomes of one landing, each by a writer of its own, at a real PDS. */

const APPLY_WRITES = 'com.atproto.repo.applyWrites'
const MAIN = 'refs/heads/main'

let local: LocalAccount
const tids = new TidClock()
let repositories = 0

beforeAll(async () => {
  local = await startLocalAccount()
}, 60_000)
afterAll(() => local[Symbol.asyncDispose]())

/** `oid(7)` is a made-up object id. */
function oid(n: number): string {
  return n.toString(16).padStart(40, '0')
}

function repoRecord(name: string): RepoRecord {
  return { name, defaultBranch: 'main', objectFormat: 'sha1', createdAt: '2026-11-30T12:00:00Z' }
}

function packRecord(size = 32): PackRecord {
  return {
    bytes: new Uint8Array(size).fill(7),
    size,
    objects: 1,
    checksum: oid(99),
    thin: false,
    createdAt: '2026-11-30T12:00:00Z',
  }
}

function move(name: string, from: RefState | null, target: string | null, peeled: string | null = null): RefMove {
  return { name, from, target, peeled }
}

function deps(overrides: Partial<LandingQueueDeps> = {}): LandingQueueDeps {
  return { client: local.client, applyWrites: local.applyWrites, tids, sleep: async () => undefined, ...overrides }
}

/** By a writer of its own, who knows nothing of the others. */
function land(by: LandingQueueDeps, wanted: Landing): Promise<LandingResult> {
  return new LandingQueue(by).land(wanted)
}

/** A landing in a repository, with a pack unless told otherwise. */
function landing(repo: string, moves: readonly RefMove[], overrides: Partial<Landing> = {}): Landing {
  return {
    did: local.account.did,
    pds: local.atmosphere.pdsUrl,
    repo,
    create: null,
    pack: { rkey: packKey(repo, tids.next()), record: packRecord() },
    moves,
    atomic: false,
    head: 2,
    ...overrides,
  }
}

async function createRepository(): Promise<string> {
  const repo = tids.next()
  const create = repoRecord(`repository-${++repositories}`)
  const result = await land(deps(), landing(repo, [], { create, pack: null, head: null }))
  expect(result).toEqual({
    moves: [],
    packLanded: false,
    repository: 'created',
    failure: null,
    head: 1,
    headNeeds: [],
    isStale: false,
  })
  return repo
}

async function read(repo: string): Promise<StoredRepository> {
  const stored = await readRepository(local.client, local.account.did, repo)
  expect(stored?.skipped).toEqual([])
  return stored!
}

async function stateOf(repo: string, name = MAIN): Promise<RefState> {
  return (await read(repo)).refs.get(name)!
}

/** A repository whose main is at `oid(1)`; its head is at 2. */
async function createWithMain(): Promise<{ repo: string; main: RefState }> {
  const repo = await createRepository()
  const result = await land(deps(), landing(repo, [move(MAIN, null, oid(1))], { head: 1 }))
  return { repo, main: landedState(result) }
}

function landedState(result: LandingResult, index = 0): RefState {
  const outcome = result.moves[index]!
  if (outcome.outcome !== 'landed') throw new Error(`${outcome.name} ${outcome.outcome}`)
  return outcome.state
}

function outcomes(result: LandingResult): string[] {
  return result.moves.map(({ outcome }) => outcome)
}

/** applyWrites that fails before, or after, the PDS has carried it out, the first `times` times. */
function faulty(
  when: 'before' | 'after',
  times: number,
  run: () => Promise<void> = async () => undefined,
): LandingQueueDeps['applyWrites'] {
  let left = times
  return async (writes) => {
    if (left-- <= 0) return local.applyWrites(writes)
    if (when === 'after') await local.applyWrites(writes)
    await run()
    throw new PdsUnreachableError('pds.test', 'broke off its answer')
  }
}

describe('a landing that nothing disturbs', () => {
  test('creates a repository, its pack and its first refs in one write', async () => {
    const repo = tids.next()
    const moves = [move(MAIN, null, oid(1)), move('refs/tags/v1', null, oid(2), oid(1))]
    const wanted = landing(repo, moves, { create: repoRecord('first'), head: null })
    const requests = await local.requestsOf(async () => {
      const result = await land(deps(), wanted)
      expect(result).toMatchObject({ packLanded: true, repository: 'created', failure: null, head: 1 })
      expect(outcomes(result)).toEqual(['landed', 'landed'])
    })
    expect(requests).toEqual(['com.atproto.repo.listRecords', APPLY_WRITES])
    const stored = await read(repo)
    expect(stored.repo).toEqual(repoRecord('first'))
    expect(stored.packs).toEqual([wanted.pack])
    expect(stored.head).toBe(1)
    expect(stored.refs.get('refs/tags/v1')).toEqual({
      name: 'refs/tags/v1',
      target: oid(2),
      peeled: oid(1),
      seq: 1,
      pack: wanted.pack!.rkey,
      at: { kind: 'loose' },
    })
  })

  test('is one request to the PDS when a branch moves, and when one is created', async () => {
    const { repo, main } = await createWithMain()
    const requests = await local.requestsOf(async () => {
      const moved = await land(deps(), landing(repo, [move(MAIN, main, oid(2))]))
      expect(landedState(moved)).toMatchObject({ seq: 2, target: oid(2) })
      expect(
        outcomes(await land(deps(), landing(repo, [move('refs/heads/topic', null, oid(2))], { head: moved.head }))),
      ).toEqual(['landed'])
    })
    expect(requests).toEqual([APPLY_WRITES, APPLY_WRITES])
    expect((await read(repo)).refs.size).toBe(2)
  })

  test('deletes a ref by a tombstone, and creates it again from there', async () => {
    const { repo, main } = await createWithMain()
    const deleted = await land(deps(), landing(repo, [move(MAIN, main, null)], { pack: null }))
    expect(await stateOf(repo)).toEqual({
      name: MAIN,
      target: null,
      peeled: null,
      seq: 2,
      pack: null,
      at: { kind: 'loose' },
    })
    await land(deps(), landing(repo, [move(MAIN, landedState(deleted), oid(3))]))
    expect(await stateOf(repo)).toMatchObject({ target: oid(3), seq: 3 })
  })
})

describe('a landing whose ref has been moved meanwhile', () => {
  test('loses, and writes nothing', async () => {
    const { repo, main } = await createWithMain()
    await land(deps(), landing(repo, [move(MAIN, main, oid(2))]))
    const late = landing(repo, [move(MAIN, main, oid(3))])
    const result = await land(deps(), late)
    expect(result.moves).toEqual([{ name: MAIN, outcome: 'lost', state: await stateOf(repo) }])
    expect(result.packLanded).toBe(false)
    expect((await read(repo)).packs.map(({ rkey }) => rkey)).not.toContain(late.pack!.rkey)
    expect(await stateOf(repo)).toMatchObject({ target: oid(2), seq: 2 })
  })

  test('still lands its other refs, or none of them where it is atomic', async () => {
    const { repo, main } = await createWithMain()
    await land(deps(), landing(repo, [move(MAIN, main, oid(2))]))
    const moves = (name: string) => [move(MAIN, main, oid(3)), move(name, null, oid(3))]
    expect(outcomes(await land(deps(), landing(repo, moves('refs/heads/atomic'), { atomic: true })))).toEqual([
      'lost',
      'failed',
    ])
    const result = await land(deps(), landing(repo, moves('refs/heads/other')))
    expect(outcomes(result)).toEqual(['lost', 'landed'])
    expect(result.packLanded).toBe(true)
    expect([...(await read(repo)).refs.keys()].sort()).toEqual([MAIN, 'refs/heads/other'])
  })

  test('lands where the ref has the value that it was to be moved from, whatever its seq', async () => {
    const { repo, main } = await createWithMain()
    const away = await land(deps(), landing(repo, [move(MAIN, main, oid(2))]))
    await land(deps(), landing(repo, [move(MAIN, landedState(away), oid(1))]))
    const result = await land(deps(), landing(repo, [move(MAIN, main, oid(5))]))
    expect(landedState(result)).toMatchObject({ seq: 4, target: oid(5) })
  })

  test('creates a ref where it only knew nothing of a tombstone', async () => {
    const { repo, main } = await createWithMain()
    await land(deps(), landing(repo, [move(MAIN, main, null)], { pack: null }))
    expect(landedState(await land(deps(), landing(repo, [move(MAIN, null, oid(4))], { head: 1 })))).toMatchObject({
      seq: 3,
    })
  })

  test.each([
    ['a directory of it', 'refs/heads/a', 'refs/heads/a/b'],
    ['in its way', 'refs/heads/a/b', 'refs/heads/a'],
  ])('a ref is refused where one has come meanwhile that is %s', async (_, first, second) => {
    const { repo } = await createWithMain()
    await land(deps(), landing(repo, [move(first, null, oid(4))]))
    const result = await land(deps(), landing(repo, [move(second, null, oid(5)), move('refs/heads/c', null, oid(6))]))
    expect(result.moves).toMatchObject([
      { outcome: 'failed', message: `'${first}' exists; cannot create '${second}'` },
      { outcome: 'landed' },
    ])
  })

  test('a ref that is refused alone is no failure of the landing, also where all of it is to land or none', async () => {
    const { repo } = await createWithMain()
    await land(deps(), landing(repo, [move('refs/heads/a', null, oid(4))]))
    const result = await land(deps(), landing(repo, [move('refs/heads/a/b', null, oid(5))], { atomic: true }))
    expect(result).toMatchObject({ moves: [{ outcome: 'failed' }], failure: null, packLanded: false })
  })

  test('nothing is written into what is left of a repository that was deleted', async () => {
    const { repo, main } = await createWithMain()
    await local.applyWrites([
      { action: 'delete', collection: REPO_COLLECTION, rkey: repo },
      { action: 'delete', collection: REFS_COLLECTION, rkey: refsKey(repo, 0, 2) },
      { action: 'delete', collection: REF_COLLECTION, rkey: refKey(repo, MAIN, main.seq) },
    ])
    const result = await land(deps(), landing(repo, [move('refs/heads/new', null, oid(3))]))
    expect(result).toMatchObject({ packLanded: false, isStale: true })
    expect(result.moves).toMatchObject([{ outcome: 'failed', message: 'the repository is gone from the account' }])
  })

  test('a ref that comes back after its deletion is refused where one has come that stands in its way', async () => {
    const { repo } = await createWithMain()
    const created = await land(deps(), landing(repo, [move('refs/heads/a', null, oid(4))]))
    const deleted = await land(
      deps(),
      landing(repo, [move('refs/heads/a', landedState(created), null)], { head: created.head, pack: null }),
    )
    const head = deleted.head
    await land(deps(), landing(repo, [move('refs/heads/a/b', null, oid(5))], { head }))
    const result = await land(deps(), landing(repo, [move('refs/heads/a', landedState(deleted), oid(6))], { head }))
    expect(outcomes(result)).toEqual(['failed'])
    // An atomic landing has none of its others either.
    const atomic = [move('refs/heads/a', landedState(deleted), oid(6)), move('refs/heads/z', null, oid(7))]
    expect(outcomes(await land(deps(), landing(repo, atomic, { head, atomic: true })))).toEqual(['failed', 'failed'])
  })

  test('of six racers on one ref exactly one lands, round after round', async () => {
    let { repo, main } = await createWithMain()
    for (let round = 0; round < 5; round++) {
      const racers = Array.from({ length: 6 }, (_, i) =>
        land(deps(), landing(repo, [move(MAIN, main, oid(100 + round * 6 + i))])),
      )
      const results = await Promise.all(racers)
      expect(results.flatMap(outcomes).sort()).toEqual(['landed', 'lost', 'lost', 'lost', 'lost', 'lost'])
      const winner = results.find((result) => result.moves[0]!.outcome === 'landed')!
      main = await stateOf(repo)
      expect(landedState(winner)).toEqual(main)
      for (const result of results) expect(result.packLanded).toBe(result === winner)
    }
    expect(main.seq).toBe(6)
  })

  test('of six racers that create one ref exactly one lands; those that create different refs all do', async () => {
    const repo = await createRepository()
    const race = (name: (i: number) => string) =>
      Promise.all(Array.from({ length: 6 }, (_, i) => land(deps(), landing(repo, [move(name(i), null, oid(i + 1))]))))
    expect((await race(() => MAIN)).flatMap(outcomes).filter((outcome) => outcome === 'landed')).toHaveLength(1)
    expect((await race((i) => `refs/heads/topic-${i}`)).flatMap(outcomes)).toEqual(Array(6).fill('landed'))
  })
})

describe('a landing whose answer is lost', () => {
  test.each([
    ['by a broken connection', true],
    ['to a 500', false],
  ])('is recognised as landed: %s', async (_, cut) => {
    const { repo, main } = await createWithMain()
    const applyWrites: LandingQueueDeps['applyWrites'] = cut
      ? (writes) => {
          local.atmosphere.loseNextAnswer(APPLY_WRITES)
          return local.applyWrites(writes)
        }
      : faulty('after', 1, () => Promise.reject(new PdsError('pds.test', 500, 'InternalServerError', '', null)))
    const requests = await local.requestsOf(async () => {
      const result = await land(deps({ applyWrites }), landing(repo, [move(MAIN, main, oid(2))]))
      expect(landedState(result)).toMatchObject({ seq: 2, target: oid(2) })
      expect(result.packLanded).toBe(true)
    })
    expect(requests.filter((path) => path === APPLY_WRITES)).toHaveLength(1)
  })

  test('is recognised by its pack when another has moved the ref on', async () => {
    const { repo, main } = await createWithMain()
    const applyWrites = faulty('after', 1, async () => {
      await land(deps(), landing(repo, [move(MAIN, await stateOf(repo), oid(3))]))
    })
    const result = await land(deps({ applyWrites }), landing(repo, [move(MAIN, main, oid(2))]))
    expect(landedState(result)).toMatchObject({ seq: 2, target: oid(2) })
    expect(await stateOf(repo)).toMatchObject({ seq: 3, target: oid(3) })
  })

  test('is not mistaken for a racer that moved the ref to the same object', async () => {
    const { repo, main } = await createWithMain()
    const applyWrites = faulty('before', 1, async () => {
      await land(deps(), landing(repo, [move(MAIN, main, oid(2))]))
    })
    const result = await land(deps({ applyWrites }), landing(repo, [move(MAIN, main, oid(2))]))
    expect(outcomes(result)).toEqual(['lost'])
    expect(result.packLanded).toBe(false)
  })

  test('counts as created, for a repository', async () => {
    const repo = tids.next()
    const wanted = landing(repo, [], { create: repoRecord('answer-lost'), pack: null, head: null })
    expect(await land(deps({ applyWrites: faulty('after', 1) }), wanted)).toMatchObject({
      repository: 'created',
      failure: null,
    })
  })
})

describe('a landing that the PDS does not run', () => {
  test('is tried again', async () => {
    const { repo, main } = await createWithMain()
    const result = await land(deps({ applyWrites: faulty('before', 2) }), landing(repo, [move(MAIN, main, oid(2))]))
    expect(landedState(result)).toMatchObject({ seq: 2 })
  })

  test('fails in words after the third time, in doubt where it had no answer: it may arrive yet', async () => {
    const { repo, main } = await createWithMain()
    const result = await land(deps({ applyWrites: faulty('before', 9) }), landing(repo, [move(MAIN, main, oid(2))]))
    expect(result.moves).toEqual([
      {
        name: MAIN,
        outcome: 'failed',
        message: expect.stringMatching(/^pds.test broke .* not known/),
        retryAfterSeconds: null,
      },
    ])
    expect(result).toMatchObject({ packLanded: false, failure: { isUncertain: true, isRefused: false } })
    expect(await stateOf(repo)).toEqual(main)
  })

  test.each([
    ['in doubt', 504, true],
    ['for certain', 500, false],
    ['for certain, at once', 400, false],
  ])('fails %s where the answer was %i', async (_, status, isUncertain) => {
    const { repo, main } = await createWithMain()
    const applyWrites = async () => {
      throw new PdsError('pds.test', status, '', 'no', null)
    }
    const result = await land(deps({ applyWrites }), landing(repo, [move(MAIN, main, oid(2))]))
    expect(result).toMatchObject({ packLanded: false, failure: { isUncertain, isRefused: status === 400 } })
  })

  test('lands once, also where the first try arrives after all while the second is made', async () => {
    const { repo, main } = await createWithMain()
    let late: () => Promise<unknown> = async () => undefined
    let tries = 0
    const applyWrites: LandingQueueDeps['applyWrites'] = async (writes) => {
      if (++tries === 1) {
        late = () => local.applyWrites(writes)
        throw new PdsUnreachableError('pds.test', 'did not answer within 30 s')
      }
      await late()
      return local.applyWrites(writes)
    }
    const result = await land(deps({ applyWrites }), landing(repo, [move(MAIN, main, oid(2))]))
    expect(landedState(result)).toMatchObject({ seq: 2 })
    expect(await stateOf(repo)).toMatchObject({ seq: 2, target: oid(2) })
  })

  test('says that nothing is known where the PDS cannot be read either', async () => {
    const { repo, main } = await createWithMain()
    await local.atmosphere.pause()
    const result = await land(deps(), landing(repo, [move(MAIN, main, oid(2))]))
    await local.atmosphere.resume()
    expect(result.failure?.message).toMatch(/cannot be reached; whether the push has arrived is not known/)
    expect(result.failure?.isUncertain).toBe(true)
  })

  test('is not tried again where the session is refused', async () => {
    const { repo, main } = await createWithMain()
    const applyWrites: LandingQueueDeps['applyWrites'] = (writes) =>
      local.client.applyWrites(local.account.did, writes, 'no-token')
    const requests = await local.requestsOf(async () => {
      const result = await land(deps({ applyWrites }), landing(repo, [move(MAIN, main, oid(2))]))
      expect(outcomes(result)).toEqual(['failed'])
    })
    expect(requests).toHaveLength(1)
  })
})

describe('many refs at once', () => {
  test('1,000 new tags are five operations in one request', async () => {
    const { repo, main } = await createWithMain()
    const moves = Array.from({ length: 1000 }, (_, i) => move(`refs/tags/v${i}`, null, oid(1000 + i), oid(i + 1)))
    const written: number[] = []
    const applyWrites: LandingQueueDeps['applyWrites'] = (writes) => {
      written.push(writes.length)
      return local.applyWrites(writes)
    }
    const result = await land(deps({ applyWrites }), landing(repo, moves, { atomic: true }))
    expect(written).toEqual([5])
    expect(new Set(outcomes(result))).toEqual(new Set(['landed']))
    expect(result.head).toBe(3)
    const stored = await read(repo)
    expect(stored.refs.size).toBe(1001)
    expect(stored.refs.get('refs/tags/v999')).toEqual(landedState(result, 999))
    expect(stored.refs.get(MAIN)).toEqual(main)
  })

  test('more than fit are split, the pack in the first write', async () => {
    const repo = await createRepository()
    const limits = { writes: 20, bytes: 990_000, looseCreations: 8, shardEntries: 100 }
    const names = Array.from({ length: 30 }, (_, i) => `refs/heads/b${i}`)
    const created = await land(
      deps({ limits: { ...limits, looseCreations: 100 } }),
      landing(
        repo,
        names.map((name) => move(name, null, oid(1))),
      ),
    )
    expect(new Set(outcomes(created))).toEqual(new Set(['landed']))
    const states = created.moves.map((_, i) => landedState(created, i))
    const requests = await local.requestsOf(async () => {
      const moved = await land(
        deps({ limits }),
        landing(
          repo,
          states.map((state) => move(state.name, state, oid(2))),
        ),
      )
      expect(new Set(outcomes(moved))).toEqual(new Set(['landed']))
    })
    expect(requests.filter((path) => path === APPLY_WRITES)).toHaveLength(4)
    const atomic = await land(
      deps({ limits }),
      landing(
        repo,
        states.map((state) => move(state.name, state, oid(3))),
        { atomic: true },
      ),
    )
    expect(new Set(outcomes(atomic))).toEqual(new Set(['failed']))
    expect(atomic.failure?.message).toMatch(/does not fit/)
    expect(atomic.failure?.isUncertain).toBe(false)
  })

  test('a packed ref moves to a loose record, and a writer that still sees it packed cannot move it again', async () => {
    const repo = await createRepository()
    const names = Array.from({ length: 20 }, (_, i) => `refs/heads/p${i}`)
    const packed = await land(
      deps(),
      landing(
        repo,
        names.map((name) => move(name, null, oid(1))),
        { head: 1 },
      ),
    )
    const before = landedState(packed)
    expect(before.at).toEqual({ kind: 'packed', shard: 128, shardSeq: 1 })
    const first = await land(deps(), landing(repo, [move(before.name, before, oid(2))], { head: packed.head }))
    expect(landedState(first)).toMatchObject({ seq: 2, at: { kind: 'loose' } })
    const second = await land(
      deps(),
      landing(repo, [move(before.name, landedState(first), oid(3))], { head: first.head }),
    )
    expect(landedState(second)).toMatchObject({ seq: 3 })
    // …:2 is free again, but the head has moved.
    const stale = await land(deps(), landing(repo, [move(before.name, before, oid(9))], { head: packed.head }))
    expect(stale.moves).toEqual([{ name: before.name, outcome: 'lost', state: landedState(second) }])
    const deleted = await land(
      deps(),
      landing(repo, [move(names[1]!, landedState(packed, 1), null)], { pack: null, head: first.head }),
    )
    expect(landedState(deleted, 0)).toMatchObject({ target: null, seq: 2 })
    expect((await read(repo)).refs.get(names[1]!)?.target).toBe(null)
  })

  test('a ref that somebody else has packed meanwhile cannot be created beside', async () => {
    const { repo } = await createWithMain()
    await land(
      deps(),
      landing(
        repo,
        Array.from({ length: 20 }, (_, i) => move(`refs/tags/t${i}`, null, oid(i + 1))),
      ),
    )
    const late = await land(
      deps(),
      landing(repo, [move('refs/tags/t3', null, oid(99)), move('refs/tags/t20', null, oid(99))]),
    )
    expect(outcomes(late)).toEqual(['lost', 'landed'])
    expect((await read(repo)).refs.get('refs/tags/t3')?.target).toBe(oid(4))
  })

  test('a tag that somebody creates while it is packed with others stays theirs', async () => {
    const { repo } = await createWithMain()
    const applyWrites = faulty('before', 0)
    let disturbed = false
    const disturb: LandingQueueDeps['applyWrites'] = async (writes) => {
      if (!disturbed) {
        disturbed = true
        await land(deps(), landing(repo, [move('refs/tags/t3', null, oid(77))], { head: 2 }))
      }
      return applyWrites(writes)
    }
    const moves = Array.from({ length: 20 }, (_, i) => move(`refs/tags/t${i}`, null, oid(i + 1)))
    const result = await land(deps({ applyWrites: disturb }), landing(repo, moves, { head: 2 }))
    expect(result.moves[3]).toMatchObject({ outcome: 'lost', state: { target: oid(77) } })
    expect(outcomes(result).filter((outcome) => outcome === 'landed')).toHaveLength(19)
    expect((await read(repo)).refs.get('refs/tags/t3')?.target).toBe(oid(77))
  })

  test('a stale view of a ref that was created and moved on since cannot create it again', async () => {
    const { repo, main } = await createWithMain()
    await land(deps(), landing(repo, [move(MAIN, main, oid(2))]))
    // …:1 is free again, but the head has moved when main was created.
    const stale = await land(deps(), landing(repo, [move(MAIN, null, oid(6))], { head: 1 }))
    expect(stale.moves).toEqual([{ name: MAIN, outcome: 'lost', state: await stateOf(repo) }])
  })

  test('a stale or unknown head is read again', async () => {
    const { repo } = await createWithMain()
    const create = (name: string, head: number | null) =>
      land(deps(), landing(repo, [move(name, null, oid(1))], { head }))
    expect(await create('refs/heads/stale', 1)).toMatchObject({
      head: 1,
      isStale: true,
      moves: [{ outcome: 'landed' }],
    })
    expect(await create('refs/heads/unknown', null)).toMatchObject({
      head: null,
      isStale: true,
      moves: [{ outcome: 'landed' }],
    })
    expect((await read(repo)).head).toBe(4)
  })

  test('a repository that has no head gets one', async () => {
    const { repo } = await createWithMain()
    await local.applyWrites([{ action: 'delete', collection: REFS_COLLECTION, rkey: refsKey(repo, 0, 2) }])
    const result = await land(deps(), landing(repo, [move('refs/heads/topic', null, oid(1))], { head: 2 }))
    expect(outcomes(result)).toEqual(['landed'])
    expect((await read(repo)).head).toBe(1)
  })
})

test('a name that another repository of the account has is taken', async () => {
  const { repo } = await createWithMain()
  const { name } = (await read(repo)).repo
  const result = await land(
    deps(),
    landing(tids.next(), [move(MAIN, null, oid(1))], { create: repoRecord(name), head: null }),
  )
  expect(result).toMatchObject({ repository: { taken: repo }, packLanded: false })
  expect(outcomes(result)).toEqual(['failed'])
})

test('a refused landing without moves says why', async () => {
  const applyWrites = faulty('before', 9)
  const result = await land(
    deps({ applyWrites }),
    landing(tids.next(), [], { create: repoRecord('never'), pack: null, head: null }),
  )
  expect(result).toMatchObject({
    repository: 'unchanged',
    failure: { message: expect.stringMatching(/^pds.test broke/) },
  })
})
