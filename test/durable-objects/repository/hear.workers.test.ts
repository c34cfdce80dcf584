import { env, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { heardRepositories } from '../../../atproto/firehose/heard-repository.ts'
import type { RecordEvent } from '../../../atproto/firehose/stream-event.ts'
import {
  PACK_COLLECTION,
  REF_COLLECTION,
  REFS_COLLECTION,
  REPO_COLLECTION,
} from '../../../atproto/records/collections.ts'
import { packKey, refKey, refsKey } from '../../../atproto/records/record-keys.ts'
import type { Environment } from '../../../durable-objects/environment.ts'
import { type HearDeps, type Heard, type HearOutcome, hear } from '../../../durable-objects/repository/hear.ts'
import { ingestWanted } from '../../../durable-objects/repository/ingest-wanted.ts'
import { PackMovedError } from '../../../durable-objects/repository/pack-arrival.ts'
import type { Repository } from '../../../durable-objects/repository/repository.ts'
import { BLOB } from '../../../git/object/object-type.ts'
import type { MirrorStore } from '../../../storage/mirror/mirror-store.ts'
import { buildPack, objectEntry, utf8 } from '../../git/pack/pack-builder.ts'
import { oid } from '../../git/protocol/wire.ts'
import { DID, head, inMirror, PDS, RECORD, ref } from '../../storage/mirror/in-mirror.ts'

const MAIN = 'refs/heads/main'
const RKEY = '3lzkoq5qq2s2a'
const ADDRESS = { did: DID, rkey: RKEY, pds: PDS }
const PACK_ID = '3lzkosecbps2a'
const PACK = buildPack([objectEntry(BLOB, utf8('hello\n'))])
const PARKED = 'parked/1'

function event(collection: string, rkey: string, value: unknown, change: Partial<RecordEvent> = {}): RecordEvent {
  return {
    kind: 'record',
    did: DID,
    cursor: 1,
    time: 1,
    collection,
    rkey,
    rev: '3lzkosecbps2b',
    value,
    isProven: true,
    ...change,
  }
}

function packEvent(change: Record<string, unknown> = {}, parked: string | null = PARKED): RecordEvent {
  const checksum = Buffer.from(PACK.subarray(-20)).toString('hex')
  const record = { size: PACK.length, objects: 1, checksum, thin: false, createdAt: '2026-11-30T12:00:00Z', ...change }
  const value = { $type: PACK_COLLECTION, ...record }
  return event(PACK_COLLECTION, packKey(RKEY, PACK_ID), value, parked === null ? {} : { parked })
}

function refEvent(target: string | null, seq: number, pack: string | null = PACK_ID): RecordEvent {
  const value = {
    $type: REF_COLLECTION,
    name: MAIN,
    seq,
    ...(target === null ? {} : { target }),
    ...(pack === null ? {} : { pack: packKey(RKEY, pack) }),
  }
  return event(REF_COLLECTION, refKey(RKEY, MAIN, seq), value)
}

function heardOf(...events: RecordEvent[]): Heard {
  const [heard] = heardRepositories(events)
  return { packs: heard?.packs ?? [], refs: heard?.refs ?? [], isProven: heard?.isProven ?? true, record: null }
}

function depsOf(store: MirrorStore, parked: Uint8Array | null = PACK) {
  const kept: string[] = []
  const deps: HearDeps = {
    store,
    readParked: async () => parked,
    keepInlinePack: async (id) => void kept.push(id),
  }
  return { deps, kept }
}

describe('a mirror that hears of a push', () => {
  it('wants the pack, whose bytes are there, and moves the ref', () =>
    inMirror(async (store) => {
      store.setHead(head())
      const { deps, kept } = depsOf(store)
      expect(await hear(deps, ADDRESS, heardOf(packEvent(), refEvent(oid(1), 1)))).toBe('heard')
      expect(kept).toEqual([PACK_ID])
      expect(store.source(PACK_ID)).toEqual({ blobs: null, replaces: [] })
      expect(store.uncheckedRefs()).toEqual([{ name: MAIN, target: oid(1) }])
      expect(store.timesHeard()).toBe(1)
    }))

  it('changes nothing where it is an echo', () =>
    inMirror(async (store) => {
      store.setHead(head())
      store.addPack({ id: PACK_ID, size: PACK.length, objects: 1 })
      store.advanceRefs([ref(MAIN, oid(1), 1, { pack: packKey(RKEY, PACK_ID) })], 'sound')
      const { version } = store.head()!
      const { deps, kept } = depsOf(store)
      expect(await hear(deps, ADDRESS, heardOf(packEvent(), refEvent(oid(1), 1)))).toBe('known')
      expect([kept, store.head()!.version, store.timesHeard(), store.isComplete()]).toEqual([[], version, 0, true])
    }))

  it('changes nothing the second time, and by what is older', () =>
    inMirror(async (store) => {
      store.setHead(head())
      const { deps } = depsOf(store)
      const outcomes: HearOutcome[] = []
      for (const events of [
        [packEvent(), refEvent(oid(2), 2)],
        [packEvent(), refEvent(oid(2), 2)],
        [refEvent(oid(1), 1)],
      ]) {
        outcomes.push(await hear(deps, ADDRESS, heardOf(...events)))
      }
      expect(outcomes).toEqual(['heard', 'known', 'known'])
    }))

  it('knows nothing of what nobody has asked for', () =>
    inMirror(async (store) => {
      expect(await hear(depsOf(store).deps, ADDRESS, heardOf(packEvent()))).toBe('cold')
    }))

  it.each([
    ['it is not proven', () => heardOf({ ...packEvent(), isProven: false })],
    ['the ref needs a pack that was not heard of', () => heardOf(refEvent(oid(1), 1))],
    ['the record of the repository is gone', () => ({ ...heardOf(), record: 'gone' as const })],
    [
      'the bytes are not those of the record',
      () => heardOf(packEvent({ checksum: '1'.repeat(40) }), refEvent(oid(1), 1)),
    ],
    ['the record has another size', () => heardOf(packEvent({ size: PACK.length + 1 }), refEvent(oid(1), 1))],
    ['nobody has kept the bytes', () => heardOf({ ...packEvent(), parked: null })],
    ['bytes came inside', () => heardOf(packEvent({ bytes: { $bytes: Buffer.from(PACK).toString('base64') } }, null))],
  ])('has the account read where %s', (_, heard) =>
    inMirror(async (store) => {
      store.setHead(head())
      expect(await hear(depsOf(store).deps, ADDRESS, heard())).toBe('unclear')
      expect([store.packs('wanted'), store.uncheckedRefs()]).toEqual([[], []])
    }),
  )

  it('has the account read where the parked bytes are gone', () =>
    inMirror(async (store) => {
      store.setHead(head())
      expect(await hear(depsOf(store, null).deps, ADDRESS, heardOf(packEvent(), refEvent(oid(1), 1)))).toBe('unclear')
    }))

  it('takes over a new record, and packed refs, but not the head', () =>
    inMirror(async (store) => {
      store.setHead(head({ head: 3 }))
      const entries = [{ name: MAIN, target: oid(1), seq: 1 }]
      const shards = [
        event(REFS_COLLECTION, refsKey(RKEY, 64, 1), { $type: REFS_COLLECTION, entries }),
        event(REFS_COLLECTION, refsKey(RKEY, 0, 4), { $type: REFS_COLLECTION, entries: [] }),
      ]
      const record = { ...RECORD, name: 'renamed' }
      expect(await hear(depsOf(store).deps, ADDRESS, { ...heardOf(...shards), record })).toBe('heard')
      expect(store.head()).toMatchObject({ head: 3, record: { name: 'renamed' } })
      expect(store.refs([MAIN])[0]!.state.at).toEqual({ kind: 'packed', shard: 64, shardSeq: 1 })
    }))
})

describe('what is heard of in part', () => {
  it('has the account listed before a ref is said to be broken', () =>
    inMirror(async (store) => {
      store.setHead(head())
      await hear(depsOf(store).deps, ADDRESS, heardOf(refEvent(oid(1), 1, null)))
      const { PACKS } = env as unknown as Environment
      const logged: string[] = []
      const deps = {
        store,
        client: null as never,
        bucket: PACKS,
        limits: null as never,
        isTurnOver: () => false,
        newStem: () => '',
        merge: async () => undefined,
        log: (name: string) => void logged.push(name),
        logRoutine: () => undefined,
      }
      await expect(ingestWanted(deps, ADDRESS, () => undefined)).rejects.toThrow(PackMovedError)
      store.noteListed(store.timesHeard() + 1)
      expect(store.timesHeard()).toBe(1)
      store.noteListed(store.timesHeard())
      await ingestWanted(deps, ADDRESS, () => undefined)
      expect(logged).toEqual(['refs-broken'])
    }))

  it('is sound once the edge says that it has landed it', async () => {
    const { REPOSITORY } = env as unknown as Environment
    const stub = REPOSITORY.get(REPOSITORY.idFromName('an echo that was faster'))
    await runInDurableObject(stub, async (mirror: Repository) => {
      const landed = { record: null, pack: null, states: [], head: null, headNeeds: [] }
      mirror.land(ADDRESS, { ...landed, record: RECORD })
      const echo = ref(MAIN, oid(1), 1)
      // As the stream says it, unchecked; the ingest that follows has to wait for the pack.
      await mirror.hear(ADDRESS, { packs: [], refs: [echo], isProven: true, record: null })
      mirror.land(ADDRESS, { ...landed, states: [echo] })
      const answer = await mirror.manifest({
        ...ADDRESS,
        known: null,
        selection: { names: [MAIN], prefixes: [] },
        mayRecheck: false,
      })
      expect(answer).toMatchObject({ state: 'found', wantedBytes: null })
    })
  })
})

describe('what events say of repositories', () => {
  it('is gathered for each, without what is no record, and without deletions of refs and packs', () => {
    const heard = heardRepositories([
      packEvent(),
      refEvent(oid(1), 1),
      event(REF_COLLECTION, refKey(RKEY, MAIN, 9), { name: 7 }),
      event(REF_COLLECTION, 'nonsense', {}),
      event(REF_COLLECTION, refKey(RKEY, MAIN, 1), null),
      event(PACK_COLLECTION, packKey('3lzkoq5qq2t2a', PACK_ID), null),
      event(REPO_COLLECTION, '3lzkoq5qq2u2a', null),
      { kind: 'identity', did: DID, cursor: 1, time: 1 },
    ])
    expect(heard.map(({ rkey, packs, refs, isRecordNews }) => [rkey, packs.length, refs.length, isRecordNews])).toEqual(
      [
        [RKEY, 1, 1, false],
        ['3lzkoq5qq2u2a', 0, 0, true],
      ],
    )
  })
})
