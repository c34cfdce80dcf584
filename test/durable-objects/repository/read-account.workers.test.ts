import { describe, expect, it } from 'vitest'
import { REF_COLLECTION, REPO_COLLECTION } from '../../../atproto/records/collections.ts'
import { CLOCK_SKEW, tidBefore } from '../../../atproto/records/tid.ts'
import { type ReadAccountDeps, readAccount } from '../../../durable-objects/repository/read-account.ts'
import type { MirrorStore } from '../../../storage/mirror/mirror-store.ts'
import { oid } from '../../git/protocol/wire.ts'
import { inMirror } from '../../storage/mirror/in-mirror.ts'
import { StoredRepositoryRecords } from './stored-repository.ts'

const MAIN = 'refs/heads/main'
const NOW = 1_770_000_000_000

function depsOf(store: MirrorStore, account: StoredRepositoryRecords) {
  const kept: string[] = []
  const logged: string[] = []
  const deps: ReadAccountDeps = {
    store,
    client: account.pds.client,
    keepInlinePack: async (id) => void kept.push(id),
    log: (event) => void logged.push(event),
    now: () => NOW,
  }
  return { deps, kept, logged }
}

/** Two packs, the first inline and the second in blobs, and a ref that needs the second. */
function stored(): StoredRepositoryRecords {
  const account = new StoredRepositoryRecords().create()
  account.inlinePack(1, new Uint8Array(40))
  account.blobPack(2, [new Uint8Array(50), new Uint8Array(7)])
  account.ref(MAIN, oid(1), 1, 2)
  return account
}

describe('a mirror that has not seen its account', () => {
  it('learns its record, wants its packs, and has its refs to check', () =>
    inMirror(async (store) => {
      const account = stored()
      const { deps, kept } = depsOf(store, account)
      expect(await readAccount(deps, account.address, 'newer')).toEqual({ state: 'read' })
      expect(store.head()).toMatchObject({ ...account.address, record: { name: 'app' }, checkedAt: NOW })
      expect(store.packs('wanted')).toEqual([
        { id: account.id(1), size: 40, objects: 1 },
        { id: account.id(2), size: 57, objects: 1 },
      ])
      expect(kept).toEqual([account.id(1)])
      expect(store.source(account.id(1))).toEqual({ blobs: null, replaces: [] })
      expect(store.source(account.id(2))!.blobs!.map(({ size }) => size)).toEqual([50, 7])
      expect(store.uncheckedRefs()).toEqual([{ name: MAIN, target: oid(1) }])
    }))

  it('shows nothing while bytes are being kept: a second reader never finds an empty repository', () =>
    inMirror(async (store) => {
      const account = stored()
      const heads: unknown[] = []
      const { deps } = depsOf(store, account)
      const keepInlinePack = async () => void heads.push(store.head())
      await readAccount({ ...deps, keepInlinePack }, account.address, 'newer')
      expect(heads).toEqual([null])
      expect(store.isComplete()).toBe(false)
    }))

  it('stays as it is where the account has no such repository, or does not answer', () =>
    inMirror(async (store) => {
      const account = new StoredRepositoryRecords()
      const { deps, logged } = depsOf(store, account)
      expect(await readAccount(deps, account.address, 'newer')).toEqual({ state: 'gone' })
      account.pds.isDown = true
      expect(await readAccount(deps, account.address, 'newer')).toEqual({
        state: 'unavailable',
        message: 'pds.test cannot be reached',
        retryAfterSeconds: null,
      })
      expect([store.head(), logged]).toEqual([null, ['account-unavailable']])
    }))

  it('skips and logs what is no valid record, and takes the rest', () =>
    inMirror(async (store) => {
      const account = stored()
      account.pds.put(REF_COLLECTION, `${account.rkey}:nonsense`, { name: 7 })
      const { deps, logged } = depsOf(store, account)
      await readAccount(deps, account.address, 'newer')
      expect(logged).toEqual(['record-skipped'])
      expect(store.uncheckedRefs()).toHaveLength(1)
    }))

  it('is gone where its own record is no valid one', () =>
    inMirror(async (store) => {
      const account = stored()
      account.pds.put(REPO_COLLECTION, account.rkey, { name: '../..' })
      expect(await readAccount(depsOf(store, account).deps, account.address, 'newer')).toEqual({ state: 'gone' })
    }))
})

