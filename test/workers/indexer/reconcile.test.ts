import { describe, expect, it } from 'vitest'
import { IdentityNotFoundError, IdentityUnavailableError } from '../../../atproto/identity/identity.ts'
import { PdsError, PdsUnreachableError } from '../../../atproto/pds/pds-error.ts'
import type { AccountSnapshot, AccountWant, WantedAccount } from '../../../storage/index/index-types.ts'
import type { Reconcile } from '../../../storage/index/reconciles.ts'
import { type ReconcileAccountDeps, reconcileAccount } from '../../../workers/indexer/reconcile-account.ts'
import { type ReconcileAllDeps, startReconcile, stepReconcile } from '../../../workers/indexer/reconcile-all.ts'
import { MemoryPds } from '../../atproto/memory-pds.ts'

const DID = 'did:plc:abcdefghijklmnopqrstuvwx'
const NOW = 1_796_000_000_000
const REV = '3lzkosecbps2a'
/** One that was listed a moment ago. */
const PAUSED = 'did:plc:7'

class World {
  readonly pds = new MemoryPds()
  want: (AccountWant & { readonly dueAt: number }) | null = {
    did: DID,
    reason: 'test',
    wantedAt: 1,
    tries: 0,
    host: null,
    nextAt: NOW + 4_000,
    dueAt: 0,
  }
  isHostBusy = false
  isDnsDown = false
  readonly hints: WantedAccount[] = []
  /** Of its host. */
  others: string[] = []
  status: { isActive: boolean; status: string | null; rev: string | null } | null = {
    isActive: true,
    status: null,
    rev: REV,
  }
  fault: unknown = null
  isKnown = true
  isServed = true
  readonly snapshots: AccountSnapshot[] = []
  readonly done: string[] = []
  wantedMeanwhile = 0

  get deps(): ReconcileAccountDeps {
    return {
      index: {
        replaceAccount: async (snapshot) => {
          this.snapshots.push(snapshot)
          if (this.wantedMeanwhile-- > 0) this.want = { ...this.want!, wantedAt: this.want!.wantedAt + 1 }
          return []
        },
        forgetAccount: async () => void this.done.push('forgotten'),
      },
      wants: {
        begin: async (_, now, until) => {
          if (this.want === null || this.want.dueAt > now) return null
          this.want = { ...this.want, tries: this.want.tries + 1, dueAt: until }
          return this.want
        },
        place: async () => !this.isHostBusy,
        next: async () => this.others.shift() ?? null,
        done: async (_, wantedAt) => {
          if (this.want?.wantedAt !== wantedAt) return false
          this.want = null
          return true
        },
        renew: async (_, dueAt) => {
          if (this.want !== null) this.want = { ...this.want, dueAt, tries: 0 }
        },
        putOff: async (_, dueAt, reason) => {
          if (this.want !== null) this.want = { ...this.want, dueAt, reason }
        },
      },
      resolve: async (did) => {
        if (this.fault !== null) throw this.fault
        const handle = this.isDnsDown ? { handle: null, uncheckedHandle: 'alice.test' } : { handle: 'alice.test' }
        return { did, ...handle, pds: 'https://pds.test' }
      },
      client: () => Object.assign(this.pds.client, { getRepoStatus: async () => this.status }),
      collections: ['dev.skein.repo', 'dev.skein.pack'],
      condense: ({ rkey }) => ({ value: `what is kept of ${rkey}`, bytes: 1 }),
      isKnown: async () => this.isKnown,
      isServed: () => this.isServed,
      dropMirrors: async () => void this.done.push('mirrors dropped'),
      hint: async (wanted) => void this.hints.push(...wanted),
      now: () => NOW,
      random: () => 0,
      log: (event) => void this.done.push(event),
      logRoutine: () => undefined,
    }
  }
}

