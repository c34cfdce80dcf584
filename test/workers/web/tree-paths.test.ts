import { expect, it } from 'vitest'
import { TREE } from '../../../git/object/object-type.ts'
import { serializeTree } from '../../../git/object/tree.ts'
import { treePaths } from '../../../workers/web/palette/tree-paths.ts'
import { MemoryObjects } from '../../git/memory-objects.ts'

const objects = new MemoryObjects()

it('gives the files of a tree, and no directories or names that are no text', async () => {
  const tree = objects.tree({ 'a.txt': '', 'd/b': '', 'd/\xff': '', sub: `160000 ${'1'.repeat(40)}` })
  expect(await treePaths(objects, tree)).toEqual(['a.txt', 'd/b'])
})

it('of long paths gives so many as can be held, though each object is small', async () => {
  let tree = objects.tree(Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`${i}`, ''])))
  for (let depth = 0; depth < 100; depth++) {
    tree = objects.add(TREE, serializeTree([{ mode: 0o040000, name: Buffer.alloc(250, 'd'), oid: tree }]))
  }
  const paths = await treePaths(objects, tree)
  expect(paths.length).toBeGreaterThan(100)
  expect(paths.reduce((sum, path) => sum + path.length, 0)).toBeLessThan(4 * 1024 * 1024)
  expect(await treePaths(objects, tree)).toBe(paths)
})
