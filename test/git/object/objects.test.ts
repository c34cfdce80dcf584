import { afterAll, describe, expect, it } from 'vitest'
import { parseCommit } from '../../../git/object/commit.ts'
import { hashObject } from '../../../git/object/hash-object.ts'
import { MalformedObjectError } from '../../../git/object/malformed-object-error.ts'
import { BLOB, COMMIT, TAG, TREE } from '../../../git/object/object-type.ts'
import { parseSignature, zoneMinutes } from '../../../git/object/signature.ts'
import { parseTag } from '../../../git/object/tag.ts'
import { decodeText } from '../../../git/object/text.ts'
import { ScratchRepository } from '../git.ts'

const repository = new ScratchRepository({ bare: true })
afterAll(() => repository[Symbol.dispose]())

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const PARENT = '1'.repeat(40)
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')
const bytes = (string: string) => Buffer.from(string, 'latin1')

describe('hashObject', () => {
  it.each([
    ['blob', BLOB],
    ['tree', TREE],
    ['commit', COMMIT],
    ['tag', TAG],
  ] as const)('names a %s as git does', (name, type) => {
    const content = bytes('whatever \0 it is')
    expect(hashObject(type, content)).toBe(repository.store(name, content))
  })
})

describe('parseCommit', () => {
  const head = `tree ${EMPTY_TREE}\nparent ${PARENT}\n`
  const who = 'A <a@b.c> 1 +0000'

  it('reads a plain commit', () => {
    const commit = parseCommit(bytes(`${head}author ${who}\ncommitter C <c@d> 2 -0130\n\nsubject\n\nbody\n`))
    expect(commit.tree).toBe(EMPTY_TREE)
    expect(commit.parents).toEqual([PARENT])
    expect(text(commit.author)).toBe(who)
    expect(text(commit.committer)).toBe('C <c@d> 2 -0130')
    expect(commit.encoding).toBeNull()
    expect(text(commit.message)).toBe('subject\n\nbody\n')
  })

  it('keeps a signature and a merged tag whole', () => {
    const signature = '-----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----'
    const tag = `object ${PARENT}\n type commit\n tag x\n \n message`
    const commit = parseCommit(
      bytes(`${head}author ${who}\ncommitter ${who}\nmergetag ${tag}\ngpgsig ${signature}\n\nm`),
    )
    expect(commit.headers.map((header) => header.key)).toEqual([
      'tree',
      'parent',
      'author',
      'committer',
      'mergetag',
      'gpgsig',
    ])
    expect(text(commit.headers[4]!.value)).toBe(tag)
    expect(text(commit.headers[5]!.value)).toBe(signature)
    expect(text(commit.message)).toBe('m')
  })

  it.each([
    ['no final newline', `${head}author ${who}\ncommitter ${who}`, ''],
    ['an empty message', `${head}author ${who}\ncommitter ${who}\n\n`, ''],
    ['a message that starts with an empty line', `${head}author ${who}\ncommitter ${who}\n\n\nx`, '\nx'],
  ])('reads a commit with %s', (_, commit, message) => {
    expect(text(parseCommit(bytes(commit)).message)).toBe(message)
  })

  it('takes the first of doubled headers', () => {
    const commit = parseCommit(bytes(`${head}author ${who}\nauthor X <x@y> 3 +0000\ncommitter ${who}\n\n`))
    expect(text(commit.author)).toBe(who)
  })

  it('reads a commit without author or committer', () => {
    const commit = parseCommit(bytes(`tree ${EMPTY_TREE}\n\nx`))
    expect(commit.author).toHaveLength(0)
    expect(commit.committer).toHaveLength(0)
  })

  it('leaves bytes alone until they are shown', () => {
    const commit = parseCommit(
      bytes(`${head}author J\xe9 <a@b> 1 +0000\ncommitter ${who}\nencoding ISO-8859-1\n\nna\xefve`),
    )
    expect(commit.encoding).toBe('ISO-8859-1')
    expect([...commit.message]).toEqual([...bytes('na\xefve')])
    expect(decodeText(commit.message, commit.encoding)).toBe('naïve')
    expect(decodeText(parseSignature(commit.author).name, commit.encoding)).toBe('Jé')
  })

  it.each([
    ['nothing', ''],
    ['no tree', `parent ${PARENT}\n`],
    ['a short tree id', 'tree 1234\n'],
    ['a parent that is no id', `tree ${EMPTY_TREE}\nparent x\n`],
    ['a tree line without a space', `tree${EMPTY_TREE}\n`],
  ])('refuses %s', (_, commit) => {
    expect(() => parseCommit(bytes(commit))).toThrow(MalformedObjectError)
  })
})

