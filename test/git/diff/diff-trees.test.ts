import { afterAll, describe, expect, it } from 'vitest'
import { diffTrees } from '../../../git/diff/diff-trees.ts'
import { formatMode } from '../../../git/object/file-mode.ts'
import { hashObject } from '../../../git/object/hash-object.ts'
import { MissingObjectError } from '../../../git/object/missing-object-error.ts'
import type { ObjectSource } from '../../../git/object/object-source.ts'
import { TREE } from '../../../git/object/object-type.ts'
import { EMPTY_TREE } from '../../../git/object/read-object.ts'
import { TreeDepthError } from '../../../git/walk/walk-tree.ts'
import { ScratchRepository } from '../git.ts'
import { GitObjectSource } from '../object-process.ts'

const repository = new ScratchRepository({ bare: true })
const source = new GitObjectSource(repository.path)
afterAll(async () => {
  await source[Symbol.asyncDispose]()
  repository[Symbol.dispose]()
})

const ZERO = '0'.repeat(40)

/** Stores a tree from `path: content` lines; a mode may stand before the content, as in `120000 target`. */
function store(files: Record<string, string>): string {
  repository.git(['read-tree', '--empty'])
  const lines = Object.entries(files).map(([path, content]) => {
    const [, mode = '100644', text] = /^(?:(\d{6}) )?([\s\S]*)$/.exec(content)!
    const oid = mode === '160000' ? text! : repository.store('blob', text!)
    return `${mode} ${oid}\t${path}`
  })
  repository.git(['update-index', '--index-info'], lines.map((line) => `${line}\n`).join(''))
  return repository.text(['write-tree'])
}

async function diff(a: string | null, b: string | null): Promise<string[]> {
  const lines: string[] = []
  for await (const change of diffTrees(source, a, b)) {
    const { old, new: fresh } = change
    const modes = `:${formatMode(old?.mode ?? 0)} ${formatMode(fresh?.mode ?? 0)}`
    lines.push(`${modes} ${old?.oid ?? ZERO} ${fresh?.oid ?? ZERO} ${Buffer.from(change.path).toString('latin1')}`)
  }
  return lines
}

function gitDiff(a: string, b: string): string[] {
  const fields = Buffer.from(repository.git(['diff-tree', '-r', '-z', '--no-renames', a, b]))
    .toString('latin1')
    .split('\0')
  const lines: string[] = []
  for (let i = 0; i + 1 < fields.length; i += 2) lines.push(`${fields[i]!.slice(0, -2)} ${fields[i + 1]}`)
  return lines
}

const COMMIT = '1'.repeat(40)

describe('diffTrees', () => {
  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['nothing', { a: '1' }, { a: '1' }],
    ['a changed file deep down', { 'a/b/c': '1', 'a/b/d': '1', e: '1' }, { 'a/b/c': '2', 'a/b/d': '1', e: '1' }],
    ['additions and deletions', { a: '1', b: '1' }, { b: '1', c: '1' }],
    ['a new directory', { a: '1' }, { a: '1', 'b/c/d': '1', 'b/e': '1' }],
    ['a deleted directory', { 'a/b/c': '1', d: '1' }, { d: '1' }],
    ['a file that becomes a directory', { a: '1', 'a.b': '1' }, { 'a/x': '1', 'a.b': '2' }],
    ['a directory that becomes a file', { 'a/x': '1', 'a.b': '1', a0: '1' }, { a: '1', 'a.b': '2', a0: '1' }],
    ['an executable bit', { a: '1' }, { a: '100755 1' }],
    ['a file that becomes a link', { a: 'x' }, { a: '120000 x' }],
    ['a submodule', { a: `160000 ${COMMIT}` }, { a: `160000 ${COMMIT.replaceAll('1', '2')}` }],
    ['a submodule that becomes a directory', { a: `160000 ${COMMIT}` }, { 'a/b': '1' }],
    ['all', {}, { 'a/b': '1', c: '1' }],
  ])('finds %s as git does', async (_, before, after) => {
    const [a, b] = [store(before), store(after)]
    expect(await diff(a, b)).toEqual(gitDiff(a, b))
    expect(await diff(b, a)).toEqual(gitDiff(b, a))
  })

  it('takes null for the empty tree', async () => {
    const tree = store({ 'a/b': '1' })
    expect(await diff(null, tree)).toEqual(gitDiff(store({}), tree))
    expect(await diff(tree, null)).toEqual(gitDiff(tree, store({})))
    expect(await diff(null, null)).toEqual([])
  })

  it('finds names that are no UTF-8, and takes odd modes for no difference', async () => {
    const blob = repository.text(['hash-object', '-w', '--stdin'], 'x')
    const tree = (mode: string) =>
      repository.store('tree', Buffer.concat([Buffer.from(`${mode} caf\xe9\0`, 'latin1'), Buffer.from(blob, 'hex')]))
    expect(await diff(tree('100664'), tree('100644'))).toEqual([])
    expect(await diff(null, tree('100664'))).toEqual([`:000000 100644 ${ZERO} ${blob} caf\xe9`])
  })

  it('reads only what differs', async () => {
    const files = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`d${i}/f`, `${i}`]))
    const [a, b] = [store(files), store({ ...files, 'd7/f': 'changed' })]
    const before = source.reads
    expect(await diff(a, b)).toHaveLength(1)
    expect(source.reads - before).toBe(4)
  })

  it('says which tree is missing', async () => {
    await expect(diff(null, COMMIT)).rejects.toThrow(new MissingObjectError(COMMIT))
  })

  it('gives up on trees nested without end', async () => {
    const trees = new Map<string, Uint8Array>()
    let tree = EMPTY_TREE
    for (let depth = 0; depth < 2100; depth++) {
      const bytes = Buffer.concat([Buffer.from('40000 d\0'), Buffer.from(tree, 'hex')])
      tree = hashObject(TREE, bytes)
      trees.set(tree, bytes)
    }
    const nested: ObjectSource = {
      read: async (oid) => ({ type: TREE, bytes: trees.get(oid)! }),
      stat: async (oid) => ({ type: TREE, size: trees.get(oid)!.length }),
    }
    await expect(diffTrees(nested, null, tree).next()).rejects.toThrow(TreeDepthError)
  })
})
