import { env } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import type { Environment } from '../../../durable-objects/environment.ts'
import { type FillDeps, fillMirror, resumePause } from '../../../durable-objects/repository/fill-mirror.ts'
import { INGEST_LIMITS } from '../../../durable-objects/repository/ingest-limits.ts'
import { ingestWanted } from '../../../durable-objects/repository/ingest-wanted.ts'
import { findLostPacks } from '../../../durable-objects/repository/lost-packs.ts'
import { mergeMany } from '../../../durable-objects/repository/merge-newest.ts'
import { type ReadRange, readAccount } from '../../../durable-objects/repository/read-account.ts'
import { hashObject } from '../../../git/object/hash-object.ts'
import { BLOB, COMMIT, TREE } from '../../../git/object/object-type.ts'
import type { MirrorStore } from '../../../storage/mirror/mirror-store.ts'
import { openPacks } from '../../../storage/packs/open-packs.ts'
import { mergedPackId, packKeys } from '../../../storage/packs/pack-keys.ts'
import {
  buildPack,
  concat,
  copy,
  delta,
  insert,
  objectEntry,
  refDeltaEntry,
  utf8,
} from '../../git/pack/pack-builder.ts'
import { DID, inMirror } from '../../storage/mirror/in-mirror.ts'
import { StoredRepositoryRecords } from './stored-repository.ts'

const MAIN = 'refs/heads/main'
const { PACKS } = env as unknown as Environment

const blob = utf8('hello\n')
const tree = concat(utf8('100644 hello.txt\0'), Buffer.from(hashObject(BLOB, blob), 'hex'))
const treeId = hashObject(TREE, tree)
const who = 'A <a@b> 1700000000 +0000'
const commit = utf8(`tree ${treeId}\nauthor ${who}\ncommitter ${who}\n\nfirst\n`)
const commitId = hashObject(COMMIT, commit)
const child = utf8(`tree ${treeId}\nparent ${commitId}\nauthor ${who}\ncommitter ${who}\n\nsecond\n`)
const childId = hashObject(COMMIT, child)

const FIRST = buildPack([objectEntry(COMMIT, commit), objectEntry(TREE, tree), objectEntry(BLOB, blob)])
const SECOND = buildPack([objectEntry(COMMIT, child)])
/** Its only object is made of the first pack's blob. */
const thinBlob = utf8('hello\nworld\n')
const THIN = buildPack([
  refDeltaEntry(hashObject(BLOB, blob), delta(blob.length, thinBlob.length, copy(0, blob.length), insert('world\n'))),
])

interface Filling {
  readonly store: MirrorStore
  readonly account: StoredRepositoryRecords
  readonly deps: FillDeps
  readonly logged: string[]
  readonly pauses: number[]
  read(range?: ReadRange): ReturnType<typeof readAccount>
  fill(): ReturnType<typeof fillMirror>
}

function filling(store: MirrorStore): Filling {
  const account = new StoredRepositoryRecords().create()
  const logged: string[] = []
  const pauses: number[] = []
  const log = (event: string) => void logged.push(event)
  const { client } = account.pds
  const read = (range: ReadRange = 'newer', lost?: ReadonlySet<string>) => {
    const keepInlinePack = async (id: string, bytes: Uint8Array) => {
      await PACKS.put(packKeys(DID, account.rkey, id).pack, bytes)
    }
    return readAccount({ store, client, log, now: () => 1000, keepInlinePack }, account.address, range, lost)
  }
  const resumeLater = async (pause: number) => void pauses.push(pause)
  const restore = async () => read('all', await findLostPacks(PACKS, store, account.address))
  let made = 0
  const newId = () => mergedPackId(account.id(1000 + made++))
  const merge = () => mergeMany({ store, bucket: PACKS, newId, log, logRoutine: log }, account.address)
  const newStem = () => account.id(1000 + made++)
  const deps: FillDeps = {
    ...{ store, client, bucket: PACKS, log, logRoutine: log, merge, newStem, restore, resumeLater },
    limits: INGEST_LIMITS,
    isTurnOver: () => false,
    readAll: () => read('all'),
  }
  return { store, account, deps, logged, pauses, read, fill: () => fillMirror(deps, account.address, () => undefined) }
}

/** What readers can open: each pack's bytes, index and graph. */
async function readable({ store, account }: Filling): Promise<number[]> {
  const packs = await openPacks(PACKS, DID, account.rkey, store.packs('ready'))
  return Promise.all(
    packs.map(async ({ data, index, graph }) => {
      expect((await graph()).commits).toBeGreaterThanOrEqual(0)
      expect((await data.read(0, 4)).length).toBe(4)
      return index.entries
    }),
  )
}

