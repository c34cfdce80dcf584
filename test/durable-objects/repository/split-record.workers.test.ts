import { env } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import type { Environment } from '../../../durable-objects/environment.ts'
import { type FillDeps, fillMirror } from '../../../durable-objects/repository/fill-mirror.ts'
import { INGEST_LIMITS, type IngestLimits } from '../../../durable-objects/repository/ingest-limits.ts'
import { deleteLeftovers } from '../../../durable-objects/repository/leftovers.ts'
import { findLostPacks } from '../../../durable-objects/repository/lost-packs.ts'
import { mergeNewest } from '../../../durable-objects/repository/merge-newest.ts'
import { type ReadRange, readAccount } from '../../../durable-objects/repository/read-account.ts'
import { RepositoryGraph } from '../../../git/graph/repository-graph.ts'
import { hashObject } from '../../../git/object/hash-object.ts'
import { BLOB, COMMIT, TREE } from '../../../git/object/object-type.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import { planFetch } from '../../../git/walk/plan-fetch.ts'
import { MirrorStore } from '../../../storage/mirror/mirror-store.ts'
import { openPacks, withGraphs } from '../../../storage/packs/open-packs.ts'
import { mergedPackId, packKeys, repositoryPrefix } from '../../../storage/packs/pack-keys.ts'
import { type ManyObjects, manyObjects } from '../../git/many-objects.ts'
import { buildPack, concat, objectEntry, resealed, utf8 } from '../../git/pack/pack-builder.ts'
import { DID, inMirrorStorage } from '../../storage/mirror/in-mirror.ts'
import { StoredRepositoryRecords } from './stored-repository.ts'

/** In workerd: packs of an account that are taken in by steps, from records and blobs into R2 and rows. */

const MAIN = 'refs/heads/main'
const { PACKS } = env as unknown as Environment
const SMALL: IngestLimits = { ...INGEST_LIMITS, wholeEntries: 50, partEntries: 100 }
const MEBIBYTE = 1024 * 1024
const TIMEOUT = { timeout: 60_000 }

interface Settings {
  readonly limits?: IngestLimits
  readonly bucket?: R2Bucket
  readonly isTurnOver?: () => boolean
}