describe('an account that is wanted', () => {
  it('is listed, of each record only what is kept, by a rev of before', async () => {
    const world = new World()
    world.pds.put('dev.skein.repo', 'a', { name: 'app' })
    world.pds.put('dev.skein.pack', 'b', { bytes: { $bytes: 'AAAA' }, size: 3 })
    await reconcileAccount(world.deps, DID)
    expect(world.snapshots).toEqual([
      {
        did: DID,
        handle: 'alice.test',
        pds: 'https://pds.test',
        isActive: true,
        status: null,
        rev: REV,
        listedAt: NOW,
        records: [
          { collection: 'dev.skein.repo', rkey: 'a', value: 'what is kept of a' },
          { collection: 'dev.skein.pack', rkey: 'b', value: 'what is kept of b' },
        ],
      },
    ])
    expect(world.want).toBe(null)
  })

  it('is not listed while somebody else does it, or before it is due', async () => {
    const world = new World()
    world.want = { ...world.want!, dueAt: NOW + 1 }
    await reconcileAccount(world.deps, DID)
    expect([world.snapshots, world.want.tries]).toEqual([[], 0])
  })

  it('is listed again where it was wanted meanwhile, after a pause', async () => {
    const world = new World()
    world.wantedMeanwhile = 1
    await reconcileAccount(world.deps, DID)
    const again = { did: DID, dueAt: NOW + 4_000 }
    expect([world.snapshots.length, world.want, world.hints]).toEqual([1, expect.objectContaining(again), [again]])
  })

  it('is no failure where it is wanted meanwhile each time: one that follows is a first one', async () => {
    const world = new World()
    world.wantedMeanwhile = 30
    for (let n = 0; n < 30; n++) {
      await reconcileAccount(world.deps, DID)
      world.want = { ...world.want!, dueAt: 0 }
    }
    world.isDnsDown = true
    await reconcileAccount(world.deps, DID)
    expect(world.snapshots.at(-1)).toMatchObject({ uncheckedHandle: 'alice.test' })
    world.want = { ...world.want!, dueAt: 0, tries: 0 }
    world.fault = new PdsUnreachableError('pds.test', 'cannot be reached')
    await reconcileAccount(world.deps, DID)
    expect(world.want).toMatchObject({ dueAt: NOW + 30_000, tries: 1 })
  })

  it('leaves the place to another one of its host', async () => {
    const world = new World()
    world.others = ['did:plc:another', 'did:plc:third']
    await reconcileAccount(world.deps, DID)
    expect([world.want, world.hints]).toEqual([null, [{ did: 'did:plc:another', dueAt: NOW }]])
    const busy = new World()
    busy.isHostBusy = true
    await reconcileAccount(busy.deps, DID)
    expect([busy.snapshots, busy.done, busy.want]).toEqual([[], [], expect.objectContaining({ did: DID })])
  })

  it.each([
    ['its host does not answer', new PdsUnreachableError('pds.test', 'cannot be reached'), 30_000],
    ['its host asks for a pause', new PdsError('pds.test', 429, 'RateLimitExceeded', '', 300), 300_000],
    ['its host asks for an age', new PdsError('pds.test', 429, 'RateLimitExceeded', '', 1e15), 12 * 3_600_000],
    ['it cannot be looked up now', new IdentityUnavailableError(DID, 'plc.test', 'answered 500'), 30_000],
    ['something breaks here', new TypeError('x is not a function'), 30_000],
  ])('is put off where %s', async (_, fault, pause) => {
    const world = new World()
    world.fault = fault
    await reconcileAccount(world.deps, DID)
    expect(world.want).toMatchObject({ dueAt: NOW + pause, reason: String(fault), tries: 1 })
    expect(world.done).toEqual(['account-put-off'])
    world.want = { ...world.want!, dueAt: 0, tries: 4 }
    await reconcileAccount(world.deps, DID)
    expect(world.want.dueAt).toBe(NOW + Math.max(pause, 30_000 * 16))
  })

  it('is listed though its handle cannot be checked, which is tried again for a week', async () => {
    const world = new World()
    world.isDnsDown = true
    await reconcileAccount(world.deps, DID)
    expect(world.snapshots).toMatchObject([{ handle: null, uncheckedHandle: 'alice.test' }])
    expect(world.want).toMatchObject({ tries: 1, dueAt: NOW + 30_000, reason: expect.stringContaining('alice.test') })
    world.want = { ...world.want!, dueAt: 0, tries: 19 }
    await reconcileAccount(world.deps, DID)
    expect(world.snapshots[1]).toMatchObject({ handle: null })
    expect([world.snapshots[1]!.uncheckedHandle, world.want]).toEqual([undefined, null])
  })

  it('is forgotten where it is gone, with its mirrors', async () => {
    const worlds = [new World(), new World(), new World()]
    worlds[0]!.status = null
    worlds[1]!.status = { isActive: false, status: 'deleted', rev: null }
    worlds[2]!.fault = new IdentityNotFoundError(DID, 'it was given up')
    for (const world of worlds) {
      await reconcileAccount(world.deps, DID)
      expect([world.done, world.snapshots]).toEqual([['forgotten', 'mirrors dropped'], []])
    }
  })

  it('is noted as not active without being listed, and not at all if nobody knows it and it has nothing', async () => {
    const world = new World()
    world.status = { isActive: false, status: 'takendown', rev: null }
    await reconcileAccount(world.deps, DID)
    expect(world.snapshots).toMatchObject([{ isActive: false, status: 'takendown', records: [] }])
    const stranger = new World()
    stranger.isKnown = false
    await reconcileAccount(stranger.deps, DID)
    expect([stranger.snapshots, stranger.want]).toEqual([[], null])
  })
})