describe('parseTag', () => {
  const head = `object ${PARENT}\ntype commit\ntag v1\n`

  it('reads an annotated tag', () => {
    const tag = parseTag(bytes(`${head}tagger T <t@u> 5 +0100\n\nmessage\n`))
    expect(tag).toMatchObject({ target: PARENT, targetType: COMMIT })
    expect(text(tag.name)).toBe('v1')
    expect(text(tag.tagger)).toBe('T <t@u> 5 +0100')
    expect(text(tag.message)).toBe('message\n')
  })

  it('reads a tag without a tagger, and one whose tagger has no date', () => {
    expect(parseTag(bytes(`${head}\nx`)).tagger).toHaveLength(0)
    expect(parseSignature(parseTag(bytes(`${head}tagger T <t@u>\n\nx`)).tagger).time).toBeNull()
  })

  it.each([
    ['nothing', ''],
    ['no type', `object ${PARENT}\ntag x\n`],
    ['an unknown type', `object ${PARENT}\ntype thing\ntag x\n`],
    ['no name', `object ${PARENT}\ntype commit\n\n`],
  ])('refuses %s', (_, tag) => {
    expect(() => parseTag(bytes(tag))).toThrow(MalformedObjectError)
  })
})

describe('parseSignature', () => {
  it.each<[string, string, string, number | null, string]>([
    ['A U Thor <a@b> 123 +0200', 'A U Thor', 'a@b', 123, '+0200'],
    ['A <a@b> 123 --700', 'A', 'a@b', 123, '--700'],
    ['A <a@b> 123 +051800', 'A', 'a@b', 123, '+051800'],
    ['A <a@b> 123', 'A', 'a@b', 123, ''],
    ['A <a@b>', 'A', 'a@b', null, ''],
    ['A <a@b> yesterday', 'A', 'a@b', null, ''],
    ['A <a@b> 99999999999999999999 +0000', 'A', 'a@b', null, '+0000'],
    ['A <a@b>> 123 +0000', 'A', 'a@b', 123, '+0000'],
    ['A <a@b 123 +0000', 'A', 'a@b 123 +0000', null, ''],
    ['<> 0 +0000', '', '', 0, '+0000'],
    ['nobody', 'nobody', '', null, ''],
    ['', '', '', null, ''],
  ])('reads %j', (line, name, email, time, zone) => {
    const signature = parseSignature(bytes(line))
    expect([text(signature.name), text(signature.email), signature.time, signature.zone]).toEqual([
      name,
      email,
      time,
      zone,
    ])
  })

  it('takes an unreadable zone for UTC', () => {
    expect(['+0530', '-0130', '--700', '+051800', ''].map(zoneMinutes)).toEqual([330, -90, 0, 0, 0])
  })
})

describe('decodeText', () => {
  it('falls back to Latin-1 where the bytes are no UTF-8 and no encoding is known', () => {
    expect(decodeText(bytes('caf\xe9'))).toBe('café')
    expect(decodeText(bytes('caf\xe9'), 'no-such-encoding')).toBe('café')
    expect(decodeText(new TextEncoder().encode('日本'))).toBe('日本')
    expect(decodeText(bytes('\xc6\xfc\xcb\xdc'), 'EUC-JP')).toBe('日本')
  })
})
