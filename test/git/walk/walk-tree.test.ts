import { afterAll, describe, expect, it } from 'vitest'
import { formatMode } from '../../../git/object/file-mode.ts'
import { resolveTreePath } from '../../../git/walk/tree-path.ts'
import { NoSuchPathError, type TreeWalkOptions, walkTree } from '../../../git/walk/walk-tree.ts'
import { ScratchRepository } from '../git.ts'
import { GitObjectSource } from '../object-process.ts'

const repository = new ScratchRepository({ bare: true })
const source = new GitObjectSource(repository.path)
afterAll(async () => {
  await source[Symbol.asyncDispose]()
  repository[Symbol.dispose]()
})

const blob = repository.text(['hash-object', '-w', '--stdin'], 'x')
const paths = ['a', 'a.b', 'd-e/f', 'd/e/f/g', 'd/e/h', 'd/i', 'd.j', 'z']
repository.git(['update-index', '--index-info'], paths.map((path) => `100644 ${blob}\t${path}\n`).join(''))
const tree = repository.text(['write-tree'])

async function walk(options?: TreeWalkOptions): Promise<string[]> {
  const lines: string[] = []
  for await (const { mode, oid, path } of walkTree(source, tree, options)) {
    lines.push(`${formatMode(mode)} ${oid}\t${Buffer.from(path)}`)
  }
  return lines
}

const lsTree = (...options: string[]) =>
  repository
    .text(['ls-tree', ...options, tree])
    .replaceAll(/ (blob|tree) /g, ' ')
    .split('\n')

describe('walkTree', () => {
  it('gives what git ls-tree gives', async () => {
    expect(await walk()).toEqual(lsTree('-r', '-t'))
    expect(await walk({ recursive: false })).toEqual(lsTree())
  })

  it.each([true, false])('goes on after any of its paths (recursive: %s)', async (recursive) => {
    const all = await walk({ recursive })
    for (const [i, line] of all.entries()) {
      const after = Buffer.from(line.split('\t')[1]!)
      expect(await walk({ recursive, after }), line).toEqual(all.slice(i + 1))
    }
  })

  it('reads only the trees on the way to where it goes on', async () => {
    const before = source.reads
    expect(await walk({ after: Buffer.from('d/i') })).toHaveLength(1)
    expect(source.reads - before).toBe(2)
  })

  it.each(['nothing', 'a/b', 'd/nothing', ''])('refuses to go on after %j', async (after) => {
    await expect(walk({ after: Buffer.from(after) })).rejects.toThrow(NoSuchPathError)
  })
})

describe('resolveTreePath', () => {
  it.each(['a', 'd', 'd/e/f/g', 'd/e/', '/d//e'])('finds %s', async (path) => {
    const oid = repository.text(['rev-parse', `${tree}:${path.replaceAll(/^\/|\/$/g, '').replace('//', '/')}`])
    expect((await resolveTreePath(source, tree, Buffer.from(path)))?.oid).toBe(oid)
  })

  it('takes the empty path for the tree itself', async () => {
    expect((await resolveTreePath(source, tree, new Uint8Array(0)))?.oid).toBe(tree)
  })

  it.each(['x', 'a/b', 'd/e/f/g/h', 'D'])('finds nothing at %s', async (path) => {
    expect(await resolveTreePath(source, tree, Buffer.from(path))).toBeNull()
  })
})
