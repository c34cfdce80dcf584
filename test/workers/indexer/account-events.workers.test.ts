import { env } from 'cloudflare:test'
import { drizzle } from 'drizzle-orm/d1'
import { beforeEach, describe, expect, it } from 'vitest'
import type { AccountEvent } from '../../../atproto/firehose/stream-event.ts'
import type { RepoStatus } from '../../../atproto/pds/pds-client.ts'
import { REPO_COLLECTION } from '../../../atproto/records/collections.ts'
import { tidFromTime } from '../../../atproto/records/tid.ts'
import type { Environment } from '../../../durable-objects/environment.ts'
import { AccountWants } from '../../../storage/index/account-wants.ts'
import { condense } from '../../../storage/index/condense.ts'
import { isKnownAccount } from '../../../storage/index/find-mirrored.ts'
import { IndexReader } from '../../../storage/index/index-reader.ts'
import { IndexStore } from '../../../storage/index/index-store.ts'
import { followOutcome } from '../../../workers/indexer/follow-outcome.ts'
import { reconcileAccount } from '../../../workers/indexer/reconcile-account.ts'
import { MemoryPds } from '../../atproto/memory-pds.ts'
import { emptyIndex } from '../../storage/index/index-dump.ts'
import { didOf } from '../../storage/index/random-stream.ts'

// From an event on the stream to what becomes of the account, with hosts that say what they like.
const { DB } = env as unknown as Environment
const db = drizzle(DB)
const index = new IndexStore(db)
const wants = new AccountWants(db)
const ALICE = didOf(1)
const START = 1_795_000_000_000
const MINUTE = 60_000

class Host {
  readonly pds = new MemoryPds()
  status: RepoStatus | null = null
  readonly origin: string

  constructor(origin: string) {
    this.origin = origin
  }

  serve(rev: string, names: readonly string[]): void {
    this.status = { isActive: true, status: null, rev }
    for (const name of names) {
      const more = { defaultBranch: 'main', objectFormat: 'sha1', createdAt: '2026-01-01T00:00:00Z' }
      this.pds.put(REPO_COLLECTION, tidFromTime(START * 1000, names.indexOf(name)), {
        $type: REPO_COLLECTION,
        name,
        ...more,
      })
    }
  }
}

class World {
  readonly old = new Host('https://old.test')
  readonly present = new Host('https://present.test')
  home = this.old
  now = START
  dropped = 0

  /** What an upstream says; what is wanted by it is done at once. @returns how many accounts were asked */
  async hear(isActive: boolean, status: string | null, time = this.now): Promise<number> {
    this.now += 10 * MINUTE
    const event: AccountEvent = { kind: 'account', did: ALICE, isActive, status, time, cursor: 1 }
    const outcome = await index.apply([event], this.now)
    await followOutcome(
      {
        findMirrored: async () => [],
        hear: async () => undefined,
        hint: async (wanted) => {
          for (const { did } of wanted) await this.list(did)
        },
        deleteParked: async () => undefined,
        log: () => undefined,
      },
      [event],
      outcome,
    )
    return outcome.wanted.length
  }

  async list(did: string): Promise<void> {
    await reconcileAccount(
      {
        index,
        wants,
        resolve: async () => ({ did, handle: null, pds: this.home.origin }),
        client: (pds) => {
          const host = [this.old, this.present].find(({ origin }) => origin === pds)!
          return Object.assign(host.pds.client, { getRepoStatus: async () => host.status })
        },
        collections: [REPO_COLLECTION],
        condense,
        isKnown: (known) => isKnownAccount(db, known),
        isServed: () => true,
        dropMirrors: async () => void this.dropped++,
        hint: async () => undefined,
        now: () => this.now,
        random: () => 0,
        log: () => undefined,
        logRoutine: () => undefined,
      },
      did,
    )
  }

  async names(): Promise<string[]> {
    const { items } = await new IndexReader(db, () => this.now).repositoriesOf(ALICE, 'name', { limit: 10 })
    return items.map(({ record }) => record.name)
  }
}

let world: World

/** An account that has moved. */
beforeEach(async () => {
  await emptyIndex(DB)
  world = new World()
  world.old.serve(tidFromTime(START * 1000, 0), ['app'])
  world.present.serve(tidFromTime((START + 1) * 1000, 0), ['app', 'tool'])
  for (const home of [world.old, world.present]) {
    world.home = home
    world.now += 10 * MINUTE
    await wants.want([ALICE], 'it has moved', world.now)
    await world.list(ALICE)
  }
  expect(await world.names()).toEqual(['app', 'tool'])
})

describe('an event about an account', () => {
  it.each(['deleted', 'deactivated', 'takendown'])('of the host that it has left does nothing: %s', async (status) => {
    world.old.status = { isActive: false, status, rev: null }
    for (const time of [world.now, world.now + 1e9]) {
      expect(await world.hear(false, status, time)).toBe(1)
      expect([await world.names(), world.dropped, await wants.count()]).toEqual([['app', 'tool'], 0, 0])
    }
    world.old.status = null
    await world.hear(false, 'deleted')
    expect([await world.names(), world.dropped]).toEqual([['app', 'tool'], 0])
  })

  it('of its present host does what that says when it is asked, and undoes it', async () => {
    world.present.status = { isActive: false, status: 'deactivated', rev: null }
    await world.hear(false, 'deactivated')
    expect([await world.names(), world.dropped]).toEqual([[], 0])
    world.present.serve(tidFromTime((START + 2) * 1000, 0), [])
    await world.hear(true, null)
    expect(await world.names()).toEqual(['app', 'tool'])

    world.present.status = null
    await world.hear(false, 'deleted')
    const count = await DB.prepare('select count(*) as n from repositories').first('n')
    expect([await world.names(), count, world.dropped]).toEqual([[], 0, 1])
    // Its old host has it still.
    expect(await world.hear(true, null)).toBe(1)
    expect(await world.names()).toEqual([])
    world.present.serve(tidFromTime((START + 3) * 1000, 0), [])
    await world.hear(true, null)
    expect(await world.names()).toEqual(['app', 'tool'])
  })

  it('that says what is known asks nobody', async () => {
    expect(await world.hear(true, null)).toBe(0)
  })
})
