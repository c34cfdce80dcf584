import { env, runInDurableObject } from 'cloudflare:test'
import { deflateSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import type { Environment } from '../../../durable-objects/environment.ts'
import type { RepositoryAddress } from '../../../durable-objects/repository/answers.ts'
import { type MergeDeps, mergeNewest } from '../../../durable-objects/repository/merge-newest.ts'
import type { Repository } from '../../../durable-objects/repository/repository.ts'
import { concatBytes } from '../../../git/bytes/concat.ts'
import { type Oid, oidToBytes } from '../../../git/bytes/oid.ts'
import { BufferRange } from '../../../git/bytes/range.ts'
import { ingestPack } from '../../../git/graph/ingest-pack.ts'
import { hashObject } from '../../../git/object/hash-object.ts'
import { BLOB, COMMIT, type GitObject, type ObjectType, TREE } from '../../../git/object/object-type.ts'
import { encodeEntryHeader, PackError } from '../../../git/pack/entry-header.ts'
import { PackSink } from '../../../git/pack/pack-sink.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import type { ManifestPack } from '../../../storage/manifest.ts'
import { MirrorStore } from '../../../storage/mirror/mirror-store.ts'
import { GRACE_PERIOD } from '../../../storage/mirror/pack-merges.ts'
import { openPacks } from '../../../storage/packs/open-packs.ts'
import { packKeys, repositoryPrefix } from '../../../storage/packs/pack-keys.ts'

/** In workerd: merges of packs in R2, by the rows of a real `Repository` object. */

const { PACKS, REPOSITORY } = env as unknown as Environment
const DID = 'did:plc:abcdefghijklmnopqrstuvwx'
const encoder = new TextEncoder()
let repositories = 0

/** A mirror that gets pushes of one commit each. */
class Pushed {
  readonly address: RepositoryAddress
  readonly stub: DurableObjectStub<Repository>
  readonly oids: Oid[] = []
  readonly packs: ManifestPack[] = []
  #parent: Oid | null = null

  constructor() {
    const rkey = `3lzkoq5qq2s${String(repositories++).padStart(2, '0')}`
    this.address = { did: DID, rkey, pds: 'https://pds.example.com' }
    this.stub = REPOSITORY.get(REPOSITORY.idFromName(`${DID}/${rkey}`))
  }

  /** Puts the next commit's pack into R2 and its row into the store. */
  async push(store: MirrorStore): Promise<void> {
    const number = this.packs.length
    const blob = this.#object(BLOB, `contents ${number}\n`)
    const tree = this.#object(TREE, concatBytes([encoder.encode('100644 file\0'), oidToBytes(blob.oid)]))
    const who = `A <a@example.com> ${1_700_000_000 + number} +0000`
    const parent = this.#parent === null ? '' : `parent ${this.#parent}\n`
    const commit = this.#object(
      COMMIT,
      `tree ${tree.oid}\n${parent}author ${who}\ncommitter ${who}\n\ncommit ${number}\n`,
    )
    this.#parent = commit.oid
    const bytes = packOf([commit.object, tree.object, blob.object])
    const ingested = await ingestPack({
      chunks: (async function* () {
        yield bytes
      })(),
      reopen: async () => new BufferRange(bytes),
      known: null,
      strict: false,
    })
    const id = `3lzkoq5qq${String(number).padStart(4, '0')}`
    const keys = packKeys(this.address.did, this.address.rkey, id)
    await Promise.all([
      PACKS.put(keys.pack, bytes),
      PACKS.put(keys.index, ingested.index),
      PACKS.put(keys.graph, ingested.graph),
    ])
    const pack = { id, size: ingested.size, objects: ingested.objects }
    this.packs.push(pack)
    store.addPack(pack)
  }

  /** Runs a test on the rows, after so many pushes. */
  withStore<T>(pushes: number, run: (store: MirrorStore) => Promise<T>): Promise<T> {
    return runInDurableObject(this.stub, async (_instance, state) => {
      const store = new MirrorStore(state.storage)
      const record = { name: 'app', defaultBranch: 'main', objectFormat: 'sha1', createdAt: '' } as const
      store.setHead({ ...this.address, record, head: null, checkedAt: Date.now() })
      for (let n = 0; n < pushes; n++) await this.push(store)
      return run(store)
    })
  }

  /** Reads every object by a list of packs. */
  async readAll(packs: readonly ManifestPack[]): Promise<void> {
    const objects = new PackedObjects(await openPacks(PACKS, this.address.did, this.address.rkey, packs))
    for (const oid of this.oids) {
      const object = await objects.read(oid)
      expect(object && hashObject(object.type, object.bytes)).toBe(oid)
    }
  }

  /** Ids of the packs of which R2 has a file. */
  async idsInR2(): Promise<string[]> {
    const prefix = repositoryPrefix(this.address.did, this.address.rkey)
    const { objects } = await PACKS.list({ prefix })
    return [...new Set(objects.map(({ key }) => key.slice(prefix.length).split('.')[0]!))].sort()
  }

  #object(type: ObjectType, content: string | Uint8Array): { oid: Oid; object: GitObject } {
    const bytes = typeof content === 'string' ? encoder.encode(content) : content
    const oid = hashObject(type, bytes)
    this.oids.push(oid)
    return { oid, object: { type, bytes } }
  }
}

