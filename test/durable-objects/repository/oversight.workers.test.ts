import { describe, expect, test } from 'vitest'
import type { SizeCaps } from '../../../durable-objects/environment.ts'
import { Oversight } from '../../../durable-objects/repository/oversight.ts'
import { MirrorStore } from '../../../storage/mirror/mirror-store.ts'
import { Standing } from '../../../storage/mirror/standing.ts'
import type { AccountBlocks } from '../../../storage/operator/blocks.ts'
import type { MirrorNote } from '../../../storage/operator/mirror-register.ts'
import { DID, head, inMirror, inMirrorStorage } from '../../storage/mirror/in-mirror.ts'

const RKEY = '3lzkoq5qq2s2a'
const KEY = { did: DID, rkey: RKEY }
const NOTHING: AccountBlocks = { account: null, repositories: {} }
const HOUR = 60 * 60_000
const DAY = 24 * HOUR
const INLINE = { blobs: null, replaces: [] }

/** A register in memory, a clock, and the object's view of them. */
function overseen(store: MirrorStore, caps: Partial<SizeCaps> = {}, evictAfter: number | null = null) {
  const world = {
    now: 1_000_000_000,
    blocks: NOTHING,
    othersBytes: 0,
    isDown: false,
    told: [] as (MirrorNote & { readonly isNews: boolean })[],
    removed: 0,
  }
  const oversight = new Oversight({
    store,
    register: {
      async exchange(note, isNews) {
        if (world.isDown) throw new Error('D1 is down')
        world.told.push({ ...note, isNews })
        return { blocks: world.blocks, othersBytes: world.othersBytes }
      },
      async remove() {
        world.removed++
      },
    },
    caps: { repository: null, account: null, ...caps },
    evictAfter,
    now: () => world.now,
    log: () => undefined,
  })
  return { world, oversight }
}

describe('a block', () => {
  test('is heard of when D1 is asked, and kept through a restart and without a mirror', () =>
    inMirrorStorage(async (storage) => {
      const store = new MirrorStore(storage)
      const { world, oversight } = overseen(store)
      expect(oversight.refusal()).toBe(null)
      world.blocks = { account: null, repositories: { [RKEY]: 'spam' } }
      expect(await oversight.ask(KEY)).toMatchObject({ reason: 'blocked', message: expect.stringMatching(/: spam$/) })
      store.clear()
      expect(new Standing(storage.sql).state).toMatchObject({ blocked: 'spam' })
      world.blocks = NOTHING
      // A moment later D1 is not asked again, but for who says that something is new.
      expect(await oversight.ask(KEY)).toMatchObject({ reason: 'blocked' })
      expect(await oversight.askAgain(KEY)).toBe(null)
    }))

  test('that cannot be looked up keeps out whoever comes first, and nobody later', () =>
    inMirror(async (store) => {
      const { world, oversight } = overseen(store)
      world.isDown = true
      expect(await oversight.ask(KEY)).toMatchObject({ state: 'unavailable' })
      world.isDown = false
      expect(await oversight.ask(KEY)).toBe(null)
      world.isDown = true
      world.now += HOUR
      expect(await oversight.ask(KEY)).toBe(null)
      await expect(oversight.askAgain(KEY)).rejects.toThrow('D1 is down')
    }))

  test('is not forgotten for an answer that was asked for before', () =>
    inMirror(async (store) => {
      const answers: ((blocks: AccountBlocks) => void)[] = []
      const exchange = () =>
        new Promise<{ blocks: AccountBlocks; othersBytes: number }>((resolve) => {
          answers.push((blocks) => resolve({ blocks, othersBytes: 0 }))
        })
      const oversight = new Oversight({
        store,
        register: { exchange, remove: async () => undefined },
        caps: { repository: null, account: null },
        evictAfter: null,
        now: () => 1,
        log: () => undefined,
      })
      const [before, after] = [oversight.ask(KEY), oversight.askAgain(KEY)]
      answers[1]!({ account: '', repositories: {} })
      expect(await after).toMatchObject({ reason: 'blocked' })
      answers[0]!(NOTHING)
      expect(await before).toMatchObject({ reason: 'blocked' })
    }))
})

describe('what D1 is told', () => {
  test('is written only where it is news', () =>
    inMirror(async (store) => {
      const { world, oversight } = overseen(store)
      store.setHead(head())
      store.addPack({ id: 'a', size: 10, objects: 1 })
      await oversight.ask(KEY)
      world.now += HOUR
      await oversight.ask(KEY)
      store.addPack({ id: 'b', size: 5, objects: 1 })
      world.now += HOUR
      await oversight.ask(KEY)
      world.now += DAY
      store.standing.use(world.now)
      await oversight.ask(KEY)
      expect(world.told.map(({ bytes, isNews }) => [bytes, isNews])).toEqual([
        [10, true],
        [10, false],
        [15, true],
        [15, true],
      ])
    }))
})