const states = ({ store, account }: Filling, ...packs: number[]) => packs.map((n) => store.packState(account.id(n)))

describe('ingestWanted', () => {
  it('takes in packs from records and from blobs, and finds the refs sound', () =>
    inMirror(async (store) => {
      const mirror = filling(store)
      mirror.account.inlinePack(1, FIRST)
      mirror.account.blobPack(2, [SECOND.subarray(0, 20), SECOND.subarray(20)])
      mirror.account.ref(MAIN, childId, 1, 2)
      await mirror.read()
      const lines: string[] = []
      await ingestWanted(mirror.deps, mirror.account.address, (line) => lines.push(line))
      expect(store.isComplete()).toBe(true)
      expect(store.shown.all()).toEqual([{ name: MAIN, target: childId, peeled: null }])
      expect(await readable(mirror)).toEqual([3, 1])
      expect(lines[0]).toBe('Mirroring pack 1/2: receiving objects 0% (0/3)\r')
    }))

  it('merges packs where there are many, and has what was merged read again if it is lost', () =>
    inMirror(async (store) => {
      const mirror = filling(store)
      mirror.account.inlinePack(0, FIRST)
      for (let n = 1; n <= 40; n++) mirror.account.inlinePack(n, buildPack([objectEntry(BLOB, utf8(`blob ${n}`))]))
      mirror.account.ref(MAIN, commitId, 1, 0)
      await mirror.read()
      await mirror.fill()
      const packs = store.packs('ready')
      expect(packs.length).toBeLessThanOrEqual(16)
      expect(packs.reduce((sum, { objects }) => sum + objects, 0)).toBe(43)
      expect(states(mirror, 0, 1, 40)).toEqual(['merged', 'merged', 'ready'])

      const [made] = packs
      await PACKS.delete(packKeys(DID, mirror.account.rkey, made!.id).index)
      expect(await mirror.deps.restore()).toEqual({ state: 'read' })
      expect(store.packState(made!.id)).toBe(null)
      expect(states(mirror, 0, 1, 40)).toEqual(['wanted', 'wanted', 'ready'])
      await mirror.fill()
      const again = store.packs('ready')
      expect(again.reduce((sum, { objects }) => sum + objects, 0)).toBe(43)
      expect(store.shown.all()).toEqual([{ name: MAIN, target: commitId, peeled: null }])
      await readable(mirror)
    }))

  it('comes back to a thin pack whose base is in a newer one', () =>
    inMirror(async (store) => {
      const mirror = filling(store)
      mirror.account.inlinePack(1, THIN)
      mirror.account.inlinePack(2, FIRST)
      mirror.account.ref('refs/tags/blob', hashObject(BLOB, thinBlob), 1, 1)
      await mirror.read()
      await ingestWanted(mirror.deps, mirror.account.address, () => undefined)
      expect(states(mirror, 1, 2)).toEqual(['ready', 'ready'])
      expect(mirror.logged).toEqual(['pack-ingested', 'pack-ingested'])
    }))

  it('tries packs that lack something in rounds, not once for each pack that comes', () =>
    inMirror(async (store) => {
      const mirror = filling(store)
      const missing = hashObject(BLOB, utf8('nowhere'))
      const lacking = (n: number) => buildPack([refDeltaEntry(missing, delta(7, 7, insert(`lack ${n}!`.slice(0, 7))))])
      for (let n = 1; n <= 12; n++) mirror.account.inlinePack(n, lacking(n))
      for (let n = 13; n <= 24; n++) mirror.account.inlinePack(n, buildPack([objectEntry(BLOB, utf8(`blob ${n}`))]))
      await mirror.read()
      const tries: string[] = []
      const next = store.nextWanted.bind(store)
      store.nextWanted = () => {
        const pack = next()
        if (pack !== null) tries.push(pack.id)
        return pack
      }
      await ingestWanted(mirror.deps, mirror.account.address, () => undefined)
      // Each that lacks something is left in the first round and in the second, and is broken by its last try.
      expect(tries).toHaveLength(12 * 3 + 12)
      expect(states(mirror, 1, 12, 24)).toEqual(['broken', 'broken', 'ready'])
    }))

  it('tries a pack that lacks something a number of times, however many come after it', () =>
    inMirror(async (store) => {
      const mirror = filling(store)
      mirror.account.inlinePack(1, THIN)
      await mirror.read()
      let rounds = 0
      for (; !store.nextWanted()!.isLastTry; rounds++) {
        store.leaveForOthers(mirror.account.id(1))
        store.tryLeftAgain()
      }
      expect(rounds).toBe(16)
    }))

  it('gives up a pack that cannot be read, and refs that need it, and serves the others', () =>
    inMirror(async (store) => {
      const mirror = filling(store)
      mirror.account.inlinePack(1, FIRST)
      mirror.account.inlinePack(2, utf8('PACK, and yet it is no pack at all'))
      mirror.account.inlinePack(3, THIN.slice(0, -1))
      mirror.account.ref(MAIN, commitId, 1, 1)
      mirror.account.ref('refs/heads/lost', childId, 1, 2)
      await mirror.read()
      await ingestWanted(mirror.deps, mirror.account.address, () => undefined)
      expect(states(mirror, 1, 2, 3)).toEqual(['ready', 'broken', 'broken'])
      expect(store.shown.all().map(({ name }) => name)).toEqual([MAIN])
      expect(mirror.logged).toEqual(['pack-ingested', 'pack-broken', 'pack-broken', 'refs-broken'])
    }))

  it('leaves out a branch whose history is cut off, until the pack that has the rest arrives', () =>
    inMirror(async (store) => {
      const mirror = filling(store)
      mirror.account.inlinePack(2, SECOND)
      mirror.account.ref(MAIN, childId, 1, 2)
      await mirror.read()
      await ingestWanted(mirror.deps, mirror.account.address, () => undefined)
      expect(store.shown.all()).toEqual([])
      mirror.account.inlinePack(3, FIRST)
      await mirror.read()
      await ingestWanted(mirror.deps, mirror.account.address, () => undefined)
      expect(store.shown.all()).toHaveLength(1)
    }))

  it('shows a branch whose history was cut off once a push brings the rest', () =>
    inMirror(async (store) => {
      const mirror = filling(store)
      mirror.account.inlinePack(2, SECOND)
      mirror.account.ref(MAIN, childId, 1, 2)
      await mirror.read()
      await mirror.fill()
      expect(store.shown.all()).toEqual([])
      // The pack's files, as a push leaves them.
      const other = filling(store)
      other.account.inlinePack(3, FIRST)
      await inMirror(async (elsewhere) => {
        const pushed = { ...other, deps: { ...other.deps, store: elsewhere } }
        await readAccount(
          {
            ...{ store: elsewhere, client: other.account.pds.client, log: () => undefined, now: () => 1000 },
            keepInlinePack: async (id, bytes) =>
              void (await PACKS.put(packKeys(DID, mirror.account.rkey, id).pack, bytes)),
          },
          { ...other.account.address },
          'newer',
        )
        await fillMirror(pushed.deps, { ...other.account.address, rkey: mirror.account.rkey }, () => undefined)
      })
      store.addPack({ id: mirror.account.id(3), size: FIRST.length, objects: 3 })
      expect(store.isComplete()).toBe(false)
      await mirror.fill()
      expect(store.shown.all()).toEqual([{ name: MAIN, target: childId, peeled: null }])
    }))

  it('shows a pack in place of those that it was made from', () =>
    inMirror(async (store) => {
      const mirror = filling(store)
      mirror.account.inlinePack(1, FIRST)
      await mirror.read()
      await ingestWanted(mirror.deps, mirror.account.address, () => undefined)
      mirror.account.removePack(1)
      mirror.account.blobPack(2, [FIRST], [1])
      await mirror.read()
      await ingestWanted(mirror.deps, mirror.account.address, () => undefined)
      expect(states(mirror, 1, 2)).toEqual(['gone', 'ready'])
    }))

  it('does nothing to a pack that a push has brought meanwhile', () =>
    inMirror(async (store) => {
      const mirror = filling(store)
      mirror.account.blobPack(1, [FIRST])
      await mirror.read()
      const id = mirror.account.id(1)
      const client: FillDeps['client'] = Object.assign(Object.create(mirror.deps.client), {
        getBlob: async (...args: Parameters<FillDeps['client']['getBlob']>) => {
          store.addPack({ id, size: FIRST.length, objects: 3 })
          await PACKS.put(packKeys(DID, mirror.account.rkey, id).pack, FIRST)
          await mirror.deps.client.getBlob(...args)
          throw new Error('the connection broke')
        },
      })
      await expect(ingestWanted({ ...mirror.deps, client }, mirror.account.address, () => undefined)).rejects.toThrow(
        'the connection broke',
      )
      expect(states(mirror, 1)).toEqual(['ready'])
      expect(await PACKS.head(packKeys(DID, mirror.account.rkey, id).pack)).not.toBe(null)
    }))
})