function packOf(objects: readonly GitObject[]): Uint8Array {
  const sink = new PackSink()
  sink.header(objects.length)
  for (const { type, bytes } of objects) {
    sink.append(encodeEntryHeader(type, bytes.length))
    sink.append(deflateSync(bytes))
  }
  return concatBytes(sink.end())
}

let made = 0
const events: string[] = []

function depsOf(store: MirrorStore, bucket = PACKS): MergeDeps {
  return {
    store,
    bucket,
    newId: () => `3lzkoq5zz${String(made++).padStart(4, '0')}-merged`,
    log: (event) => events.push(event),
    logRoutine: (event) => events.push(event),
  }
}

/** R2 with something that happens before each call. */
function watched(before: (method: string) => void): R2Bucket {
  return new Proxy(PACKS, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        before(String(name))
        return value.apply(target, args) as unknown
      }
    },
  })
}

/** R2 until it has been called so many times; then every call fails. */
function failingAfter(calls: number): R2Bucket {
  let left = calls
  return watched(() => {
    if (left-- <= 0) throw new Error('R2 is down')
  })
}

describe('merging', () => {
  it('leaves one pack of many small ones, and every object can be read by the old list and the new', async () => {
    const pushed = new Pushed()
    await pushed.withStore(5, async (store) => {
      const before = store.head()!.version
      await mergeNewest(depsOf(store), pushed.address)
      const packs = store.merges.ready()
      expect(packs.map(({ objects }) => objects)).toEqual([15])
      expect(store.head()!.version).toBeGreaterThan(before)
      await pushed.readAll(packs)
      await pushed.readAll(pushed.packs)
    })
  })

  it('keeps each pack twice as large as the next, in their order of age', async () => {
    const pushed = new Pushed()
    await pushed.withStore(0, async (store) => {
      for (let n = 1; n <= 21; n++) {
        await pushed.push(store)
        await mergeNewest(depsOf(store), pushed.address)
      }
      // 21 pushes in binary.
      expect(store.merges.ready().map(({ objects }) => objects)).toEqual([48, 12, 3])
      await pushed.readAll(store.merges.ready())
    })
  })

  it('knows which packs of the account it has, and the newest of them', async () => {
    const pushed = new Pushed()
    await pushed.withStore(4, async (store) => {
      const newest = store.newestPack()
      await mergeNewest(depsOf(store), pushed.address)
      expect(store.newestPack()).toBe(newest)
      for (const { id } of pushed.packs) expect(store.packState(id)).toBe('merged')
      expect(store.merges.partsOf(store.merges.ready().map(({ id }) => id))).toEqual(pushed.packs.map(({ id }) => id))
      // Somebody who read the account before the merge comes late.
      store.addPack(pushed.packs[1]!)
      store.wantPack(pushed.packs[2]!, { blobs: null, replaces: [] })
      expect(store.merges.ready().length).toBe(1)
      await pushed.push(store)
      await mergeNewest(depsOf(store), pushed.address)
      expect(store.merges.ready().length).toBe(2)
      expect(store.newestPack()).toBe(pushed.packs.at(-1)!.id)
    })
  })

  it('keeps the files of merged packs for a while, and then lets them go', async () => {
    const pushed = new Pushed()
    await pushed.withStore(3, async (store) => {
      await mergeNewest(depsOf(store), pushed.address)
      const old = pushed.packs.map(({ id }) => id)
      expect(store.merges.supersededBefore(Date.now())).toEqual([])
      expect(old.every((id) => store.merges.isSuperseded(id))).toBe(true)
      expect(store.merges.supersededBefore(Date.now() + GRACE_PERIOD)).toEqual(old)
      store.merges.forgetSuperseded(old)
      expect(old.some((id) => store.merges.isSuperseded(id))).toBe(false)
      expect(store.merges.nextSuperseded()).toBeNull()
    })
  })

  it('whatever call to R2 fails, readers lack nothing, and it is done the next time', async () => {
    for (let calls = 0, isDone = false; !isDone; calls++) {
      const pushed = new Pushed()
      isDone = await pushed.withStore(4, async (store) => {
        const succeeded = await mergeNewest(depsOf(store, failingAfter(calls)), pushed.address).then(
          () => true,
          (error: Error) => {
            expect(error.message).toBe('R2 is down')
            return false
          },
        )
        if (!succeeded) expect(store.merges.ready().map(({ id }) => id)).toEqual(pushed.packs.map(({ id }) => id))
        await pushed.readAll(store.merges.ready())
        await mergeNewest(depsOf(store), pushed.address)
        expect(store.merges.ready().length).toBe(1)
        await pushed.readAll(store.merges.ready())
        return succeeded
      })
      expect(calls).toBeLessThan(100)
    }
  })

  it('that is cut off before its row is written leaves files that nobody needs', async () => {
    const pushed = new Pushed()
    await pushed.withStore(2, async (store) => {
      const deps = depsOf(store)
      store.merges.replace = () => {
        throw new Error('the object was evicted')
      }
      await expect(mergeNewest(deps, pushed.address)).rejects.toThrow('evicted')
      const fresh = (await pushed.idsInR2()).filter((id) => id.endsWith('-merged'))
      expect(fresh.length).toBe(1)
      expect([store.packState(fresh[0]!), store.merges.isSuperseded(fresh[0]!)]).toEqual([null, false])
      await pushed.readAll(store.merges.ready())
    })
  })

  it('makes way for who has dropped one of the packs meanwhile', async () => {
    const pushed = new Pushed()
    await pushed.withStore(3, async (store) => {
      const bucket = watched((method) => {
        if (method === 'put') store.markGone([pushed.packs[1]!.id])
      })
      await mergeNewest(depsOf(store, bucket), pushed.address)
      expect(store.merges.ready().map(({ id }) => id)).toEqual([pushed.packs[0]!.id, pushed.packs[2]!.id])
    })
  })

  it('gives up on packs that cannot be read, and merges those that come after them', async () => {
    const pushed = new Pushed()
    await pushed.withStore(2, async (store) => {
      const broken = watched((method) => {
        if (method === 'get') throw new PackError('an entry is cut off')
      })
      events.length = 0
      await mergeNewest(depsOf(store, broken), pushed.address)
      expect(events).toEqual(['merge-impossible'])
      await pushed.push(store)
      await pushed.push(store)
      await mergeNewest(depsOf(store), pushed.address)
      expect(store.merges.ready().map(({ objects }) => objects)).toEqual([3, 3, 6])
      await pushed.readAll(store.merges.ready())
    })
  })
})

it('a mirror merges by its alarm after pushes have landed', async () => {
  const pushed = new Pushed()
  await pushed.withStore(2, async () => undefined)
  await runInDurableObject(pushed.stub, async (instance, state) => {
    instance.land(pushed.address, { record: null, pack: null, states: [], head: null, headNeeds: [] })
    await vi.waitFor(async () => expect(await state.storage.getAlarm()).not.toBe(null))
    await state.storage.deleteAlarm()
    await instance.alarm()
    const store = new MirrorStore(state.storage)
    expect(store.merges.ready().length).toBe(1)
    // The next alarm is for the files of what was merged.
    expect(await state.storage.getAlarm()).toBe(store.merges.nextSuperseded())
    await pushed.readAll(store.merges.ready())
  })
})
