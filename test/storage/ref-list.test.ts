import { expect, test } from 'vitest'
import { ALL_REFS, NO_REFS } from '../../git/refs/ref-selection.ts'
import type { ManifestRef, RefChange } from '../../storage/manifest.ts'
import { RefList } from '../../storage/ref-list.ts'
import { seededRandom } from '../git/packs.ts'
import { oid } from '../git/protocol/wire.ts'

const NAMES = Array.from({ length: 1500 }, (_, i) => `refs/heads/${String(i).padStart(4, '0')}`)

const byName = (a: RefChange, b: RefChange) => (a.name < b.name ? -1 : 1)
const sorted = (refs: ReadonlyMap<string, ManifestRef>) => [...refs.values()].sort(byName)

/** Creates, moves and deletes some refs of a repository. @returns the changes, in order */
function change(random: (limit: number) => number, refs: Map<string, ManifestRef>, count: number): RefChange[] {
  const names = [...new Set(Array.from({ length: count }, () => NAMES[random(NAMES.length)]!))]
  return names
    .map((name): RefChange => {
      if (random(3) === 0) {
        refs.delete(name)
        return { name, target: null }
      }
      const ref = { name, target: oid(random(99)), peeled: random(5) === 0 ? oid(1 + random(99)) : null }
      refs.set(name, ref)
      return ref
    })
    .sort(byName)
}

test('changes one after the other leave what there is in the end, whatever is asked for in between', () => {
  const random = seededRandom(5)
  for (let trial = 0; trial < 20; trial++) {
    const refs = new Map<string, ManifestRef>()
    change(random, refs, 500)
    const versions = [{ list: RefList.of(sorted(refs)), refs: sorted(refs) }]
    for (let step = 0; step < 20; step++) {
      const changes = change(random, refs, [1, 5, 300][random(3)]!)
      versions.push({ list: versions.at(-1)!.list.after(changes), refs: sorted(refs) })
      if (random(3) === 0) expect(versions.at(-1)!.list.select(ALL_REFS)).toEqual(sorted(refs))
      const prefix = `refs/heads/0${random(10)}`
      const selection = { names: [NAMES[random(NAMES.length)]!], prefixes: [prefix] }
      expect(versions.at(-1)!.list.select(selection)).toEqual(
        sorted(refs).filter(({ name }) => name.startsWith(prefix) || selection.names.includes(name)),
      )
      expect(versions.at(-1)!.list.annotated()).toEqual(sorted(refs).filter(({ peeled }) => peeled !== null))
    }
    // Lists of older versions stay as they were.
    for (const { list, refs } of versions) expect(list.select(ALL_REFS)).toEqual(refs)
  }
})

test('a deletion of what is not there changes nothing, and nothing is selected where nothing is asked for', () => {
  const list = RefList.of([{ name: 'refs/heads/b', target: oid(1), peeled: null }])
  const after = list.after([
    { name: 'refs/heads/a', target: null },
    { name: 'refs/heads/c', target: null },
  ])
  expect(after.select(ALL_REFS)).toEqual(list.select(ALL_REFS))
  expect(after.select(NO_REFS)).toEqual([])
})

test('many changes are taken into the list: it does not grow with its age', () => {
  let list = RefList.of([])
  for (let n = 0; n < 3000; n++) list = list.after([{ name: NAMES[n % 700]!, target: oid(n % 99), peeled: null }])
  expect(list.select(ALL_REFS)).toHaveLength(700)
  expect(list.held).toBeLessThanOrEqual(1200)
})
