import { describe, expect, it } from 'vitest'
import type { PackSource } from '../../../storage/mirror/mirror-rows.ts'
import type { MirrorStore } from '../../../storage/mirror/mirror-store.ts'
import { oid } from '../../git/protocol/wire.ts'
import { head, inMirror, RECORD, ref } from './in-mirror.ts'

const MAIN = 'refs/heads/main'
const INLINE: PackSource = { blobs: null, replaces: [] }
const pack = (id: string, size = 100) => ({ id, size, objects: 3 })

const manifestOf = (store: MirrorStore) => ({ ...store.manifestBase(store.head()!), refs: store.shown.all() })
const versionOf = (store: MirrorStore) => store.head()!.version

describe('the head', () => {
  it('is null until the account has been read, and again once it is forgotten', () =>
    inMirror((store) => {
      expect(store.head()).toBe(null)
      store.setHead(head())
      expect(store.head()).toEqual({ ...head(), version: 1000 })
      store.advanceRefs([ref(MAIN, oid(1), 1)], 'sound')
      store.addPack(pack('a'))
      store.clear()
      expect([store.head(), store.refs([MAIN]), store.packs('ready')]).toEqual([null, [], []])
    }))

  it('has a version that grows with what readers see, and not with each look at the account', () =>
    inMirror((store) => {
      store.setHead(head())
      store.setHead(head({ checkedAt: 2000 }))
      expect(store.head()).toMatchObject({ version: 1000, checkedAt: 2000 })
      store.setHead(head({ record: { ...RECORD, description: 'new' } }))
      expect(versionOf(store)).toBe(1001)
      store.advanceRefs([ref(MAIN, oid(1), 1)], 'sound')
      store.addPack(pack('a'))
      expect(versionOf(store)).toBe(1003)
      store.advanceRefs([ref(MAIN, oid(1), 1)], 'sound')
      expect(versionOf(store)).toBe(1003)
    }))

  it('never goes back to an older seq of the head shard', () =>
    inMirror((store) => {
      store.setHead(head({ head: 3 }))
      store.setHead(head({ head: 2 }))
      expect(store.head()!.head).toBe(3)
      store.setHead(head({ head: null }))
      expect(store.head()!.head).toBe(3)
      store.setHead(head({ head: 4 }))
      expect(store.head()!.head).toBe(4)
    }))
})

describe('refs', () => {
  it('only move forward, in whatever order they come', () =>
    inMirror((store) => {
      store.setHead(head())
      expect(store.advanceRefs([ref(MAIN, oid(3), 3)], 'sound')).toBe(1)
      expect(store.advanceRefs([ref(MAIN, oid(2), 2), ref('refs/tags/v1', oid(1), 1)], 'unchecked')).toBe(1)
      expect(store.refs([MAIN, 'refs/heads/none'])).toEqual([{ state: ref(MAIN, oid(3), 3), isBroken: false }])
    }))

  it('come back as they were, packed ones and tags too', () =>
    inMirror((store) => {
      const tag = ref('refs/tags/v1', oid(1), 2, {
        peeled: oid(2),
        pack: 'repo:pack',
        at: { kind: 'packed', shard: 64, shardSeq: 1 },
      })
      store.advanceRefs([tag], 'sound')
      expect(store.refs(['refs/tags/v1'])).toEqual([{ state: tag, isBroken: false }])
    }))

  it('that are deleted stay known, and are shown to nobody', () =>
    inMirror((store) => {
      store.setHead(head())
      store.advanceRefs([ref(MAIN, null, 2)], 'unchecked')
      expect(manifestOf(store).refs).toEqual([])
      expect(store.refs([MAIN])).toMatchObject([{ state: { target: null, seq: 2 } }])
      // There is nothing about it to check.
      expect(store.isComplete()).toBe(true)
    }))

  it('are listed by the bytes of their names', () =>
    inMirror((store) => {
      store.setHead(head())
      const names = ['refs/heads/\u{1f600}', 'refs/heads/\uff61', 'refs/heads/b', 'refs/heads/B']
      store.advanceRefs(
        names.map((name) => ref(name, oid(1), 1)),
        'sound',
      )
      expect(manifestOf(store).refs.map(({ name }) => name)).toEqual([
        'refs/heads/B',
        'refs/heads/b',
        'refs/heads/\uff61',
        'refs/heads/\u{1f600}',
      ])
    }))

  it('that turn out to be broken are left out, until a pack comes that may have what they lack', () =>
    inMirror((store) => {
      store.setHead(head())
      store.advanceRefs([ref(MAIN, oid(1), 1), ref('refs/heads/lost', oid(2), 1)], 'unchecked')
      expect(store.isComplete()).toBe(false)
      store.settleRefs(store.uncheckedRefs().map((checked) => ({ ...checked, isBroken: checked.target === oid(2) })))
      expect(store.isComplete()).toBe(true)
      expect(manifestOf(store).refs.map(({ name }) => name)).toEqual([MAIN])
      expect(store.refs(['refs/heads/lost'])).toMatchObject([{ isBroken: true }])
      const version = versionOf(store)
      store.wantPack(pack('b'), INLINE)
      store.takeIn(pack('b'), INLINE)
      expect(store.uncheckedRefs()).toEqual([{ name: 'refs/heads/lost', target: oid(2) }])
      expect(versionOf(store)).toBeGreaterThan(version)
    }))

  it('that move while they are checked are checked again', () =>
    inMirror((store) => {
      store.setHead(head())
      store.advanceRefs([ref(MAIN, oid(1), 1)], 'unchecked')
      const [looked] = store.uncheckedRefs()
      store.advanceRefs([ref(MAIN, oid(2), 2), ref('refs/heads/new', oid(3), 1)], 'unchecked')
      store.settleRefs([{ ...looked!, isBroken: false }])
      expect(store.uncheckedRefs().map(({ target }) => target)).toEqual([oid(2), oid(3)])
    }))
})