describe('a size cap', () => {
  test('refuses what is wanted beyond it, until it is raised or some time is over', () =>
    inMirror(async (store) => {
      const { world, oversight } = overseen(store, { repository: 100 })
      await oversight.ask(KEY)
      store.setHead(head())
      store.wantPack({ id: 'a', size: 90, objects: 1 }, INLINE)
      expect(oversight.judgeSize()).toBe(null)
      expect(oversight.room()).toMatchObject({ bytes: 10 })
      store.wantPack({ id: 'b', size: 20, objects: 1 }, INLINE)
      const refused = oversight.judgeSize()
      expect(refused).toMatchObject({ reason: 'over-cap', message: expect.stringMatching(/100 bytes.*has 110$/) })
      store.clear()
      expect(oversight.refusal()).toEqual(refused)
      expect(overseen(store, { repository: 110 }).oversight.refusal()).toBe(null)
      world.now += HOUR
      expect(oversight.refusal()).toBe(null)
    }))

  test('leaves what is here already', () =>
    inMirror(async (store) => {
      const { oversight } = overseen(store, { repository: 100 })
      await oversight.ask(KEY)
      store.setHead(head())
      store.addPack({ id: 'a', size: 500, objects: 1 })
      expect(oversight.judgeSize()).toBe(null)
      expect(oversight.room()).toMatchObject({ bytes: -400 })
    }))

  test('of an account counts its other repositories, of which D1 hears', () =>
    inMirror(async (store) => {
      const { world, oversight } = overseen(store, { account: 100 })
      world.othersBytes = 70
      await oversight.ask(KEY)
      store.setHead(head())
      expect(oversight.room()).toMatchObject({ bytes: 30 })
      store.addPack({ id: 'a', size: 20, objects: 1 })
      expect(oversight.mustTell()).toBe(false)
      world.now = oversight.nextDue()!
      expect(oversight.mustTell()).toBe(true)
      await oversight.ask(KEY)
      expect([oversight.mustTell(), world.told.at(-1)?.bytes]).toEqual([false, 20])
    }))
})

describe('a mirror that is not used', () => {
  test('is given up after the time, and not before; a use begins it anew', () =>
    inMirror(async (store) => {
      const { world, oversight } = overseen(store, {}, DAY)
      await oversight.ask(KEY)
      expect(oversight.nextDue()).toBe(null)
      store.setHead(head())
      world.now += DAY - 1
      expect(oversight.isUnused()).toBe(false)
      store.standing.use(world.now)
      world.now += DAY - 1
      expect(oversight.isUnused()).toBe(false)
      world.now += 1
      expect(oversight.isUnused()).toBe(true)
      expect([await oversight.giveUp(KEY), world.removed]).toEqual([true, 1])
    }))

  test('and that is used meanwhile is told of again', () =>
    inMirror(async (store) => {
      const { world, oversight } = overseen(store, {}, DAY)
      await oversight.ask(KEY)
      store.setHead(head())
      world.now += 2 * DAY
      store.standing.use(world.now)
      expect(await oversight.giveUp(KEY)).toBe(false)
      expect(world.told.at(-1)?.isNews).toBe(true)
    }))
})

test('the account’s bytes are those of its packs, whatever the mirror makes of them', () =>
  inMirror((store) => {
    store.setHead(head())
    for (const [id, size] of [
      ['a', 10],
      ['b', 20],
      ['c', 40],
    ] as const) {
      store.wantPack({ id, size, objects: 1 }, INLINE)
    }
    expect(store.accountBytes()).toBe(70)
    store.takeIn({ id: 'a', size: 10, objects: 1 }, INLINE)
    store.addPack({ id: 'b', size: 20, objects: 1 })
    expect(store.accountBytes()).toBe(70)
    store.breakPack('c')
    expect(store.accountBytes()).toBe(30)
    store.merges.replace({ id: 'm', size: 25, objects: 2 }, ['a', 'b'])
    expect(store.accountBytes()).toBe(30)
    store.wantAgain({ id: 'a', size: 10, objects: 1 }, INLINE)
    expect(store.accountBytes()).toBe(30)
    store.markGone(['b', 'm', 'x'])
    expect(store.accountBytes()).toBe(10)
    store.clear()
    expect(store.accountBytes()).toBe(0)
  }))