describe('a mirror that has seen its account', () => {
  async function mirrored(store: MirrorStore) {
    const account = stored()
    const { deps, kept } = depsOf(store, account)
    await readAccount(deps, account.address, 'newer')
    for (const pack of store.packs('wanted')) store.takeIn(pack, store.source(pack.id)!)
    store.settleRefs(store.uncheckedRefs().map((ref) => ({ ...ref, isBroken: false })))
    account.pds.calls.length = 0
    kept.length = 0
    return { account, deps, kept }
  }
  const packLists = (account: StoredRepositoryRecords) => {
    return account.pds.calls.filter((call) => call.startsWith('listRecords dev.skein.pack'))
  }

  it('lists the packs that are newer, and finds nothing to do where there are none', () =>
    inMirror(async (store) => {
      const { account, deps, kept } = await mirrored(store)
      const version = store.head()!.version
      await readAccount(deps, account.address, 'newer')
      const since = `${account.rkey}:${tidBefore(account.id(2), CLOCK_SKEW)}`
      expect(packLists(account)).toEqual([`listRecords dev.skein.pack after ${since}`])
      expect([kept, store.isComplete(), store.head()!.version]).toEqual([[], true, version])
    }))

  it('keeps no bytes again of packs that are merged', () =>
    inMirror(async (store) => {
      const { account, deps, kept } = await mirrored(store)
      store.merges.replace({ id: 'made', size: 80, objects: 2 }, [account.id(1), account.id(2)])
      await readAccount(deps, account.address, 'all')
      expect([kept, store.packState(account.id(1))]).toEqual([[], 'merged'])
    }))

  it('takes what is new', () =>
    inMirror(async (store) => {
      const { account, deps, kept } = await mirrored(store)
      account.inlinePack(3, new Uint8Array(40))
      account.ref(MAIN, oid(2), 2, 3)
      await readAccount(deps, account.address, 'newer')
      expect(kept).toEqual([account.id(3)])
      expect(store.packs('wanted').map(({ id }) => id)).toEqual([account.id(3)])
      expect(store.refs([MAIN])).toMatchObject([{ state: { target: oid(2), seq: 2 } }])
      expect(packLists(account)).toHaveLength(1)
    }))

  it('lists all packs where a ref needs one that a writer with a slow clock has written', () =>
    inMirror(async (store) => {
      const { account, deps } = await mirrored(store)
      account.inlinePack(0, new Uint8Array(40))
      account.ref('refs/heads/slow', oid(3), 1, 0)
      await readAccount(deps, account.address, 'newer')
      expect(store.packs('wanted').map(({ id }) => id)).toEqual([account.id(0)])
    }))

  it('does not list all of them again and again for a pack that nobody has', () =>
    inMirror(async (store) => {
      const { account, deps } = await mirrored(store)
      account.ref('refs/heads/lost', oid(3), 1, 0)
      await readAccount(deps, account.address, 'newer')
      expect(store.packState(account.id(0))).toBe('gone')
      account.pds.calls.length = 0
      await readAccount(deps, account.address, 'newer')
      expect(packLists(account)).toHaveLength(1)
    }))

  it('gives up wanted packs that the account has no more, when it lists all', () =>
    inMirror(async (store) => {
      const { account, deps } = await mirrored(store)
      account.inlinePack(3, new Uint8Array(40))
      await readAccount(deps, account.address, 'newer')
      account.removePack(3)
      account.inlinePack(4, new Uint8Array(40), [3])
      await readAccount(deps, account.address, 'all')
      expect(store.packs('wanted').map(({ id }) => id)).toEqual([account.id(4)])
      expect(store.packState(account.id(3))).toBe('gone')
      expect(store.packs('ready').map(({ id }) => id)).toEqual([account.id(1), account.id(2)])
    }))

  it('does not undo what a push has landed meanwhile', () =>
    inMirror(async (store) => {
      const { account, deps } = await mirrored(store)
      account.inlinePack(3, new Uint8Array(40))
      account.ref(MAIN, oid(2), 2, 3)
      const state = { name: MAIN, target: oid(4), peeled: null, seq: 3, pack: null, at: { kind: 'loose' } as const }
      const keepInlinePack = async (id: string) => {
        store.addPack({ id, size: 40, objects: 1 })
        store.advanceRefs([state], 'sound')
      }
      await readAccount({ ...deps, keepInlinePack }, account.address, 'newer')
      expect([store.packState(account.id(3)), store.isComplete()]).toEqual(['ready', true])
      expect(store.refs([MAIN])).toMatchObject([{ state: { target: oid(4), seq: 3 } }])
    }))
})
