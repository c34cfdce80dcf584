import { describe, expect, it } from 'vitest'
import { editTree } from '../../../git/edit/edit-tree.ts'
import { type TreeEdit, TreeEditError, type WrittenMode } from '../../../git/edit/tree-edit.ts'
import { hashObject } from '../../../git/object/hash-object.ts'
import { MissingObjectError } from '../../../git/object/missing-object-error.ts'
import { TREE } from '../../../git/object/object-type.ts'
import { EMPTY_TREE } from '../../../git/object/read-object.ts'
import { ScratchRepository } from '../git.ts'
import { type Files, MemoryObjects } from '../memory-objects.ts'
import { Random } from '../random.ts'

const source = new MemoryObjects()
const store = (files: Files) => source.tree(files)

const COMMIT = '1'.repeat(40)
const bytes = (text: string) => Buffer.from(text, 'latin1')

const write = (path: string, content: string, mode?: WrittenMode): TreeEdit => ({
  kind: 'write',
  path: bytes(path),
  content: bytes(content),
  ...(mode && { mode }),
})
const remove = (path: string): TreeEdit => ({ kind: 'delete', path: bytes(path) })
const move = (from: string, path: string, content?: string, mode?: WrittenMode): TreeEdit => ({
  kind: 'move',
  from: bytes(from),
  path: bytes(path),
  ...(content !== undefined && { content: bytes(content) }),
  ...(mode && { mode }),
})
const chmod = (path: string, mode: WrittenMode): TreeEdit => ({ kind: 'mode', path: bytes(path), mode })

async function edit(base: string | null, edits: readonly TreeEdit[]): Promise<string> {
  const { tree, objects } = await editTree(source, base, edits)
  for (const object of objects) expect(hashObject(object.type, object.bytes)).toBe(object.oid)
  source.addAll(objects)
  return tree
}

const BASE: Files = {
  README: 'readme',
  'run.sh': '100755 run',
  link: '120000 README',
  'lib/a': 'a',
  'lib/b': 'b',
  'lib/deep/c': 'c',
  'lib/deep/er/d': 'd',
  'lib.txt': 'txt',
  module: `160000 ${COMMIT}`,
  'only/one': '1',
}

/** The base with other files; null: without. */
function changed(changes: Record<string, string | null>): Files {
  const files = { ...BASE, ...changes }
  return Object.fromEntries(Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== null))
}

