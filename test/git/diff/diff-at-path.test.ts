import { describe, expect, it } from 'vitest'
import { diffAtPath } from '../../../git/diff/diff-at-path.ts'
import { MemoryRepository } from '../../storage/memory-repository.ts'

const objects = new MemoryRepository()
const [one, two] = [objects.blob('1'), objects.blob('2')]
const tree = (inner: string, file: string) =>
  objects.tree([
    ['40000', 'dir', objects.tree([['100644', 'a', inner]])],
    ['100644', 'file', file],
  ])

async function changed(old: string | null, fresh: string | null, path: string): Promise<string[] | null> {
  const changes = await diffAtPath(objects, old, fresh, Buffer.from(path))
  if (changes === null) return null
  const found: string[] = []
  for await (const change of changes) {
    found.push(`${change.old === null ? 'A' : change.new === null ? 'D' : 'M'} ${Buffer.from(change.path)}`)
  }
  return found
}

describe('diffAtPath', () => {
  it('gives what differs at a path, and nothing beside it', async () => {
    const [old, fresh] = [tree(one, one), tree(two, two)]
    expect(await changed(old, fresh, '')).toEqual(['M dir/a', 'M file'])
    expect(await changed(old, fresh, 'dir')).toEqual(['M dir/a'])
    expect(await changed(old, fresh, 'dir/a')).toEqual(['M dir/a'])
    expect(await changed(old, fresh, 'file')).toEqual(['M file'])
    expect(await changed(old, tree(one, two), 'dir')).toEqual([])
    expect(await changed(null, fresh, 'dir')).toEqual(['A dir/a'])
    expect(await changed(old, null, 'file')).toEqual(['D file'])
  })

  it('tells a path that is nowhere from one where nothing differs', async () => {
    expect(await changed(tree(one, one), tree(two, two), 'absent')).toBeNull()
    expect(await changed(tree(one, one), tree(two, two), 'file/below')).toBeNull()
    expect(await changed(null, null, 'file')).toBeNull()
  })

  it('gives both where a file has become a directory', async () => {
    const file = objects.tree([['100644', 'dir', one]])
    expect(await changed(file, tree(one, one), 'dir')).toEqual(['D dir', 'A dir/a'])
    expect(await changed(tree(one, one), file, 'dir')).toEqual(['A dir', 'D dir/a'])
  })

  it('sees a change of the mode alone', async () => {
    const executable = objects.tree([['100755', 'file', one]])
    expect(await changed(tree(one, one), executable, 'file')).toEqual(['M file'])
    expect(await changed(objects.tree([['100664', 'file', one]]), tree(one, one), 'file')).toEqual([])
  })
})