describe('an account that the operator does not have served', () => {
  it('is not listed, and what is known of it is hidden, and not mirrored any more', async () => {
    const [known, stranger] = [new World(), new World()]
    stranger.isKnown = false
    for (const world of [known, stranger]) {
      world.isServed = false
      world.pds.put('dev.skein.repo', 'a', { name: 'app' })
      await reconcileAccount(world.deps, DID)
      expect(world.want).toBe(null)
    }
    expect(known.snapshots).toMatchObject([{ isActive: false, status: 'unmirrored', records: [] }])
    expect(known.done).toEqual(['mirrors dropped'])
    expect([stranger.snapshots, stranger.done]).toEqual([[], []])
  })
})

describe('a list of all accounts', () => {
  /** @param refusal HTTP status by which the host refuses to list by collection; null: it does list so */
  function lists(refusal: number | null) {
    const hints = { lists: 0, due: 0, accounts: 0 }
    const wanted: string[] = []
    const asked: string[] = []
    let row: Reconcile | null = null
    let time = NOW
    const deps: ReconcileAllDeps = {
      reconciles: {
        start: async (source, now) => {
          row = { source, cursor: null, accounts: 0, startedAt: now, finishedAt: null }
        },
        advance: async (from, accounts, cursor, now) => {
          if (row?.cursor !== from.cursor || row.startedAt !== from.startedAt) return false
          row = { ...row, cursor, accounts: row.accounts + accounts, finishedAt: cursor === null ? now : null }
          return true
        },
        find: async () => row,
        list: async () => (row === null ? [] : [row]),
      },
      wants: {
        want: async (dids, _, now) => {
          wanted.push(...dids)
          return dids.map((did) => ({ did, dueAt: did === PAUSED ? now + 60_000 : now }))
        },
        count: async () => wanted.length,
      },
      knownAccounts: async (after) => (after === '' ? ['did:plc:known'] : []),
      listAccounts: async (_, collection, cursor) => {
        asked.push(`${collection ?? 'all'} ${cursor ?? ''}`.trim())
        if (collection !== null && refusal !== null) throw new PdsError('pds.test', refusal, 'Refused', '', null)
        const page = Number(cursor ?? 0)
        return { dids: [`did:plc:${page}`], cursor: page < 24 ? String(page + 1) : null }
      },
      hint: async (accounts) => {
        hints.accounts += accounts.length
      },
      hintDue: async () => void hints.due++,
      hintLists: async (sources) => {
        hints.lists += sources.length
      },
      now: () => time++,
      log: () => undefined,
      logRoutine: () => undefined,
    }
    return { deps, hints, wanted, asked, row: () => row }
  }

  it.each([null, 400, 401, 404, 501])(
    'is read in steps, each of which goes on where the one before was (%s)',
    async (refusal) => {
      const { deps, hints, wanted, asked, row } = lists(refusal)
      await startReconcile(deps, { relay: 'https://relay.test' })
      for (let steps = 0; row()!.finishedAt === null; steps++) {
        expect(steps).toBeLessThan(3)
        await stepReconcile(deps, 'https://relay.test')
      }
      expect(wanted).toEqual(Array.from({ length: 25 }, (_, n) => `did:plc:${n}`))
      expect(row()).toMatchObject({ accounts: 25 })
      expect(hints).toEqual({ lists: 3, due: 3, accounts: 1 })
      expect(asked).toHaveLength(refusal === null ? 25 : 26)
    },
  )

  it.each([429, 500, 503])('is not taken for all accounts of a host that is only busy (%s)', async (refusal) => {
    const { deps, asked, row } = lists(refusal)
    await startReconcile(deps, { relay: 'https://relay.test' })
    await expect(stepReconcile(deps, 'https://relay.test')).rejects.toThrow('Refused')
    expect([asked, row()]).toMatchObject([['dev.skein.repo'], { cursor: null, finishedAt: null }])
  })

  it('is not read twice where two read it at once', async () => {
    const { deps, row } = lists(null)
    await startReconcile(deps, { relay: 'https://relay.test' })
    await Promise.all([stepReconcile(deps, 'https://relay.test'), stepReconcile(deps, 'https://relay.test')])
    await stepReconcile(deps, 'https://relay.test')
    await stepReconcile(deps, 'https://relay.test')
    expect(row()).toMatchObject({ accounts: 25 })
  })

  it('is what the index knows, or what the operator names', async () => {
    const { deps, wanted, row, hints } = lists(null)
    await startReconcile(deps, { known: true })
    await stepReconcile(deps, 'known')
    expect([wanted, row()!.finishedAt !== null]).toEqual([['did:plc:known'], true])
    await startReconcile(deps, { dids: [DID, DID] })
    expect([wanted, hints.accounts]).toEqual([['did:plc:known', DID], 1])
  })
})