class Mirror {
  readonly account = new StoredRepositoryRecords().create()
  readonly logged: { event: string; fields: Record<string, unknown> }[] = []
  readonly pauses: number[] = []
  readonly #storage: DurableObjectStorage
  #made = 0

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
  }

  /** As an object that has just been started has it. */
  get store(): MirrorStore {
    return new MirrorStore(this.#storage)
  }

  get rkey(): string {
    return this.account.rkey
  }

  read(range: ReadRange = 'newer', lost?: ReadonlySet<string>) {
    const { account, store } = this
    const keepInlinePack = async (id: string, bytes: Uint8Array) => {
      await PACKS.put(packKeys(DID, account.rkey, id).pack, bytes)
    }
    const { client } = account.pds
    const log = () => undefined
    return readAccount({ store, client, log, now: () => 1000, keepInlinePack }, account.address, range, lost)
  }

  fill({ limits = SMALL, bucket = PACKS, isTurnOver = () => false }: Settings = {}) {
    const { account, store } = this
    const deps: FillDeps = {
      ...{ store, bucket, limits, isTurnOver, client: account.pds.client },
      log: (event, fields) => void this.logged.push({ event, fields }),
      logRoutine: (event, fields) => void this.logged.push({ event, fields }),
      merge: async () => undefined,
      newStem: () => account.id(1000 + this.#made++),
      readAll: () => this.read('all'),
      restore: async () => this.read('all', await findLostPacks(PACKS, store, account.address)),
      resumeLater: async (pause) => void this.pauses.push(pause),
    }
    return fillMirror(deps, account.address, () => undefined)
  }

  async restore(): Promise<void> {
    await this.read('all', await findLostPacks(PACKS, this.store, this.account.address))
  }

  merge(): Promise<void> {
    const newId = () => mergedPackId(this.account.id(1000 + this.#made++))
    const log = (event: string, fields: Record<string, unknown>) => void this.logged.push({ event, fields })
    return mergeNewest({ store: this.store, bucket: PACKS, newId, log, logRoutine: log }, this.account.address)
  }

  /** Puts a pack of blobs of this size into the account, and a branch at its newest commit. */
  async add(
    n: number,
    { pack, tip }: Pick<ManyObjects, 'pack' | 'tip'>,
    blobBytes = pack.length,
    seq = n,
  ): Promise<void> {
    const blobs: Uint8Array[] = []
    for (let at = 0; at < pack.length; at += blobBytes) blobs.push(pack.slice(at, at + blobBytes))
    this.account.blobPack(n, blobs)
    this.account.ref(MAIN, tip, seq, n)
    await this.read()
  }

  /** What a clone gets of the packs that readers see: each object read once, and its id made anew. */
  async clone(tip: string): Promise<number> {
    const packs = await withGraphs(await openPacks(PACKS, DID, this.rkey, this.store.packs('ready')))
    const objects = new PackedObjects(packs)
    const { selection } = await planFetch(RepositoryGraph.of(packs), { wants: [tip], haves: [] }, objects)
    let count = 0
    for (const [pack, ordinals] of selection.entries()) {
      for (const ordinal of ordinals) {
        const { type, bytes } = await objects.readAt({ pack, ordinal })
        expect(hashObject(type, bytes)).toBe(packs[pack]!.index.oid(ordinal))
        count++
      }
    }
    return count
  }

  states(...packs: number[]) {
    return packs.map((n) => this.store.packState(this.account.id(n)))
  }

  events(event: string): Record<string, unknown>[] {
    return this.logged.filter((line) => line.event === event).map(({ fields }) => fields)
  }

  async keys(): Promise<string[]> {
    const prefix = repositoryPrefix(DID, this.rkey)
    const { objects } = await PACKS.list({ prefix })
    return objects.map(({ key }) => key.slice(prefix.length)).sort()
  }

  blobsRead(): number {
    return this.account.pds.calls.filter((call) => call.startsWith('getBlob')).length
  }
}

function withMirror(run: (mirror: Mirror) => Promise<void>): Promise<void> {
  return inMirrorStorage((storage) => run(new Mirror(storage)))
}

/** A bucket that fails from its `n`th call on, counted from 1: as if the object had been cut off there. */
function failingAt(n: number): { bucket: R2Bucket; calls: () => number } {
  let calls = 0
  const call = () => {
    if (++calls >= n) throw new Error('cut off')
  }
  const wrap = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, name) {
        const value = Reflect.get(target, name) as unknown
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          if (name !== 'resumeMultipartUpload') call()
          const result = value.apply(target, args) as unknown
          if (name === 'resumeMultipartUpload') return wrap(result as object)
          return name === 'createMultipartUpload' ? (result as Promise<object>).then(wrap) : result
        }
      },
    })
  return { bucket: wrap(PACKS), calls: () => calls }
}

/** The bucket, which tells of each call before it carries it out. */
function calling(bucket: R2Bucket, tell: () => Promise<void>): R2Bucket {
  const wrap = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, name) {
        const value = Reflect.get(target, name) as unknown
        if (typeof value !== 'function') return value
        if (name === 'resumeMultipartUpload') {
          return (...args: unknown[]) => wrap(value.apply(target, args) as object)
        }
        return async (...args: unknown[]) => {
          await tell()
          const result = (await value.apply(target, args)) as unknown
          return name === 'createMultipartUpload' ? wrap(result as object) : result
        }
      },
    })
  return wrap(bucket)
}

