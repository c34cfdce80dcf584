import { afterAll, describe, expect, it } from 'vitest'
import { diffTrees } from '../../../git/diff/diff-trees.ts'
import { DIFF_LIMITS, diffFiles } from '../../../workers/files/diff-files.ts'
import { ScratchRepository } from '../../git/git.ts'
import { GitObjectSource } from '../../git/object-process.ts'

const repository = new ScratchRepository({ bare: true })
const source = new GitObjectSource(repository.path)
afterAll(async () => {
  await source[Symbol.asyncDispose]()
  repository[Symbol.dispose]()
})

type Files = Record<string, string | readonly [mode: string, content: string]>

function store(files: Files): string {
  repository.git(['read-tree', '--empty'])
  const lines = Object.entries(files).map(([path, file]) => {
    const [mode, content] = typeof file === 'string' ? ['100644', file] : file
    const oid = mode === '160000' ? content : repository.store('blob', Buffer.from(content, 'latin1'))
    return `${mode} ${oid}\t${path}\0`
  })
  repository.git(['update-index', '-z', '--index-info'], lines.join(''))
  return repository.text(['write-tree'])
}

const diff = (old: string, fresh: string, limits = {}) =>
  diffFiles(source, diffTrees(source, old, fresh), { limits: { ...DIFF_LIMITS, ...limits } })

function gitDiff(old: string, fresh: string): string {
  const options = ['-c', 'core.quotePath=false', 'diff', '--full-index', '--no-renames', '--histogram']
  return Buffer.from(repository.git([...options, old, fresh]))
    .toString()
    .replaceAll(/^(@@ .* @@).*$/gm, '$1')
}

describe('diffFiles', () => {
  it('writes what git writes', async () => {
    const [module, otherModule] = ['1'.repeat(40), '2'.repeat(40)]
    const old = store({
      'a.txt': 'a\nb\n',
      binary: 'a\0b',
      'became link': 'target',
      'dir/gone.txt': 'gone\n',
      empty: '',
      mode: 'm\n',
      'mode and text': 'm\n',
      module: ['160000', module],
      same: 'same\n',
      'no end': 'x',
    })
    const fresh = store({
      'a.txt': 'a\nc\n',
      binary: 'a\0c',
      'became link': ['120000', 'target'],
      'dir/new é.txt': 'new\n',
      'empty too': '',
      mode: ['100755', 'm\n'],
      'mode and text': ['100755', 'n\n'],
      module: ['160000', otherModule],
      same: 'same\n',
      'no end': 'x\n',
    })
    expect(await diff(old, fresh)).toEqual({ text: gitDiff(old, fresh), isCut: false, others: [], hasMore: false })
    expect((await diff(fresh, old)).text).toBe(gitDiff(fresh, old))
  })

  it('quotes a path that could pass for more', async () => {
    const { text } = await diff(store({}), store({ 'a\n+++ b': 'x\n' }))
    expect(text).toContain('diff --git "a/a\\n+++ b" "b/a\\n+++ b"\n')
    expect(text).toContain('\n+++ "b/a\\n+++ b"\n')
  })

  it('cuts the text at a line, and names the files beyond', async () => {
    const fresh = store({ a: 'line\n'.repeat(100), b: 'b\n', c: 'c\n', d: 'd\n' })
    const cut = await diff(store({ c: 'x\n' }), fresh, { textLength: 300, named: 2 })
    expect(cut).toMatchObject({ isCut: true, others: ['A b', 'M c'], hasMore: true })
    expect(cut.text.length).toBeLessThanOrEqual(300)
    expect(cut.text).toMatch(/\n\+line\n$/)
    const some = await diff(store({}), fresh, { textLength: 10_000, bytes: 501 })
    expect(some).toMatchObject({ isCut: false, others: ['A c', 'A d'], hasMore: false })
  })

  it('only names what is too large to be compared', async () => {
    const [old, fresh] = [store({ a: 'x\n'.repeat(5) }), store({ a: 'y\n'.repeat(5) })]
    for (const limits of [{ fileBytes: 9 }, { fileLines: 4 }]) {
      expect((await diff(old, fresh, limits)).text).toMatch(/^diff --git a\/a b\/a\nindex .*\nLarge files differ.*\n$/)
    }
  })
})
