import { describe, expect, it } from 'vitest'
import { mergeFollowingRenames } from '../../../git/merge/follow-renames.ts'
import { type MergeLimits, MergeTooLargeError } from '../../../git/merge/merge-limits.ts'
import { mergeTrees } from '../../../git/merge/merge-trees.ts'
import { MissingObjectError } from '../../../git/object/missing-object-error.ts'
import { TREE } from '../../../git/object/object-type.ts'
import { EMPTY_TREE } from '../../../git/object/read-object.ts'
import { TreeDepthError } from '../../../git/walk/walk-tree.ts'
import { type Files, MemoryObjects } from '../memory-objects.ts'

const source = new MemoryObjects()
const COMMITS = ['1', '2', '3'].map((digit) => `160000 ${digit.repeat(40)}`)
const options = { labels: { ours: 'main', theirs: 'topic' } }
const text = (bytes: Uint8Array | null) => bytes && Buffer.from(bytes).toString('latin1')

const TEXT = 'one\ntwo\nthree\nfour\nfive\n'
const at = (line: string) => TEXT.replace(line, line.toUpperCase())

describe('mergeTrees', () => {
  it.each<[string, Files, Files, Files, Files]>([
    ['nothing', { a: '1' }, { a: '1' }, { a: '1' }, { a: '1' }],
    ['a file of each', { x: '' }, { x: '', a: '1' }, { x: '', b: '2' }, { x: '', a: '1', b: '2' }],
    ['a file both have added', {}, { a: '1' }, { a: '1' }, { a: '1' }],
    ['a file both have deleted', { a: '1', x: '' }, { x: '' }, { x: '' }, { x: '' }],
    ['all deleted', { 'a/b': '1' }, {}, { 'a/b': '1' }, {}],
    ['what is left of a directory', { 'a/b': '1', 'a/c': '1' }, { 'a/b': '1' }, { 'a/c': '1' }, {}],
    [
      'lines of one file',
      { 'd/f': TEXT },
      { 'd/f': at('one') },
      { 'd/f': at('five') },
      { 'd/f': TEXT.replace('one', 'ONE').replace('five', 'FIVE') },
    ],
    ['a mode and content', { f: TEXT }, { f: `100755 ${TEXT}` }, { f: at('one') }, { f: `100755 ${at('one')}` }],
    [
      'a file that became a directory',
      { a: '1', x: '' },
      { 'a/b': '1', x: '' },
      { a: '1', x: '2' },
      { 'a/b': '1', x: '2' },
    ],
    [
      'a directory that became a file',
      { 'a/b': '1', x: '' },
      { a: '1', x: '' },
      { 'a/b': '1', x: '2' },
      { a: '1', x: '2' },
    ],
    [
      'a submodule',
      { m: COMMITS[0]!, x: '' },
      { m: COMMITS[1]!, x: '' },
      { m: COMMITS[0]!, x: '1' },
      { m: COMMITS[1]!, x: '1' },
    ],
  ])('takes %s', async (_, base, ours, theirs, wanted) => {
    for (const sides of [
      [ours, theirs],
      [theirs, ours],
    ] as const) {
      const merged = await mergeTrees(source, source.tree(base), source.tree(sides[0]), source.tree(sides[1]), options)
      expect(merged.conflicts).toEqual([])
      expect(merged.tree).toBe(source.tree(wanted))
    }
  })

  it.each<[string, Files, Files, Files, string, string, string | null]>([
    [
      'lines',
      { f: TEXT },
      { f: at('two') },
      { f: TEXT.replace('two', 'zwei') },
      'f',
      'content',
      'one\n<<<<<<< main\nTWO\n=======\nzwei\n>>>>>>> topic\nthree\nfour\nfive\n',
    ],
    ['new files', {}, { f: 'a\n' }, { f: 'b\n' }, 'f', 'add/add', '<<<<<<< main\na\n=======\nb\n>>>>>>> topic\n'],
    ['new files of other modes', {}, { f: 'a\n' }, { f: '100755 a\n' }, 'f', 'mode', null],
    ['a change and a deletion', { 'd/f': 'a' }, { 'd/f': 'b' }, {}, 'd/f', 'modify/delete', null],
    ['a file and a directory', {}, { a: '1' }, { 'a/b': '1' }, 'a', 'file/directory', null],
    ['a changed file and a directory', { a: '1' }, { a: '2' }, { 'a/b': '1' }, 'a', 'file/directory', null],
    ['a file and a link', { a: '1' }, { a: '2' }, { a: '120000 x' }, 'a', 'type', null],
    ['links', { a: '120000 x' }, { a: '120000 y' }, { a: '120000 z' }, 'a', 'symlink', null],
    ['submodules', { a: COMMITS[0]! }, { a: COMMITS[1]! }, { a: COMMITS[2]! }, 'a', 'submodule', null],
    ['binary files', { a: '\0' }, { a: '\x001' }, { a: '\x002' }, 'a', 'binary', null],
  ])('says how %s conflict', async (_, base, ours, theirs, path, kind, shown) => {
    const trees = [base, ours, theirs].map((files) => source.tree(files)) as [string, string, string]
    const { conflicts } = await mergeTrees(source, ...trees, options)
    expect(conflicts).toHaveLength(1)
    const [conflict] = conflicts
    expect({ path: text(conflict!.path), kind: conflict!.kind, shown: text(conflict!.merged) }).toEqual({
      path,
      kind,
      shown,
    })
  })

  it('says what each side has', async () => {
    const trees = [{ 'd/f': 'a' }, { 'd/f': '100755 b' }, {}].map((files: Files) => source.tree(files))
    const { conflicts } = await mergeTrees(source, ...(trees as [string, string, string]), options)
    expect(conflicts[0]).toMatchObject({
      base: { mode: 0o100644, oid: source.blob('a') },
      ours: { mode: 0o100755, oid: source.blob('b') },
      theirs: null,
    })
  })

  it('lists conflicts by path, with what merges beside them', async () => {
    const base = source.tree({ 'b/x': TEXT, c: TEXT, a: TEXT, ok: TEXT })
    const ours = source.tree({ 'b/x': at('one'), c: at('one'), a: at('one'), ok: at('one') })
    const other = TEXT.replace('one', 'eins')
    const theirs = source.tree({ 'b/x': other, c: other, a: other, ok: at('five') })
    const { conflicts, objects } = await mergeTrees(source, base, ours, theirs, options)
    expect(conflicts.map(({ path }) => text(path))).toEqual(['a', 'b/x', 'c'])
    expect(objects.map(({ bytes }) => text(bytes))).toContain(at('one').replace('five', 'FIVE'))
  })

  it('takes a null base for histories that are not related', async () => {
    const merged = await mergeTrees(
      source,
      null,
      source.tree({ a: '1', c: '' }),
      source.tree({ b: '2', c: '' }),
      options,
    )
    expect(merged.tree).toBe(source.tree({ a: '1', b: '2', c: '' }))
  })

  it('reads only what both sides have changed', async () => {
    const files = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`d${i}/f`, `${i}`]))
    const base = source.tree(files)
    const ours = source.tree({ ...files, 'd1/f': 'changed', 'd2/f': 'changed' })
    const theirs = source.tree({ ...files, 'd3/f': 'changed', 'd2/new': 'new' })
    const before = source.reads
    const { tree, objects } = await mergeTrees(source, base, ours, theirs, options)
    expect(tree).toBe(
      source.tree({ ...files, 'd1/f': 'changed', 'd2/f': 'changed', 'd2/new': 'new', 'd3/f': 'changed' }),
    )
    expect(source.reads - before).toBe(6)
    expect(objects.map(({ base }) => base)).toEqual([source.tree({ f: 'changed' }), ours])
  })

  it('leaves a base without conflicts for the next merge', async () => {
    const trees = [{ m: COMMITS[0]! }, { m: COMMITS[1]! }, { m: COMMITS[2]! }].map((files: Files) => source.tree(files))
    const { tree } = await mergeTrees(source, ...(trees as [string, string, string]), { ...options, depth: 1 })
    expect(tree).toBe(trees[0])
  })

  it('does not merge texts that are too large, and gives up where there are too many', async () => {
    const trees = [{ f: TEXT }, { f: at('one') }, { f: at('five') }].map((files: Files) => source.tree(files))
    const limits = { textBytes: TEXT.length, textLines: 5, heldBytes: 1000 }
    const merge = (less: Partial<MergeLimits>) =>
      mergeTrees(source, ...(trees as [string, string, string]), { ...options, limits: { ...limits, ...less } })
    expect((await merge({})).conflicts).toEqual([])
    expect((await merge({ textBytes: TEXT.length - 1 })).conflicts.map(({ kind }) => kind)).toEqual(['too-large'])
    expect((await merge({ textLines: 4 })).conflicts.map(({ kind }) => kind)).toEqual(['too-large'])
    await expect(merge({ heldBytes: TEXT.length })).rejects.toThrow(MergeTooLargeError)
  })

  it('says which tree is missing, and gives up on trees nested without end', async () => {
    const missing = '1'.repeat(40)
    await expect(mergeTrees(source, EMPTY_TREE, missing, source.tree({ a: '1' }), options)).rejects.toThrow(
      MissingObjectError,
    )
    const nest = (content: string) => {
      let tree = source.tree({ f: content })
      for (let depth = 0; depth < 2100; depth++) {
        tree = source.add(TREE, Buffer.concat([Buffer.from('40000 d\0'), Buffer.from(tree, 'hex')]))
      }
      return tree
    }
    await expect(mergeTrees(source, nest('1'), nest('2'), nest('3'), options)).rejects.toThrow(TreeDepthError)
  })
})