describe('a pack of the account with more entries than are taken in at once', TIMEOUT, () => {
  it('comes in parts, which readers see together, and nothing is left of how it came', () =>
    withMirror(async (mirror) => {
      const made = manyObjects({ commits: 40, files: 8 })
      await mirror.add(1, made, 10_000)
      let seen = 0
      await mirror.fill({
        isTurnOver: () => {
          seen = Math.max(seen, mirror.store.packs('ready').length)
          return false
        },
      })
      expect(seen).toBe(0)
      expect(mirror.store.isComplete()).toBe(true)
      expect(mirror.store.packs('ready').map(({ objects }) => objects)).toEqual([100, 100, 100, 100])
      expect(mirror.states(1)).toEqual(['merged'])
      expect(mirror.store.shown.all().map(({ name }) => name)).toEqual([MAIN])
      expect(await mirror.clone(made.tip)).toBe(made.objects)
      expect(await mirror.keys()).toHaveLength(3 * 4)
      expect(mirror.store.splits.state(mirror.account.id(1))).toBe(null)
      expect(mirror.store.downloads.state(mirror.account.id(1))).toBe(null)
      expect(mirror.events('pack-part-ingested')).toHaveLength(4)
      expect(mirror.events('pack-ingested')).toEqual([expect.objectContaining({ parts: 4, objects: 400 })])
    }))

  it('is gone on with in the next turn, wherever one ends', () =>
    withMirror(async (mirror) => {
      const made = manyObjects({ commits: 40, files: 8 })
      await mirror.add(1, made, 10_000)
      let turns = 0
      for (let last: Awaited<ReturnType<typeof mirror.fill>> = null; last === null; turns++) {
        last = await mirror.fill({ isTurnOver: () => true })
        expect(last === null || 'done' in last).toBe(true)
      }
      expect(turns).toBeGreaterThan(5)
      expect(mirror.pauses).toEqual([
        ...Array(turns - 1)
          .fill([20_000, 0])
          .flat(),
        20_000,
      ])
      expect(mirror.events('pack-part-ingested')).toHaveLength(4)
      expect(await mirror.clone(made.tip)).toBe(made.objects)
    }))

  it('is gone on with wherever it was cut off, and what was done is not done again', () =>
    withMirror(async (first) => {
      const made = manyObjects({ commits: 16, files: 8 })
      await first.add(1, made, 10_000)
      const all = failingAt(Number.POSITIVE_INFINITY)
      expect(await first.fill({ bucket: all.bucket })).toEqual({ done: true })
      expect(all.calls()).toBeGreaterThan(20)
      for (let at = 1; at <= all.calls(); at++) {
        await withMirror(async (mirror) => {
          await mirror.add(1, made, 10_000)
          expect(await mirror.fill({ bucket: failingAt(at).bucket })).toMatchObject({ error: expect.any(String) })
          const parts = mirror.events('pack-part-ingested').length
          // What readers see is nothing, or all of it.
          const seen = mirror.store.packs('ready').length
          expect([0, 2]).toContain(seen)
          expect(await mirror.fill()).toEqual({ done: true })
          expect(mirror.events('pack-part-ingested')).toHaveLength(2)
          expect(parts).toBeLessThanOrEqual(2)
          expect(mirror.store.shown.all()).toHaveLength(1)
          expect(await mirror.clone(made.tip)).toBe(made.objects)
        })
      }
    }))

  it('may lack what another brings: then it waits for that, and is not cut again', () =>
    withMirror(async (mirror) => {
      const [base, more] = [manyObjects({ commits: 4, files: 4 }), manyObjects({ commits: 40, files: 8, seed: 'x' })]
      // A commit on top of the other pack's, in a pack that comes first.
      const who = 'A <a@b> 1800000000 +0000'
      const blob = utf8('file\n')
      const tree = concat(utf8('100644 file\0'), Buffer.from(hashObject(BLOB, blob), 'hex'))
      const parents = `parent ${base.tip}\nparent ${more.tip}\n`
      const commit = utf8(`tree ${hashObject(TREE, tree)}\n${parents}author ${who}\ncommitter ${who}\n\nmerge\n`)
      const others = Array.from({ length: 60 }, (_, n) => objectEntry(BLOB, utf8(`${n}`)))
      const pack = buildPack([objectEntry(COMMIT, commit), objectEntry(TREE, tree), objectEntry(BLOB, blob), ...others])
      mirror.account.blobPack(1, [pack])
      mirror.account.blobPack(2, [more.pack])
      mirror.account.blobPack(3, [base.pack])
      mirror.account.ref(MAIN, hashObject(COMMIT, commit), 1, 1)
      await mirror.read()
      for (let last: unknown = null; last === null; ) last = await mirror.fill({ isTurnOver: () => true })
      expect(mirror.states(1, 2, 3)).toEqual(['merged', 'merged', 'ready'])
      expect(mirror.events('pack-part-ingested')).toHaveLength(1 + 4)
      expect(mirror.blobsRead()).toBe(3)
      expect(mirror.events('objects-missing')).toEqual([])
      expect(await mirror.clone(hashObject(COMMIT, commit))).toBe(3 + base.objects + more.objects)
    }))

  it.each([
    ['with an entry that does not inflate', (pack: Uint8Array) => resealedWith(pack, pack.length - 60)],
    ['that is not all there', (pack: Uint8Array) => pack.with(pack.length - 1, pack.at(-1)! ^ 1)],
  ])('%s is noted as broken, in words, and the rest is served', (_, spoil) =>
    withMirror(async (mirror) => {
      const good = manyObjects({ commits: 2, files: 2 })
      await mirror.add(1, good)
      const bad = manyObjects({ commits: 40, files: 8, seed: 'bad' })
      mirror.account.blobPack(2, [spoil(bad.pack)])
      mirror.account.ref('refs/heads/bad', bad.tip, 1, 2)
      await mirror.read()
      expect(await mirror.fill()).toEqual({ done: true })
      expect(mirror.states(1, 2)).toEqual(['ready', 'broken'])
      expect(mirror.events('pack-broken')).toEqual([
        expect.objectContaining({ reason: expect.stringMatching(/[a-z]+ [a-z]+/) }),
      ])
      expect(mirror.store.shown.all().map(({ name }) => name)).toEqual([MAIN])
      expect(await mirror.clone(good.tip)).toBe(good.objects)
      expect(mirror.store.splits.state(mirror.account.id(2))).toBe(null)
      await deleteLeftovers(PACKS, mirror.store, mirror.account.address, Date.now() + 24 * 60 * 60_000)
      expect(await mirror.keys()).toHaveLength(3)
    }),
  )

  it('with more objects than can be mirrored is told so', () =>
    withMirror(async (mirror) => {
      await mirror.add(1, manyObjects({ commits: 40, files: 8 }))
      await mirror.fill({ limits: { ...SMALL, objects: 399 } })
      expect(mirror.events('pack-broken')).toEqual([
        expect.objectContaining({ reason: 'the pack has 400 objects; a repository can be mirrored with 399 at most' }),
      ])
    }))

  it('counts with the others in the repository, but not with those that it replaces', () =>
    withMirror(async (mirror) => {
      const limits = { ...SMALL, objects: 450 }
      const made = manyObjects({ commits: 40, files: 8 })
      await mirror.add(1, made)
      await mirror.fill({ limits })
      await mirror.add(2, manyObjects({ commits: 8, files: 8, seed: 'more' }))
      await mirror.fill({ limits })
      expect(mirror.states(1, 2)).toEqual(['merged', 'broken'])
      expect(mirror.events('pack-broken')).toEqual([
        expect.objectContaining({
          reason: 'with the pack there are 480 objects; a repository can be mirrored with 450 at most',
        }),
      ])
      // The account's packs become one.
      mirror.account.blobPack(3, [made.pack], [1])
      mirror.account.removePack(1)
      mirror.account.ref(MAIN, made.tip, 3, 3)
      await mirror.read('all')
      expect(await mirror.fill({ limits })).toEqual({ done: true })
      expect(mirror.states(1, 3)).toEqual(['gone', 'merged'])
      expect(await mirror.clone(made.tip)).toBe(made.objects)
    }))

  it('is read again whole, with what was merged with it, where R2 has lost a file of one of its parts', () =>
    withMirror(async (mirror) => {
      const made = manyObjects({ commits: 45, files: 4 })
      const after = [2, 3].map((n) => manyObjects({ commits: 2, files: 4, seed: `${n}` }))
      await mirror.add(1, made)
      await mirror.fill()
      for (const [i, more] of after.entries()) await mirror.add(2 + i, more)
      await mirror.fill()
      await mirror.merge()
      // The last part, of 70, stays apart, since the two after it have 24 together.
      expect(mirror.store.packs('ready').map(({ objects }) => objects)).toEqual([100, 100, 70, 24])
      const large = manyObjects({ commits: 8, files: 4, seed: '4' })
      await mirror.add(4, large)
      await mirror.fill()
      await mirror.merge()
      expect(mirror.store.packs('ready').map(({ objects }) => objects)).toEqual([270 + 24 + 48])
      expect(mirror.states(1, 2, 3, 4)).toEqual(['merged', 'merged', 'merged', 'merged'])
      const [one] = mirror.store.packs('ready')
      expect(mirror.store.merges.partsOf([one!.id])).toEqual([1, 2, 3, 4].map((n) => mirror.account.id(n)))
      await PACKS.delete(packKeys(DID, mirror.rkey, one!.id).graph)
      await mirror.restore()
      expect(mirror.states(1, 2, 3, 4)).toEqual(['wanted', 'wanted', 'wanted', 'wanted'])
      expect(await mirror.fill()).toEqual({ done: true })
      expect(mirror.store.packs('ready').map(({ objects }) => objects)).toEqual([100, 100, 70, 12, 12, 48])
      expect(await mirror.clone(made.tip)).toBe(made.objects)
      for (const { tip, objects } of [...after, large]) expect(await mirror.clone(tip)).toBe(objects)

      const [, second] = mirror.store.packs('ready')
      await PACKS.delete(packKeys(DID, mirror.rkey, second!.id).index)
      await mirror.restore()
      expect(mirror.states(1, 2, 3, 4)).toEqual(['wanted', 'ready', 'ready', 'ready'])
      await mirror.fill()
      // Where it was in the order: before the others.
      expect(mirror.store.packs('ready').map(({ objects }) => objects)).toEqual([100, 100, 70, 12, 12, 48])
      expect(await mirror.clone(made.tip)).toBe(made.objects)
    }))

  it('begins anew where R2 has lost what was done', () =>
    withMirror(async (mirror) => {
      const made = manyObjects({ commits: 40, files: 8 })
      await mirror.add(1, made)
      for (let turn = 0; turn < 4; turn++) expect(await mirror.fill({ isTurnOver: () => true })).toBe(null)
      const kept = await mirror.keys()
      expect(kept.length).toBeGreaterThan(3)
      for (const key of kept) await PACKS.delete(repositoryPrefix(DID, mirror.rkey) + key)
      expect(await mirror.fill()).toEqual({ done: true })
      expect(await mirror.clone(made.tip)).toBe(made.objects)
    }))

  it('keeps what is done from the sweep, and gives it up with the record', () =>
    withMirror(async (mirror) => {
      await mirror.add(1, manyObjects({ commits: 40, files: 8 }))
      for (let turn = 0; turn < 4; turn++) expect(await mirror.fill({ isTurnOver: () => true })).toBe(null)
      const kept = await mirror.keys()
      const sweep = () => deleteLeftovers(PACKS, mirror.store, mirror.account.address, Date.now() + 24 * 60 * 60_000)
      await sweep()
      expect(await mirror.keys()).toEqual(kept)
      mirror.account.removePack(1)
      await mirror.read('all')
      await sweep()
      expect(await mirror.keys()).toEqual([])
    }))
})

