import { describe, expect, it } from 'vitest'
import type { RefState } from '../../../atproto/refs/ref-state.ts'
import { answerManifest } from '../../../durable-objects/repository/answer-manifest.ts'
import type { ManifestNews } from '../../../durable-objects/repository/answers.ts'
import { ALL_REFS, NO_REFS, nameRanges, type RefSelection } from '../../../git/refs/ref-selection.ts'
import { MirrorStore } from '../../../storage/mirror/mirror-store.ts'
import { RefList } from '../../../storage/ref-list.ts'
import { oid } from '../../git/protocol/wire.ts'
import { Random } from '../../git/random.ts'
import { head, inMirror, inMirrorStorage, RECORD, ref } from './in-mirror.ts'

const MANY = 5000
const topic = (n: number) => `refs/heads/topic-${String(n).padStart(4, '0')}`
const ONE: RefSelection = { names: [], prefixes: [topic(4321)] }

function fill(store: MirrorStore, count = MANY): void {
  store.setHead(head())
  const names = ['refs/heads/main', ...Array.from({ length: count - 1 }, (_, n) => topic(n))]
  store.advanceRefs(
    names.map((name) => ref(name, oid(1), 1)),
    'sound',
  )
}

const versionOf = (store: MirrorStore) => store.head()!.version

/** What a reader is told. */
function news(store: MirrorStore, selection: RefSelection, version?: number, hasRefs = true): ManifestNews {
  const answer = answerManifest(
    store,
    {
      known: version === undefined ? null : { version, hasRefs },
      selection,
    },
    null,
  )
  if (answer.state !== 'found') throw new Error(answer.state)
  return answer.news
}

/** The storage of an object, and how many rows its SQL has read and written. */
function counting(storage: DurableObjectStorage) {
  const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = []
  const exec: SqlStorage['exec'] = (query, ...bindings) => {
    const cursor = storage.sql.exec(query, ...bindings)
    cursors.push(cursor)
    return cursor as never
  }
  const counted = {
    sql: { exec },
    transactionSync: (run: () => unknown) => storage.transactionSync(run),
  } as unknown as DurableObjectStorage
  return {
    store: new MirrorStore(counted),
    /** Rows read by what `run` does. */
    rowsRead(run: () => unknown): number {
      cursors.length = 0
      run()
      return cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0)
    },
  }
}

describe('what a reader is told', () => {
  it('is all refs, or those of a selection and the default branch', () =>
    inMirror((store) => {
      fill(store)
      const all = news(store, ALL_REFS)
      expect(all).toMatchObject({ kind: 'all', base: { name: 'app', version: versionOf(store), packs: [] } })
      expect(all).toHaveProperty('refs.length', MANY)
      expect(news(store, { names: ['HEAD', topic(7), 'refs/heads/none'], prefixes: [topic(123)] })).toMatchObject({
        kind: 'selected',
        refs: ['refs/heads/main', topic(7), topic(123)].map((name) => ({ name, target: oid(1), peeled: null })),
      })
      expect(news(store, NO_REFS)).toMatchObject({ kind: 'selected', refs: [] })
    }))

  it('is all refs where there are few, or where most are asked for, or by too many names', () =>
    inMirror((store) => {
      fill(store, 100)
      expect(news(store, NO_REFS).kind).toBe('all')
      fill(store)
      expect(news(store, { names: [], prefixes: ['refs/heads/', 'refs/tags/'] }).kind).toBe('all')
      expect(news(store, { names: [], prefixes: ['refs/heads/topic-0'] })).toMatchObject({ kind: 'selected' })
      const names = Array.from({ length: 1200 }, (_, n) => `refs/changes/${n}`)
      expect(news(store, { names, prefixes: [] }).kind).toBe('all')
    }))

  it('is nothing where it has what it needs of this version', () =>
    inMirror((store) => {
      fill(store)
      const version = versionOf(store)
      expect(news(store, ALL_REFS, version).kind).toBe('unchanged')
      expect(news(store, NO_REFS, version, false).kind).toBe('unchanged')
      expect(news(store, ONE, version, false).kind).toBe('selected')
      expect(news(store, ALL_REFS, version, false).kind).toBe('all')
    }))

  it('is what has changed where it has all refs of an older version', () =>
    inMirror((store) => {
      fill(store)
      const version = versionOf(store)
      store.advanceRefs([ref(topic(3), oid(2), 2), ref('refs/tags/v1', oid(3), 1, { peeled: oid(2) })], 'sound')
      store.advanceRefs([ref(topic(2), null, 2)], 'sound')
      store.addPack({ id: 'a', size: 10, objects: 1 })
      for (const selection of [ALL_REFS, NO_REFS, ONE]) {
        expect(news(store, selection, version)).toEqual({
          kind: 'changed',
          base: { ...store.manifestBase(store.head()!), packs: [{ id: 'a', size: 10, objects: 1 }] },
          changes: [
            { name: topic(2), target: null },
            { name: topic(3), target: oid(2), peeled: null },
            { name: 'refs/tags/v1', target: oid(3), peeled: oid(2) },
          ],
        })
      }
      // A pack alone is news without refs.
      expect(news(store, ALL_REFS, versionOf(store) - 1)).toMatchObject({ kind: 'changed', changes: [] })
    }))

  it('is as if it had nothing where too much has changed, or it knows a version of another life', () =>
    inMirror((store) => {
      fill(store)
      expect(news(store, ALL_REFS, 1000).kind).toBe('all')
      expect(news(store, ONE, 1000).kind).toBe('selected')
      expect(news(store, ALL_REFS, 999).kind).toBe('all')
      expect(news(store, ALL_REFS, versionOf(store) + 1).kind).toBe('all')
      const version = versionOf(store)
      store.clear()
      store.setHead(head({ checkedAt: 2000 }))
      store.advanceRefs([ref('refs/heads/main', oid(2), 9)], 'sound')
      expect(news(store, ALL_REFS, version)).toMatchObject({ kind: 'all', refs: [{ target: oid(2) }] })
    }))

  it('costs what is asked for, not what there is', () =>
    inMirrorStorage((storage) => {
      const { store, rowsRead } = counting(storage)
      fill(store)
      expect(rowsRead(() => news(store, ALL_REFS))).toBeGreaterThan(MANY)
      const version = versionOf(store)
      store.advanceRefs([ref(topic(4321), oid(2), 2)], 'sound')
      // The hundred with which a repository would be a small one are counted.
      expect(rowsRead(() => news(store, ONE))).toBeLessThan(130)
      expect(rowsRead(() => news(store, NO_REFS))).toBeLessThan(130)
      expect(rowsRead(() => news(store, ALL_REFS, version))).toBeLessThan(20)
      expect(rowsRead(() => news(store, ALL_REFS, versionOf(store)))).toBeLessThan(10)
      expect(rowsRead(() => store.advanceRefs([ref(topic(1), null, 2)], 'sound'))).toBeLessThan(20)
      expect(rowsRead(() => store.shown.annotated(null))).toBeLessThan(5)
      expect(rowsRead(() => store.shown.annotated([oid(1)]))).toBeLessThan(5)
    }))
})