describe('mergeFollowingRenames', () => {
  const merge = async (base: Files, ours: Files, theirs: Files) => {
    const trees = [base, ours, theirs].map((files) => source.tree(files)) as [string, string, string]
    const merged = await mergeFollowingRenames(source, ...trees, options)
    source.addAll(merged.objects)
    return merged
  }

  it.each<[string, Files, Files, Files, Files]>([
    ['a file that the other changed', { f: TEXT }, { 'd/g': TEXT }, { f: at('one') }, { 'd/g': at('one') }],
    [
      'a file that the other made executable',
      { f: TEXT },
      { g: TEXT },
      { f: `100755 ${TEXT}` },
      { g: `100755 ${TEXT}` },
    ],
    [
      'a directory',
      { 'a/f': TEXT, 'a/g': 'g', x: '' },
      { 'b/f': TEXT, 'b/g': 'g', x: '' },
      { 'a/f': at('one'), 'a/g': 'g', x: '' },
      { 'b/f': at('one'), 'b/g': 'g', x: '' },
    ],
    [
      'two files, one of each side',
      { f: TEXT, g: `g\n${TEXT}` },
      { F: TEXT, g: `g\n${at('five')}` },
      { f: at('one'), G: `g\n${TEXT}` },
      { F: at('one'), G: `g\n${at('five')}` },
    ],
  ])('follows %s', async (_, base, ours, theirs, wanted) => {
    for (const sides of [
      [ours, theirs],
      [theirs, ours],
    ] as const) {
      const merged = await merge(base, ...sides)
      expect(merged.conflicts).toEqual([])
      expect(merged.tree).toBe(source.tree(wanted))
    }
  })

  it('gives the objects that the tree needs, and no others', async () => {
    const bystanders = { 'x/y': '1' }
    const { tree, objects } = await merge(
      { ...bystanders, f: TEXT },
      { ...bystanders, 'd/g': TEXT },
      { ...bystanders, f: at('one') },
    )
    expect(objects.map(({ oid }) => oid).sort()).toEqual([tree, source.tree({ g: at('one') })].sort())
  })

  it.each<[string, Files, Files, Files]>([
    ['is not there', { f: TEXT }, {}, { f: at('one') }],
    ['has changed as well', { f: TEXT }, { g: at('two') }, { f: at('one') }],
    ['is there twice', { f: TEXT }, { g: TEXT, h: TEXT }, { f: at('one') }],
    ['could be either of two', { f: TEXT, g: TEXT }, { h: TEXT }, { f: at('one'), g: at('two') }],
    ['is empty', { f: '' }, { g: '' }, { f: 'x' }],
    ['has gone where the other has something', { f: TEXT }, { 'g/h': TEXT }, { f: at('one'), g: 'x' }],
  ])('leaves the conflict where the file %s', async (_, base, ours, theirs) => {
    const { conflicts } = await merge(base, ours, theirs)
    expect(conflicts.map(({ kind }) => kind)).toContain('modify/delete')
  })
})