describe('a pack in several blobs', TIMEOUT, () => {
  const made = manyObjects({ commits: 24, files: 1, largeFile: MEBIBYTE })
  const blobBytes = 3 * MEBIBYTE

  it('is gone on with at the blob where it was cut off, and none before is asked for again', () =>
    withMirror(async (mirror) => {
      await mirror.add(1, made, blobBytes)
      expect(await mirror.fill({ bucket: failingAt(4).bucket, limits: INGEST_LIMITS })).toMatchObject({
        error: expect.any(String),
      })
      const before = mirror.blobsRead()
      const state = mirror.store.downloads.state(mirror.account.id(1))
      expect(state).toMatchObject({ parts: [{ partNumber: 1 }, { partNumber: 2 }] })
      expect(await mirror.fill({ limits: INGEST_LIMITS })).toEqual({ done: true })
      const blobs = Math.ceil(made.pack.length / blobBytes)
      // 16 MiB are there: five blobs, and the beginning of the sixth.
      expect(mirror.blobsRead() - before).toBe(blobs - 5)
      expect(mirror.states(1)).toEqual(['ready'])
      expect(await mirror.clone(made.tip)).toBe(made.objects)
    }))

  it('begins anew where R2 knows its upload no more', () =>
    withMirror(async (mirror) => {
      await mirror.add(1, made, blobBytes)
      await mirror.fill({ bucket: failingAt(4).bucket, limits: INGEST_LIMITS })
      const state = mirror.store.downloads.state(mirror.account.id(1))
      if (state === null || state === 'complete') throw new Error('no upload is under way')
      await PACKS.resumeMultipartUpload(packKeys(DID, mirror.rkey, mirror.account.id(1)).pack, state.uploadId).abort()
      expect(await mirror.fill({ limits: INGEST_LIMITS })).toMatchObject({ error: expect.any(String) })
      expect(mirror.store.downloads.state(mirror.account.id(1))).toBe(null)
      expect(await mirror.fill({ limits: INGEST_LIMITS })).toEqual({ done: true })
      expect(await mirror.clone(made.tip)).toBe(made.objects)
    }))

  it.each([
    ['longer', 1],
    ['shorter', -1],
  ])('is broken if a blob is %s than its record says', (_, more) =>
    withMirror(async (mirror) => {
      const blobs = [made.pack.slice(0, blobBytes), made.pack.slice(blobBytes, 2 * blobBytes)]
      mirror.account.blobPack(1, blobs, [], [blobBytes - more, blobBytes])
      await mirror.read()
      expect(await mirror.fill({ limits: INGEST_LIMITS })).toEqual({ done: true })
      expect(mirror.states(1)).toEqual(['broken'])
      expect(mirror.events('pack-broken')).toEqual([
        expect.objectContaining({ reason: expect.stringMatching(/has 3145728 bytes, and not 314572[79]$/) }),
      ])
    }),
  )

  const wrong: [string, (bytes: Uint8Array) => Uint8Array][] = [
    ['cut at its end', (bytes) => bytes.subarray(0, -1)],
    ['cut at its start', (bytes) => bytes.subarray(1)],
    ['too long', (bytes) => concat(bytes, utf8('more'))],
    ['empty', () => new Uint8Array(0)],
    ['a page of the host', () => utf8('<html>please come back later</html>')],
    ['changed in a byte', (bytes) => bytes.with(0, bytes[0]! ^ 1)],
  ]
  const small = manyObjects({ commits: 24, files: 3, largeFile: 100_000 })
  const ways: [string, IngestLimits][] = [
    ['in one look', INGEST_LIMITS],
    ['in parts', SMALL],
  ]
  it.each(wrong.flatMap(([what, spoil]) => ways.map(([way, limits]) => ({ what, spoil, way, limits }))))(
    'is asked for again where what the PDS sends is $what, $way',
    ({ spoil, limits }) =>
      withMirror(async (first) => {
        await first.add(1, small, 300_000)
        const cids = [...first.account.pds.blobs.keys()]
        for (const cid of [cids[0]!, cids[3]!, cids.at(-1)!]) {
          await withMirror(async (mirror) => {
            await mirror.add(1, small, 300_000)
            const { blobs } = mirror.account.pds
            const right = blobs.get(cid)!
            blobs.set(cid, spoil(right))
            expect(await mirror.fill({ limits })).toEqual({
              error: expect.stringContaining(
                `pds.test answered 200 InvalidResponse: what it sent is not the blob ${cid}`,
              ),
              retryAfterSeconds: 20,
            })
            expect(mirror.states(1)).toEqual(['wanted'])
            blobs.set(cid, right)
            expect(await mirror.fill({ limits })).toEqual({ done: true })
            expect(mirror.events('pack-broken')).toEqual([])
            expect(await mirror.clone(small.tip)).toBe(small.objects)
          })
        }
      }),
  )

  it('is asked for again ever later where the PDS sends something else for good, and good parts stay', () =>
    withMirror(async (mirror) => {
      await mirror.add(1, made, blobBytes)
      const { blobs } = mirror.account.pds
      const cid = [...blobs.keys()].at(-1)!
      blobs.set(cid, blobs.get(cid)!.subarray(1))
      for (let n = 0; n < 3; n++) expect(await mirror.fill({ limits: INGEST_LIMITS })).toHaveProperty('error')
      expect(mirror.pauses).toEqual([20_000, 20_000, 40_000, 40_000, 80_000, 80_000])
      const before = mirror.blobsRead()
      await mirror.fill({ limits: INGEST_LIMITS })
      expect(mirror.blobsRead() - before).toBeLessThan(blobs.size / 2)
    }))

  it.each([
    ['in its middle', 20 * MEBIBYTE],
    ['at its end', 8 * MEBIBYTE],
  ])('is not made of what was kept of a wrong blob that was cut off %s', (_, bytesEach) =>
    withMirror(async (mirror) => {
      await mirror.add(1, made, bytesEach)
      const { blobs } = mirror.account.pds
      const [[cid, right]] = [...blobs] as [[string, Uint8Array]]
      blobs.set(cid, right.with(1000, right[1000]! ^ 1))
      // As if the object had been cut off: what it holds in memory is gone, and nobody is told of the wrong blob.
      const { store } = mirror
      const upload = await PACKS.createMultipartUpload(packKeys(DID, mirror.rkey, mirror.account.id(1)).pack)
      const sent = await upload.uploadPart(1, blobs.get(cid)!.subarray(0, 8 * MEBIBYTE))
      store.downloads.begin(mirror.account.id(1), upload.uploadId)
      store.downloads.addPart(mirror.account.id(1), sent, 'bafkreiofwhatiswrong')
      blobs.set(cid, right)
      for (let n = 0; n < 2 && mirror.states(1)[0] === 'wanted'; n++) await mirror.fill({ limits: INGEST_LIMITS })
      expect(mirror.states(1)).toEqual(['ready'])
      expect(await mirror.clone(made.tip)).toBe(made.objects)
    }),
  )

  it.each([
    ['in one look', INGEST_LIMITS],
    ['in parts', SMALL],
  ])('whose record is another while it comes is taken in as it is then, %s', (_, limits) =>
    withMirror(async () => {
      const large = manyObjects({ commits: 40, files: 4, largeFile: 100_000 })
      const other = manyObjects({ commits: 40, files: 4, largeFile: 100_000, seed: 'other' })
      let changed = 0
      for (let at = 1; at <= 12; at++) {
        await withMirror(async (each) => {
          await each.add(1, large, MEBIBYTE, 1)
          let call = 0
          let isChanged = false
          const change = async () => {
            // One that has been taken in is not read again.
            if (++call !== at || each.states(1)[0] !== 'wanted') return
            isChanged = true
            await each.add(1, other, MEBIBYTE, 2)
          }
          expect(await each.fill({ bucket: calling(PACKS, change), limits })).toEqual({ done: true })
          if (!isChanged) return
          changed++
          expect(await each.clone(other.tip)).toBe(other.objects)
        })
      }
      expect(changed).toBeGreaterThan(2)
    }),
  )

  it.each([
    ['in one look', INGEST_LIMITS],
    ['in parts', SMALL],
  ])('whose record is deleted while it comes does not come, %s', (_, limits) =>
    withMirror(async () => {
      const large = manyObjects({ commits: 40, files: 4, largeFile: 100_000 })
      for (let at = 1; at <= 12; at++) {
        await withMirror(async (each) => {
          await each.add(1, large, MEBIBYTE)
          let call = 0
          let isRemoved = false
          const remove = async () => {
            if (++call !== at || each.states(1)[0] !== 'wanted') return
            isRemoved = true
            each.account.removePack(1)
            await each.read('all')
          }
          expect(await each.fill({ bucket: calling(PACKS, remove), limits })).toEqual({ done: true })
          if (!isRemoved) return
          expect(each.states(1)).toEqual(['gone'])
          await deleteLeftovers(PACKS, each.store, each.account.address, Date.now() + 24 * 60 * 60_000)
          expect(await each.keys()).toEqual([])
        })
      }
    }),
  )

  it('is taken in within what may be held, whole or in parts', () =>
    withMirror(async (mirror) => {
      const large = manyObjects({ commits: 40, files: 1, largeFile: MEBIBYTE })
      await mirror.add(1, large, 20 * MEBIBYTE)
      await mirror.fill({ limits: INGEST_LIMITS })
      const again = manyObjects({ commits: 40, files: 1, largeFile: MEBIBYTE, seed: 'again' })
      await mirror.add(2, again, 20 * MEBIBYTE)
      await mirror.fill({ limits: { ...INGEST_LIMITS, wholeBytes: MEBIBYTE, partBytes: 15 * MEBIBYTE } })
      expect(mirror.events('pack-part-ingested')).toHaveLength(3)
      const peaks = ['pack-ingested', 'pack-part-ingested']
        .flatMap((event) => mirror.events(event))
        .map(({ peakBytes }) => peakBytes)
      expect(peaks).toHaveLength(5)
      for (const peak of peaks) expect(peak).toBeLessThan(40 * MEBIBYTE)
      expect(await mirror.clone(again.tip)).toBe(again.objects)
    }))
})

/** The pack with a byte changed, and its checksum made right. */
function resealedWith(pack: Uint8Array, at: number): Uint8Array {
  const changed = pack.with(at, pack[at]! ^ 0xff)
  return resealed(changed)
}
