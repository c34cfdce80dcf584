import { spawnSync } from 'node:child_process'
import { afterAll, describe, expect, it } from 'vitest'
import { oidToBytes } from '../../../git/bytes/oid.ts'
import { checkTree } from '../../../git/object/check-tree.ts'
import { ScratchRepository } from '../git.ts'

const repository = new ScratchRepository({ bare: true })
afterAll(() => repository[Symbol.dispose]())

const blob = repository.store('blob', 'x')
const emptyTree = repository.store('tree', '')

type Entry = readonly [mode: string, name: string | Uint8Array]

/** A tree of these entries in this order; 40000 entries name the empty tree, others a blob. */
function tree(...entries: Entry[]): Uint8Array {
  return Buffer.concat(
    entries.flatMap(([mode, name]) => [
      Buffer.from(`${mode} `),
      Buffer.from(name as string),
      Buffer.from([0]),
      oidToBytes(/^0?40000$/.test(mode) ? emptyTree : blob),
    ]),
  )
}

/** What the real git holds against this tree, errors and warnings; its ids of messages. */
function fsck(bytes: Uint8Array): string[] {
  const oid = repository.store('tree', bytes)
  const { stderr } = spawnSync('git', ['fsck', '--no-dangling'], { cwd: repository.path, encoding: 'utf8' })
  return [...stderr.matchAll(new RegExp(`in tree ${oid}: (\\w+)`, 'g'))].map((match) => match[1]!)
}

/** The messages that `zeroPaddedFilemode` and `badFilemode` are not of: real histories are full of those two. */
const GRAVE = /^(hasDot|hasDotdot|hasDotgit|fullPathname|treeNotSorted|duplicateEntries|gitmodulesSymlink)$/

const file = '100644'
const directory = '40000'
const link = '120000'
const latin1 = Buffer.from('caf\xe9', 'latin1')

describe('checkTree', () => {
  it.each<[string, Entry[]]>([
    ['nothing', []],
    [
      'files and directories in tree order',
      [
        [file, 'a'],
        [directory, 'a-b'],
        [file, 'a.b'],
        [file, 'b'],
      ],
    ],
    [
      'a directory sorted as if it ended in a slash',
      [
        [file, 'a.b'],
        [directory, 'a'],
        [file, 'a0'],
      ],
    ],
    ['a mode of old tools', [['100664', 'a']]],
    ['a zero-padded mode', [['040000', 'a']]],
    ['a name that is no UTF-8', [[file, latin1]]],
    [
      'names that only resemble .git',
      [
        [file, '.gitignore'],
        [file, '.gitx'],
        [file, 'git'],
        [file, 'git~2'],
      ],
    ],
    ['.gitmodules as a file', [[file, '.gitmodules']]],
    [
      'names with dots',
      [
        [file, '...'],
        [file, '.a'],
      ],
    ],
    ['a backslash', [[file, 'a\\b']]],
  ])('takes %s', (_, entries) => {
    const bytes = tree(...entries)
    expect(checkTree(bytes)).toBeNull()
    expect(fsck(bytes)).not.toContainEqual(expect.stringMatching(GRAVE))
  })

  it.each<[string, Entry[]]>([
    ['.', [[directory, '.']]],
    ['..', [[directory, '..']]],
    ['a name with a slash', [[file, 'a/b']]],
    ['.git', [[directory, '.git']]],
    ['.GIT', [[file, '.GIT']]],
    ['.git with a trailing dot, as NTFS ignores it', [[file, '.git.']]],
    ['.git with trailing spaces', [[file, '.git  .']]],
    ['.git with a stream', [[file, '.git::$INDEX_ALLOCATION']]],
    ['the short name of .git', [[file, 'GIT~1']]],
    ['.git with characters that HFS+ ignores', [[file, '.g\u200cit']]],
    ['.git after such a character', [[file, '\ufeff.Git']]],
    ['.git behind a backslash', [[file, 'a\\.git']]],
    ['.git before a backslash', [[file, '.git\\a']]],
    ['.gitmodules as a link', [[link, '.gitmodules']]],
    ['.gitmodules as a link by its short name', [[link, 'GITMOD~1']]],
    ['.gitmodules as a link by its hashed short name', [[link, 'gi7eba~1']]],
    ['.gitmodules as a link with an ignored character', [[link, '.gitmod\u200dules']]],
    [
      'the same name twice',
      [
        [file, 'a'],
        [file, 'a'],
      ],
    ],
    [
      'a file and a directory of one name',
      [
        [file, 'a'],
        [directory, 'a'],
      ],
    ],
    [
      'a file and a directory of one name with others between them',
      [
        [file, 'a'],
        [file, 'a-'],
        [file, 'a-b'],
        [file, 'a.b'],
        [directory, 'a'],
      ],
    ],
    [
      'entries out of order',
      [
        [file, 'b'],
        [file, 'a'],
      ],
    ],
    [
      'a directory sorted as a file',
      [
        [directory, 'a'],
        [file, 'a.b'],
      ],
    ],
  ])('refuses %s, as git does', (_, entries) => {
    const bytes = tree(...entries)
    expect(checkTree(bytes)).not.toBeNull()
    expect(fsck(bytes)).toContainEqual(expect.stringMatching(GRAVE))
  })

  it.each<[string, Uint8Array]>([
    ['an empty name', Buffer.concat([Buffer.from('100644 \0'), oidToBytes(blob)])],
    ['no mode', Buffer.concat([Buffer.from(' a\0'), oidToBytes(blob)])],
    ['a mode that is not octal', Buffer.concat([Buffer.from('100648 a\0'), oidToBytes(blob)])],
    ['a mode beyond 16 bits', Buffer.concat([Buffer.from('1140000 a\0'), oidToBytes(blob)])],
    ['a cut id', Buffer.concat([Buffer.from('100644 a\0'), oidToBytes(blob).subarray(0, 19)])],
    ['a cut name', Buffer.from('100644 a')],
    ['a cut mode', Buffer.from('1006')],
    ['garbage', Buffer.from('garbage')],
  ])('refuses %s', (_, bytes) => {
    expect(checkTree(bytes)).toMatch(/^malformed tree: /)
  })
})