describe('changes since any version', () => {
  it('make of the refs of then those of now, whatever has happened in between', () =>
    inMirror((store) => {
      const random = new Random(11)
      store.setHead(head())
      const seqs = new Map<string, number>()
      const versions: { version: number; list: RefList }[] = []
      const move = (): RefState => {
        const name = topic(random.below(60))
        const seq = (seqs.get(name) ?? 0) + 1
        seqs.set(name, seq)
        if (random.chance(0.3)) return ref(name, null, seq)
        return ref(name, oid(1 + random.below(9)), seq, { peeled: random.chance(0.3) ? oid(1) : null })
      }
      for (let step = 0; step < 150; step++) {
        switch (random.below(4)) {
          case 0:
            store.advanceRefs([move(), move()], 'unchecked')
            break
          case 1: {
            const checked = store.uncheckedRefs().map((target) => ({ ...target, isBroken: random.chance(0.5) }))
            store.settleRefs(checked)
            break
          }
          case 2: {
            const pack = { id: `p${step}`, size: 1, objects: 1 }
            const source = { blobs: null, replaces: step > 20 ? [`p${step - 10}`] : [] }
            store.wantPack(pack, source)
            store.takeIn(pack, source)
            break
          }
          default:
            store.advanceRefs([move()], 'sound')
        }
        const now = store.shown.all()
        for (const { version, list } of versions) {
          expect(list.after(store.shown.changedSince(version)!).select(ALL_REFS)).toEqual(now)
        }
        const ranges = nameRanges({ names: [topic(7)], prefixes: ['refs/heads/topic-003'] })
        expect(store.shown.within(ranges)).toEqual(
          now.filter(({ name }) => name === topic(7) || name.startsWith('refs/heads/topic-003')),
        )
        expect(new Set(store.shown.annotated(null))).toEqual(new Set(now.filter(({ peeled }) => peeled !== null)))
        expect(store.shown.annotated([oid(7)])).toEqual([])
        const [last] = versions.slice(-1)
        const version = versionOf(store)
        // One version is one state.
        if (last?.version === version) expect(last.list.select(ALL_REFS)).toEqual(now)
        else versions.push({ version, list: RefList.of(now) })
      }
      expect(versions.length).toBeGreaterThan(80)
    }))

  it('are told from the time when a mirror of an older form was opened', () =>
    inMirrorStorage((storage) => {
      const before = new MirrorStore(storage)
      fill(before, 200)
      before.advanceRefs([ref(topic(1), null, 2), ref('refs/tags/v1', oid(2), 1, { peeled: oid(1) })], 'sound')
      const { sql } = storage
      for (const index of ['refs_by_change', 'annotated_refs', 'broken_refs']) sql.exec(`drop index ${index}`)
      sql.exec('alter table refs drop column changed')
      sql.exec('alter table mirror drop column changes_from')
      sql.exec('delete from schema_steps where done = 1')

      const store = new MirrorStore(storage)
      const version = versionOf(store)
      expect(store.shown.changedSince(version - 1)).toBe(null)
      expect(store.shown.changedSince(version)).toEqual([])
      expect(store.shown.all()).toHaveLength(200)
      expect(store.shown.annotated([oid(1)])).toEqual([{ name: 'refs/tags/v1', target: oid(2), peeled: oid(1) }])
      store.advanceRefs([ref(topic(2), null, 2), ref(topic(3), oid(3), 2)], 'sound')
      expect(store.shown.changedSince(version)).toEqual([
        { name: topic(2), target: null },
        { name: topic(3), target: oid(3), peeled: null },
      ])
    }))
})

it('a pack that has to be read again is news: who knows of it would look for it in vain', () =>
  inMirror((store) => {
    store.setHead(head({ record: { ...RECORD, description: 'it' } }))
    store.addPack({ id: 'a', size: 10, objects: 1 })
    const version = versionOf(store)
    store.wantAgain({ id: 'a', size: 10, objects: 1 }, { blobs: null, replaces: [] })
    expect(answerManifest(store, { known: { version, hasRefs: true }, selection: ALL_REFS }, null)).toMatchObject({
      state: 'found',
      wantedBytes: 10,
      news: { kind: 'changed', base: { packs: [] }, changes: [] },
    })
  }))