describe('fillMirror', () => {
  it('reads all of the account again where a blob is gone', () =>
    inMirror(async (store) => {
      const mirror = filling(store)
      mirror.account.blobPack(1, [FIRST])
      mirror.account.ref(MAIN, commitId, 1, 1)
      await mirror.read()
      mirror.account.pds.blobs.clear()
      mirror.account.removePack(1)
      mirror.account.inlinePack(2, FIRST, [1])
      expect(await mirror.fill()).toEqual({ done: true })
      expect(states(mirror, 1, 2)).toEqual(['gone', 'ready'])
      expect(store.shown.all()).toHaveLength(1)
    }))

  it('keeps the bytes of a record again where R2 has lost them', () =>
    inMirror(async (store) => {
      const mirror = filling(store)
      mirror.account.inlinePack(1, FIRST)
      await mirror.read()
      await PACKS.delete(packKeys(DID, mirror.account.rkey, mirror.account.id(1)).pack)
      expect(await mirror.fill()).toEqual({ done: true })
      expect(await readable(mirror)).toEqual([3])
    }))

  it('has packs read again whose files R2 has lost, before it takes in what builds on them', () =>
    inMirror(async (store) => {
      const mirror = filling(store)
      mirror.account.inlinePack(1, FIRST)
      mirror.account.blobPack(2, [SECOND])
      await mirror.read()
      await mirror.fill()
      const keys = [1, 2].map((n) => packKeys(DID, mirror.account.rkey, mirror.account.id(n)))
      await PACKS.delete([keys[0]!.pack, keys[1]!.index])
      mirror.account.inlinePack(3, THIN)
      await mirror.read()
      expect(await findLostPacks(PACKS, store, mirror.account.address)).toEqual(
        new Set([1, 2].map((n) => mirror.account.id(n))),
      )
      expect(await mirror.fill()).toEqual({ done: true })
      expect(states(mirror, 1, 2, 3)).toEqual(['ready', 'ready', 'ready'])
      expect(await findLostPacks(PACKS, store, mirror.account.address)).toEqual(new Set())
      expect(await readable(mirror)).toEqual([3, 1, 1])
    }))

  it('gives up where the account is never what it says, and says so; it will try again, later each time', () =>
    inMirror(async (store) => {
      const mirror = filling(store)
      mirror.account.blobPack(1, [FIRST])
      await mirror.read()
      mirror.account.pds.blobs.clear()
      expect(await mirror.fill()).toMatchObject({ error: expect.stringMatching(/cannot be read .* try again later/) })
      await mirror.fill()
      // As each begins, in case that it is killed, and again as it fails.
      expect(mirror.pauses).toEqual([20_000, 20_000, 40_000, 40_000])
      expect(states(mirror, 1)).toEqual(['wanted'])
    }))

  it('that is killed each time is taken up later each time', () =>
    inMirror(async (store) => {
      const mirror = filling(store)
      mirror.account.blobPack(1, [FIRST])
      await mirror.read()
      // Nothing comes back of what has been killed, neither an answer nor an error.
      for (let n = 0; n < 3; n++) {
        await new Promise<void>((resolve) => {
          const getBlob = () => {
            resolve()
            return new Promise<never>(() => undefined)
          }
          const client = Object.assign(Object.create(mirror.deps.client), { getBlob }) as FillDeps['client']
          void fillMirror({ ...mirror.deps, client }, mirror.account.address, () => undefined)
        })
      }
      expect(mirror.pauses).toEqual([20_000, 40_000, 80_000])
      expect(await mirror.fill()).toEqual({ done: true })
      expect(store.failedIngests()).toBe(0)
    }))

  it('says which server does not answer', () =>
    inMirror(async (store) => {
      const mirror = filling(store)
      mirror.account.blobPack(1, [FIRST])
      await mirror.read()
      mirror.account.pds.isDown = true
      expect(await mirror.fill()).toMatchObject({ error: expect.stringContaining('pds.test cannot be reached') })
    }))
})

it('pauses grow to an hour, and end after half a day', () => {
  expect([0, 1, 2, 3].map(resumePause)).toEqual([20_000, 20_000, 40_000, 80_000])
  expect([17, 18, 19].map(resumePause)).toEqual([3_600_000, 3_600_000, null])
})
