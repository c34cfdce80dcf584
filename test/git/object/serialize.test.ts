import { afterAll, describe, expect, it } from 'vitest'
import { type NewCommit, parseCommit, serializeCommit } from '../../../git/object/commit.ts'
import { FieldError } from '../../../git/object/field-error.ts'
import { hashObject } from '../../../git/object/hash-object.ts'
import { BLOB, COMMIT, TAG, TREE } from '../../../git/object/object-type.ts'
import { EMPTY_TREE } from '../../../git/object/read-object.ts'
import { type Person, parseSignature } from '../../../git/object/signature.ts'
import { parseTag, serializeTag } from '../../../git/object/tag.ts'
import { serializeTree, TreeReader } from '../../../git/object/tree.ts'
import { ScratchRepository } from '../git.ts'

const repository = new ScratchRepository({ bare: true })
afterAll(() => repository[Symbol.dispose]())

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const ADA: Person = { name: 'Ada Lovelace', email: 'ada@example.com', time: 1_700_000_000, zone: 0 }
const commit = (changes: Partial<NewCommit>): NewCommit => ({
  tree: EMPTY_TREE,
  parents: [],
  author: ADA,
  committer: ADA,
  message: 'subject\n',
  ...changes,
})

/** The id that git gives an object that it has checked in every way. */
function checkedByGit(type: 'commit' | 'tag' | 'tree', bytes: Uint8Array): string {
  const oid = repository.text(['hash-object', '-t', type, '-w', '--stdin'], bytes)
  expect(repository.text(['fsck', '--strict', '--no-dangling', oid])).toBe('')
  return oid
}

describe('serializeCommit', () => {
  it('makes what git commit-tree makes', () => {
    const env = {
      GIT_AUTHOR_NAME: 'Zoë',
      GIT_AUTHOR_EMAIL: 'zoe@example.com',
      GIT_AUTHOR_DATE: '1700000001 -0930',
      GIT_COMMITTER_DATE: '1700000002 +0545',
    }
    repository.text(['hash-object', '-t', 'tree', '-w', '--stdin'], '')
    const parent = repository.text(['commit-tree', EMPTY_TREE, '-m', 'parent'], '', env)
    const args = ['commit-tree', EMPTY_TREE, '-p', parent, '-m', 'subject', '-m', 'body: ünïcode\n日本語']
    const bytes = serializeCommit({
      tree: EMPTY_TREE,
      parents: [parent],
      author: { name: 'Zoë', email: 'zoe@example.com', time: 1_700_000_001, zone: -570 },
      committer: { name: 'C O Mitter', email: 'committer@example.com', time: 1_700_000_002, zone: 345 },
      message: 'subject\n\nbody: ünïcode\n日本語',
    })
    expect(hashObject(COMMIT, bytes)).toBe(repository.text(args, '', env))
  })

  it.each<[string, Partial<NewCommit>]>([
    ['a root', {}],
    ['an empty message', { message: '' }],
    ['a message that looks like headers', { message: 'tree x\nparent y\n\nauthor z' }],
    ['an empty address', { author: { ...ADA, email: '' } }],
    ['the first second', { author: { ...ADA, time: 0 } }],
    ['a far zone', { committer: { ...ADA, zone: -(99 * 60 + 59) } }],
    ['CR LF', { message: 'a\r\nb\r\n' }],
  ])('makes a commit that git takes and that is read back: %s', (_, changes) => {
    const made = commit(changes)
    const bytes = serializeCommit(made)
    expect(checkedByGit('commit', bytes)).toBe(hashObject(COMMIT, bytes))
    const read = parseCommit(bytes)
    expect(read).toMatchObject({ tree: made.tree, parents: made.parents, encoding: null })
    expect(text(read.message)).toBe(
      made.message === '' || made.message.endsWith('\n') ? made.message : `${made.message}\n`,
    )
    for (const role of ['author', 'committer'] as const) {
      const { name, email, time } = parseSignature(read[role])
      expect({ name: text(name), email: text(email), time }).toEqual({
        name: made[role].name,
        email: made[role].email,
        time: made[role].time,
      })
    }
  })

  it('keeps several parents in their order', () => {
    const parents = ['1', '3', '2'].map((digit) => digit.repeat(40))
    expect(parseCommit(serializeCommit(commit({ parents }))).parents).toEqual(parents)
  })

  it('takes the spaces around names away', () => {
    const author = { ...ADA, name: '  Ada ', email: ' a@b ' }
    expect(text(parseCommit(serializeCommit(commit({ author }))).author)).toBe('Ada <a@b> 1700000000 +0000')
  })

  it.each<[string, Partial<NewCommit>, string]>([
    ['a name with <', { author: { ...ADA, name: 'a<b' } }, "the author's name must not hold <, > or a line break"],
    ['a name of two lines', { committer: { ...ADA, name: 'a\nb' } }, "the committer's name must not hold"],
    ['an address with >', { author: { ...ADA, email: 'a>b' } }, "the author's email must not hold"],
    ['a name with NUL', { author: { ...ADA, name: 'a\0b' } }, "the author's name must not hold NUL"],
    ['no name', { author: { ...ADA, name: ' ' } }, 'the author needs a name'],
    ['half a surrogate pair', { message: 'a\ud800' }, 'the message has half of a surrogate pair'],
    ['a message with NUL', { message: 'a\0' }, 'the message must not hold NUL'],
    ['a time before 1970', { author: { ...ADA, time: -1 } }, "the author's time must be"],
    ['a time with a fraction', { author: { ...ADA, time: 1.5 } }, "the author's time must be"],
    ['no time', { author: { ...ADA, time: Number.NaN } }, "the author's time must be"],
    ['a zone of 100 hours', { author: { ...ADA, zone: 6000 } }, "the author's zone must be"],
    ['a parent twice', { parents: ['1'.repeat(40), '1'.repeat(40)] }, 'a commit must not name a parent twice'],
  ])('refuses %s', (_, changes, message) => {
    expect(() => serializeCommit(commit(changes))).toThrow(FieldError)
    expect(() => serializeCommit(commit(changes))).toThrow(message)
  })
})

