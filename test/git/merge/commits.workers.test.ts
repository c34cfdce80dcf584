import { expect, it } from 'vitest'
import { LineNumbers } from '../../../git/diff/text-lines.ts'
import { editTree } from '../../../git/edit/edit-tree.ts'
import { mergeFollowingRenames } from '../../../git/merge/follow-renames.ts'
import { buildPack } from '../../../git/pack/build-pack.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import { MemoryObjects } from '../memory-objects.ts'
import { ingestAll } from '../packs.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)
const LINES = Array.from({ length: 40 }, (_, i) => `line ${i}\n`)

it('tells all bytes apart in workerd', () => {
  const numbers = new LineNumbers()
  numbers.split(Uint8Array.from({ length: 512 }, (_, i) => (i % 2 === 0 ? i / 2 : 10)))
  expect(numbers.size).toBe(256)
})

it('edits, merges and packs in workerd', async () => {
  const source = new MemoryObjects()
  const write = (path: string, content: string) =>
    ({ kind: 'write', path: utf8(path), content: utf8(content) }) as const
  const base = await editTree(source, null, [write('src/a', LINES.join('')), write('src/b', 'b\n')])
  source.addAll(base.objects)
  const ours = await editTree(source, base.tree, [write('src/a', LINES.with(3, 'ours\n').join(''))])
  source.addAll(ours.objects)
  const theirs = await editTree(source, base.tree, [write('src/a', LINES.with(30, 'theirs\n').join(''))])
  source.addAll(theirs.objects)
  const labels = { ours: 'main', theirs: 'topic' }
  const merged = await mergeFollowingRenames(source, base.tree, ours.tree, theirs.tree, { labels })
  expect(merged.conflicts).toEqual([])
  const wanted = await editTree(source, base.tree, [
    write('src/a', LINES.with(3, 'ours\n').with(30, 'theirs\n').join('')),
  ])
  expect(merged.tree).toBe(wanted.tree)
  const first = await buildPack([...base.objects, ...ours.objects], null)
  const packs = await ingestAll([first.bytes])
  const second = await buildPack(merged.objects, new PackedObjects(packs))
  expect(second.isThin).toBe(true)
  const all = new PackedObjects(await ingestAll([first.bytes, second.bytes]))
  for (const { oid, bytes } of merged.objects) expect((await all.read(oid))!.bytes).toEqual(bytes)
})
