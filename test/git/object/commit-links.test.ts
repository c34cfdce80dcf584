import { describe, expect, it } from 'vitest'
import { oidFromBytes } from '../../../git/bytes/oid.ts'
import { parseCommit } from '../../../git/object/commit.ts'
import { readCommitLinks } from '../../../git/object/commit-links.ts'
import { MalformedObjectError } from '../../../git/object/malformed-object-error.ts'
import { Random } from '../random.ts'

const TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const PARENT = 'ab'.repeat(20)
const latin1 = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))

/** What the two readers find in a commit; null where they refuse it. */
function links(bytes: Uint8Array) {
  const found: string[] = []
  try {
    const committer = readCommitLinks(bytes, {
      tree: (oid) => found.push(oidFromBytes(oid)),
      parent: (oid) => found.push(oidFromBytes(oid)),
    })
    return { found, committer: Buffer.from(committer).toString('latin1') }
  } catch (error) {
    if (error instanceof MalformedObjectError) return null
    throw error
  }
}

function parsed(bytes: Uint8Array) {
  try {
    const { tree, parents, committer } = parseCommit(bytes)
    return { found: [tree, ...parents], committer: Buffer.from(committer).toString('latin1') }
  } catch (error) {
    if (error instanceof MalformedObjectError) return null
    throw error
  }
}

describe('readCommitLinks', () => {
  it.each<[string, string]>([
    ['a root', `tree ${TREE}\nauthor A <a@b> 1 +0000\ncommitter C <c@d> 2 +0000\n\nmessage\n`],
    ['a merge', `tree ${TREE}\nparent ${PARENT}\nparent ${TREE}\ncommitter C <c@d> 2 +0000\n\n`],
    ['no committer', `tree ${TREE}\n\ncommitter in the message`],
    ['nothing but a tree', `tree ${TREE}`],
    ['a late parent', `tree ${TREE}\nauthor A\nparent ${PARENT}\ncommitter C\n\n`],
    ['two committers', `tree ${TREE}\ncommitter A\ncommitter B\n\n`],
    ['a committer that goes on', `tree ${TREE}\ncommitter A\n and on\nencoding x\n\n`],
    ['a committer inside a mergetag', `tree ${TREE}\nmergetag object\n committer X\ncommitter C\n\n`],
    ['a committer without a value', `tree ${TREE}\ncommitter\ncommitter C\n\n`],
    ['nothing', ''],
    ['no tree', `parent ${PARENT}\n`],
    ['a tree in capitals', `tree ${TREE.toUpperCase()}\n`],
    ['a tree id that goes on', `tree ${TREE}0\n`],
    ['a tree line that goes on', `tree ${TREE}\n x\n`],
    ['a tree line of two spaces', `tree  ${TREE}\n`],
    ['a short parent', `tree ${TREE}\nparent ${PARENT.slice(1)}\n`],
    ['a parent that is cut off', `tree ${TREE}\nparent ${PARENT.slice(20)}`],
    ['a parent without a value', `tree ${TREE}\nparent\ncommitter C\n`],
  ])('reads %s as parseCommit does', (_, commit) => {
    expect(links(latin1(commit))).toEqual(parsed(latin1(commit)))
  })

  it('reads changed commits as parseCommit does', () => {
    const random = new Random(8)
    const commit = latin1(
      `tree ${TREE}\nparent ${PARENT}\nparent ${PARENT}\nauthor A <a@b> 1 +0000\ncommitter C <c@d> 2 +0000\ngpgsig x\n y\n\nm\n`,
    )
    for (let round = 0; round < 5000; round++) {
      const bytes = commit.slice(0, random.chance(0.3) ? random.below(commit.length) : commit.length)
      for (let changes = random.below(3); changes > 0; changes--) {
        if (bytes.length > 0) bytes[random.below(bytes.length)] = random.pick([0x0a, 0x20, 0x61, 0x00, 0xff, 0x47])
      }
      expect(links(bytes)).toEqual(parsed(bytes))
    }
  })
})