describe('editTree', () => {
  it.each<[string, readonly TreeEdit[], Record<string, string | null>]>([
    ['nothing', [], {}],
    ['a new file', [write('new', 'x')], { new: 'x' }],
    ['a new file in new directories', [write('x/y/z', 'x')], { 'x/y/z': 'x' }],
    ['new content', [write('lib/deep/c', 'C')], { 'lib/deep/c': 'C' }],
    ['the same content', [write('lib/deep/c', 'c')], {}],
    ['an empty file', [write('lib/a', '')], { 'lib/a': '' }],
    [
      'content, and the mode stays',
      [write('run.sh', 'x'), write('link', 'lib/a')],
      { 'run.sh': '100755 x', link: '120000 lib/a' },
    ],
    ['modes', [write('README', 'x', 0o100755), write('new', 'y', 0o120000)], { README: '100755 x', new: '120000 y' }],
    [
      'modes alone',
      [chmod('README', 0o100755), chmod('run.sh', 0o100644)],
      { README: '100755 readme', 'run.sh': 'run' },
    ],
    ['a deleted file', [remove('lib/b')], { 'lib/b': null }],
    ['a deleted directory', [remove('lib/deep')], { 'lib/deep/c': null, 'lib/deep/er/d': null }],
    ['the last file of directories', [remove('only/one')], { 'only/one': null }],
    ['a deleted submodule', [remove('module')], { module: null }],
    [
      'a directory and something in it deleted',
      [remove('lib/deep'), remove('lib/deep/c')],
      { 'lib/deep/c': null, 'lib/deep/er/d': null },
    ],
    ['a moved file', [move('README', 'docs/README')], { README: null, 'docs/README': 'readme' }],
    ['a moved file with content', [move('run.sh', 'x', 'X')], { 'run.sh': null, x: '100755 X' }],
    ['a moved file with a mode', [move('run.sh', 'x', undefined, 0o100644)], { 'run.sh': null, x: 'run' }],
    ['a moved submodule', [move('module', 'sub/module')], { module: null, 'sub/module': `160000 ${COMMIT}` }],
    [
      'a moved directory',
      [move('lib/deep', 'x')],
      { 'lib/deep/c': null, 'lib/deep/er/d': null, 'x/c': 'c', 'x/er/d': 'd' },
    ],
    ['files that change places', [move('lib/a', 'lib/b'), move('lib/b', 'lib/a')], { 'lib/a': 'b', 'lib/b': 'a' }],
    [
      'a file moved and written anew',
      [move('lib/a', 'lib/z'), write('lib/a', 'new')],
      { 'lib/z': 'a', 'lib/a': 'new' },
    ],
    ['a directory moved into itself', [move('only', 'only/sub')], { 'only/one': null, 'only/sub/one': '1' }],
    [
      'a directory moved without a file',
      [move('lib/deep', 'x'), remove('lib/deep/c')],
      { 'lib/deep/c': null, 'lib/deep/er/d': null, 'x/er/d': 'd' },
    ],
    [
      'a file moved out of a directory that goes',
      [move('lib/deep/c', 'c'), remove('lib/deep')],
      { 'lib/deep/c': null, 'lib/deep/er/d': null, c: 'c' },
    ],
    [
      'a directory moved, and a file of it written',
      [move('lib/deep', 'x'), write('x/c', 'C')],
      { 'lib/deep/c': null, 'lib/deep/er/d': null, 'x/c': 'C', 'x/er/d': 'd' },
    ],
    ['a directory that becomes a file', [remove('only/one'), write('only', 'x')], { 'only/one': null, only: 'x' }],
    ['a file that becomes a directory', [remove('README'), write('README/x', 'x')], { README: null, 'README/x': 'x' }],
    ['a file that moves below its own name', [move('README', 'README/x')], { README: null, 'README/x': 'readme' }],
    ['a submodule that becomes a file', [write('module', 'x', 0o100644)], { module: 'x' }],
    [
      'a directory replaced',
      [remove('lib/deep'), write('lib/deep/new', 'n')],
      { 'lib/deep/c': null, 'lib/deep/er/d': null, 'lib/deep/new': 'n' },
    ],
    ['names that are no UTF-8', [write('caf\xe9', 'x')], { 'caf\xe9': 'x' }],
  ])('makes %s', async (_, edits, changes) => {
    expect(await edit(store(BASE), edits)).toBe(store(changed(changes)))
    expect(await edit(store(BASE), edits.toReversed())).toBe(store(changed(changes)))
  })

  it('begins with nothing', async () => {
    expect(await edit(null, [write('a/b', 'x')])).toBe(store({ 'a/b': 'x' }))
    expect(await edit(EMPTY_TREE, [write('a/b', 'x')])).toBe(store({ 'a/b': 'x' }))
  })

  it('ends with nothing', async () => {
    expect(await edit(store({ 'a/b': '1' }), [remove('a')])).toBe(EMPTY_TREE)
    expect(await edit(null, [])).toBe(EMPTY_TREE)
  })

  it('leaves odd modes as they are', async () => {
    const blob = source.blob('x')
    const tree = (last: string) =>
      Buffer.concat([
        bytes('100664 a\0'),
        Buffer.from(blob, 'hex'),
        bytes('100644 b\0'),
        Buffer.from(source.blob(last), 'hex'),
      ])
    expect(await edit(source.add(TREE, tree('1')), [write('b', '2')])).toBe(hashObject(TREE, tree('2')))
  })

  it('deletes and moves what has a name that may not be written', async () => {
    const blob = source.blob('x')
    const tree = source.add(TREE, Buffer.concat([bytes('100644 .GIT\0'), Buffer.from(blob, 'hex')]))
    expect(await edit(tree, [remove('.GIT')])).toBe(EMPTY_TREE)
    expect(await edit(tree, [move('.GIT', 'git')])).toBe(store({ git: 'x' }))
  })

  it('reads only the trees on the way', async () => {
    const base = store({ ...BASE, ...Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`d${i}/f`, `${i}`])) })
    const before = source.reads
    await editTree(source, base, [write('lib/deep/c', '1'), move('lib/deep/er', 'd7/er'), remove('d8')])
    expect(source.reads - before).toBe(4)
  })

  it('says what each object was before', async () => {
    const { objects } = await editTree(source, store(BASE), [
      write('lib/deep/c', 'C'),
      move('README', 'x', 'X'),
      write('new/n', 'n'),
    ])
    const files = (directory: string) =>
      store(
        Object.fromEntries(
          Object.entries(BASE).flatMap(([path, content]) =>
            path.startsWith(directory) ? [[path.slice(directory.length), content]] : [],
          ),
        ),
      )
    const blobs = new Map(
      objects.filter(({ type }) => type !== TREE).map((object) => [Buffer.from(object.bytes).toString(), object.base]),
    )
    expect(blobs).toEqual(
      new Map([
        ['C', source.blob('c')],
        ['X', source.blob('readme')],
        ['n', null],
      ]),
    )
    const trees = objects.filter(({ type }) => type === TREE).map(({ base }) => base)
    expect(trees).toEqual([files('lib/deep/'), files('lib/'), null, files('')])
  })

  it.each<[string, readonly TreeEdit[], string, string]>([
    ['an empty path', [write('', 'x')], 'path', '"" is empty'],
    ['a slash at the start', [write('/a', 'x')], 'path', '"/a" starts with a slash'],
    ['a slash at the end', [write('a/', 'x')], 'path', '"a/" ends with a slash'],
    ['two slashes', [write('a//b', 'x')], 'path', '"a//b" has two slashes in a row'],
    ['NUL', [write('a\0b', 'x')], 'path', 'has NUL in it'],
    ['.', [write('a/./b', 'x')], 'path', '"a/./b" has the name . or .. in it'],
    ['..', [move('README', '../x')], 'path', '"../x" has the name . or .. in it'],
    ['.git', [write('.git/config', 'x')], 'path', 'some systems take for .git'],
    ['.GiT', [write('a/.GiT', 'x')], 'path', 'some systems take for .git'],
    ['git~1', [write('git~1', 'x')], 'path', 'some systems take for .git'],
    ['.git of HFS+', [write('.g\xe2\x80\x8cit', 'x')], 'path', 'some systems take for .git'],
    [
      'a path that is too long',
      [write(`${'a/'.repeat(2048)}b`, 'x')],
      'path',
      'has 4097 bytes: a path may have at most 4096',
    ],
    ['a name that is too long', [write('x'.repeat(256), 'x')], 'path', 'has a name of 256 bytes'],
    ['.gitmodules as a link', [write('.gitmodules', 'x', 0o120000)], 'path', 'write .gitmodules as a file'],
    ['a path twice', [write('a', 'x'), write('a', 'y')], 'duplicate', '"a" is changed twice'],
    ['a file moved twice', [move('README', 'a'), move('README', 'b')], 'duplicate', '"README" is changed twice'],
    ['a file moved and deleted', [move('README', 'a'), remove('README')], 'duplicate', '"README" is changed twice'],
    ['deleting what is not there', [remove('lib/none')], 'missing', '"lib/none" is not there'],
    ['deleting below a file', [remove('README/x')], 'missing', '"README/x" is not there'],
    ['deleting what only this commit writes', [write('n/x', 'x'), remove('n')], 'missing', '"n" is not there'],
    ['moving what is not there', [move('none', 'a')], 'missing', '"none" is not there'],
    ['the mode of what is not there', [chmod('none', 0o100755)], 'missing', '"none" is not there'],
    [
      'writing below a file',
      [write('README/x', 'x')],
      'conflict',
      '"README" is a file, so that there can be no "README/x"',
    ],
    ['writing below a submodule', [write('module/x', 'x')], 'conflict', '"module" is a file'],
    ['writing below a new file', [write('n', 'x'), write('n/x', 'x')], 'conflict', '"n'],
    ['writing over a directory', [write('lib', 'x')], 'conflict', '"lib" is a directory'],
    ['writing over a submodule', [write('module', 'x')], 'conflict', '"module" is a submodule: give a mode'],
    [
      'moving onto a file',
      [move('README', 'lib/a')],
      'conflict',
      '"lib/a" is there already, so that "README" cannot move there',
    ],
    ['moving onto a directory', [move('README', 'lib')], 'conflict', '"lib" is there already'],
    ['moving two to one', [move('README', 'x'), move('lib/a', 'x')], 'duplicate', '"x" is changed twice'],
    ['content for a directory', [move('lib', 'x', 'x')], 'conflict', '"lib" is a directory: move it without'],
    [
      'a mode for a submodule',
      [move('module', 'x', undefined, 0o100644)],
      'conflict',
      '"module" is a submodule: move it without',
    ],
    ['the mode of a directory', [chmod('lib', 0o100755)], 'conflict', '"lib" is no file'],
  ])('refuses %s', async (_, edits, reason, message) => {
    const failure = editTree(source, store(BASE), edits)
    await expect(failure).rejects.toThrow(TreeEditError)
    await expect(failure).rejects.toThrow(message)
    await expect(failure).rejects.toMatchObject({ reason })
  })

  it('moves a directory as deep as paths may be, and no deeper', async () => {
    const base = store({ 'a/b/file': 'x', 'a/c/file': 'x', 'a/c/longer file': 'y' })
    const deep = (length: number) => 'd/'.repeat(length / 2) + (length % 2 === 0 ? 'dd' : 'd')
    const longest = 4096 - '/c/longer file'.length
    const at = deep(longest - 1)
    expect(await edit(base, [move('a', at)])).toBe(
      store({ [`${at}/b/file`]: 'x', [`${at}/c/file`]: 'x', [`${at}/c/longer file`]: 'y' }),
    )
    await expect(edit(base, [move('a', deep(longest + 1))])).rejects.toThrow('paths of more than 4096 bytes')
    // Each of these is short enough by itself.
    let tree = base
    const sink = async () => {
      tree = await edit(tree, [move('a', `${'a/'.repeat(500)}a`)])
    }
    for (let i = 0; i < 4; i++) await sink()
    await expect(sink()).rejects.toMatchObject({ name: 'TreeEditError', reason: 'path' })
    await expect(edit(tree, [move('a', 'b')])).resolves.toBeDefined()
  })

  it('takes the longest path and name', async () => {
    const path = `${'a/'.repeat(1919)}${'x'.repeat(255)}/b`
    expect(path.length).toBe(4095)
    expect((await editTree(source, null, [write(path, 'x'), write('y'.repeat(255), '')])).objects).toHaveLength(
      1921 + 2,
    )
  })

  it('says which tree is missing', async () => {
    await expect(editTree(source, COMMIT, [write('a', 'x')])).rejects.toThrow(new MissingObjectError(COMMIT))
  })

  it('makes the trees that git makes of random changes', async () => {
    using repository = new ScratchRepository({ bare: true })
    const random = new Random(9)
    const path = () => Array.from({ length: 1 + random.below(3) }, () => random.pick(['a', 'b', 'c', 'a.b'])).join('/')
    const stream: string[] = []
    const trees: string[] = []
    const files = new Set<string>()
    for (let round = 1; round <= 100; round++) {
      const edits = new Map<string, TreeEdit>()
      stream.push(`commit refs/heads/main\nmark :${round}\ncommitter A <a@b> 1 +0000\ndata 0\n`)
      const present = [...files]
      for (let change = random.below(5); change > 0; change--) {
        const at = random.chance(0.4) && present.length > 0 ? random.pick(present) : path()
        const isFree = [...files].every((other) => !other.startsWith(`${at}/`) && !at.startsWith(`${other}/`))
        if (edits.has(at)) continue
        if (present.includes(at) && random.chance(0.5)) {
          edits.set(at, remove(at))
          files.delete(at)
          stream.push(`D ${at}\n`)
        } else if (isFree) {
          const [content, mode] = [`${random.below(1000)}`, random.pick([0o100644, 0o100755, 0o120000] as const)]
          edits.set(at, write(at, content, mode))
          files.add(at)
          stream.push(`M ${mode.toString(8)} inline ${at}\ndata ${content.length}\n${content}\n`)
        }
      }
      trees.push(await edit(trees.at(-1) ?? null, [...edits.values()]))
    }
    repository.git(['fast-import', '--quiet', '--done'], `${stream.join('')}done\n`)
    expect(trees).toEqual(repository.text(['log', '--reverse', '--format=%T', 'main']).split('\n'))
  })
})