describe('packs', () => {
  it('are visible once they are taken in', () =>
    inMirror((store) => {
      store.setHead(head())
      store.wantPack(pack('b'), INLINE)
      store.wantPack(pack('a'), { blobs: [{ cid: 'bafy', size: 100 }], replaces: ['x'] })
      expect(store.packs('wanted').map(({ id }) => id)).toEqual(['a', 'b'])
      expect([manifestOf(store).packs, store.isComplete()]).toEqual([[], false])
      expect(store.source('a')).toEqual({ blobs: [{ cid: 'bafy', size: 100 }], replaces: ['x'] })
      store.takeIn(pack('a', 120), { blobs: [{ cid: 'bafy', size: 100 }], replaces: ['x'] })
      store.takeIn(pack('b'), INLINE)
      expect(manifestOf(store).packs).toEqual([pack('a', 120), pack('b')])
      expect([store.isComplete(), store.source('a')]).toEqual([true, null])
    }))

  it('are taken in only as their records say by then', () =>
    inMirror((store) => {
      store.setHead(head())
      expect(store.takeIn(pack('never wanted'), INLINE)).toBe(false)
      store.wantPack(pack('a'), INLINE)
      store.downloads.complete('a')
      store.wantPack(pack('a'), INLINE)
      expect(store.downloads.state('a')).toBe('complete')
      const changed = { blobs: [{ cid: 'bafy', size: 100 }], replaces: [] }
      store.wantPack(pack('a'), changed)
      expect(store.downloads.state('a')).toBe(null)
      expect([store.takeIn(pack('a'), INLINE), store.takeIn(pack('a'), changed)]).toEqual([false, true])
      expect(store.takeInParts('a', [], changed)).toBe(false)
      store.wantPack(pack('b'), INLINE)
      store.markGone(['b'])
      expect([store.takeIn(pack('b'), INLINE), store.packState('b')]).toEqual([false, 'gone'])
    }))

  it('that are here or broken are not wanted again', () =>
    inMirror((store) => {
      store.setHead(head())
      store.addPack(pack('here'))
      store.wantPack(pack('broken'), INLINE)
      store.breakPack('broken')
      store.wantPack(pack('here'), INLINE)
      store.wantPack(pack('broken'), INLINE)
      expect(['here', 'broken', 'unheard of'].map((id) => store.packState(id))).toEqual(['ready', 'broken', null])
    }))

  it('that were replaced are gone for readers, and are remembered', () =>
    inMirror((store) => {
      store.setHead(head())
      store.addPack(pack('a'))
      store.addPack(pack('b'))
      const source = { blobs: null, replaces: ['a', 'b', 'never seen'] }
      store.wantPack(pack('c'), source)
      expect(store.takeIn(pack('c'), source)).toBe(true)
      expect(manifestOf(store).packs).toEqual([pack('c')])
      expect(['a', 'never seen'].map((id) => store.packState(id))).toEqual(['gone', 'gone'])
      expect(store.newestPack()).toBe('c')
      store.wantPack(pack('a'), INLINE)
      expect(store.packState('a')).toBe('wanted')
    }))
})

it('leftovers are looked for once an interval', () =>
  inMirror((store) => {
    expect(store.isSweepDue(5000, 1000)).toBe(false)
    store.setHead(head({ checkedAt: 1000 }))
    expect(store.isSweepDue(1999, 1000)).toBe(false)
    expect(store.isSweepDue(2000, 1000)).toBe(true)
    expect(store.isSweepDue(2001, 1000)).toBe(false)
    store.setHead(head({ checkedAt: 2500 }))
    expect(store.isSweepDue(3000, 1000)).toBe(true)
  }))

it('failures are counted until an ingest succeeds', () =>
  inMirror((store) => {
    store.setHead(head())
    expect([store.noteIngest(), store.noteIngest(), store.failedIngests()]).toEqual([1, 2, 2])
    store.setHead(head())
    expect(store.noteIngest()).toBe(3)
    store.noteProgress()
    expect(store.noteIngest()).toBe(1)
  }))