describe('serializeTag', () => {
  const tag = { target: '', targetType: BLOB, name: 'v1.0', tagger: ADA, message: 'first' } as const

  it('makes a tag that git takes and that is read back', () => {
    const target = repository.store('blob', 'x')
    const bytes = serializeTag({ ...tag, target })
    expect(checkedByGit('tag', bytes)).toBe(hashObject(TAG, bytes))
    const read = parseTag(bytes)
    expect(read).toMatchObject({ target, targetType: BLOB })
    expect([text(read.name), text(read.tagger), text(read.message)]).toEqual([
      'v1.0',
      'Ada Lovelace <ada@example.com> 1700000000 +0000',
      'first\n',
    ])
  })

  it.each(['', 'a\nb', 'a\0b'])('refuses the name %j', (name) => {
    expect(() => serializeTag({ ...tag, target: '1'.repeat(40), name })).toThrow(FieldError)
  })
})

describe('serializeTree', () => {
  const blob = repository.store('blob', 'x')
  const empty = EMPTY_TREE
  const entry = (mode: number, name: string, oid: string) => ({ mode, name: Buffer.from(name, 'latin1'), oid })

  it('puts entries in the order of git', () => {
    const entries = [
      entry(0o100644, 'a.b', blob),
      entry(0o040000, 'a', empty),
      entry(0o100755, 'a0', blob),
      entry(0o120000, 'a-', blob),
      entry(0o160000, 'b', '1'.repeat(40)),
      entry(0o100644, '\xff', blob),
    ]
    const listed = entries.map(({ mode, name, oid }) => {
      const type = mode === 0o040000 ? 'tree' : mode === 0o160000 ? 'commit' : 'blob'
      return Buffer.concat([Buffer.from(`${mode.toString(8).padStart(6, '0')} ${type} ${oid}\t`), name, Buffer.of(0)])
    })
    const bytes = serializeTree(entries)
    expect(hashObject(TREE, bytes)).toBe(repository.text(['mktree', '-z'], Buffer.concat(listed)))
    const reader = new TreeReader(bytes)
    const names: string[] = []
    while (reader.next()) names.push(Buffer.from(reader.name).toString('latin1'))
    expect(names).toEqual(['a-', 'a.b', 'a', 'a0', 'b', '\xff'])
  })

  it('makes the empty tree of nothing', () => {
    expect(hashObject(TREE, serializeTree([]))).toBe(EMPTY_TREE)
  })
})
