import { describe, expect, it } from 'vitest'
import { mergeText } from '../../../git/merge/merge-text.ts'
import { GIT_TIME, ScratchRepository } from '../git.ts'
import { Random } from '../random.ts'
import { gitMerge } from './git-merge.ts'

interface Trial {
  readonly base: string
  readonly ours: string
  readonly theirs: string
}

/** What git makes of many trials at once: each is a file of one merge. */
function gitMerges(trials: readonly Trial[]): { text: string; isClean: boolean }[] {
  using repository = new ScratchRepository({ bare: true })
  const branch = (name: keyof Trial, from: string | null) => {
    const files = trials.map((trial, i) => `M 100644 inline f${i}\n${data(trial[name])}\n`)
    const parent = from === null ? '' : `from refs/heads/${from}\n`
    return `commit refs/heads/${name}\ncommitter A <a@b> 1 +0000\n${data('m')}\n${parent}${files.join('')}\n`
  }
  const stream = `${branch('base', null)}${branch('ours', 'base')}${branch('theirs', 'base')}done\n`
  repository.git(['fast-import', '--quiet', '--done'], Buffer.from(stream, 'latin1'))
  const { tree, conflicted } = gitMerge(repository, 'ours', 'theirs')
  const request = trials.map((_, i) => `${tree}:f${i}\n`).join('')
  let contents = Buffer.from(repository.git(['cat-file', '--batch'], request))
  return trials.map((_, i) => {
    const end = contents.indexOf('\n')
    const size = Number(contents.toString('latin1', 0, end).split(' ')[2])
    const text = contents.toString('latin1', end + 1, end + 1 + size)
    contents = contents.subarray(end + 2 + size)
    return { text, isClean: !conflicted.includes(`f${i}`) }
  })
}

function data(text: string): string {
  return `data ${text.length}\n${text}`
}

function merge({ base, ours, theirs }: Trial): { text: string; isClean: boolean } {
  const bytes = (text: string) => Buffer.from(text, 'latin1')
  const merged = mergeText(bytes(base), bytes(ours), bytes(theirs), { ours: 'ours', theirs: 'theirs' })
  return { text: Buffer.from(merged.bytes).toString('latin1'), isClean: merged.conflicts === 0 }
}

function expectSameAsGit(trials: readonly Trial[]): void {
  const wanted = gitMerges(trials)
  const different = trials.flatMap((trial, i) => {
    const ours = merge(trial)
    return ours.text === wanted[i]!.text && ours.isClean === wanted[i]!.isClean ? [] : [{ trial, git: wanted[i], ours }]
  })
  expect(different.slice(0, 1)).toEqual([])
  expect(different).toHaveLength(0)
}

interface Style {
  readonly stock: readonly string[]
  readonly lines: number
  readonly edits: number
  /** How often a line is one of its own. */
  readonly unique: number
}

function randomTrial(random: Random, style: Style): Trial {
  const line = () => (random.chance(style.unique) ? `line ${random.below(1e6)}` : random.pick(style.stock))
  const base = Array.from({ length: random.below(style.lines) }, line)
  const end = () => random.pick(['\n', '\n', '\n', ''])
  const side = () => {
    const lines = [...base]
    for (let edit = random.below(style.edits + 1); edit > 0; edit--) {
      const at = random.below(lines.length + 1)
      const length = 1 + random.below(3)
      const kind = random.below(4)
      if (kind === 0) lines.splice(at, 0, ...Array.from({ length }, line))
      else if (kind === 1) lines.splice(at, length)
      else if (kind === 2) lines.splice(at, length, ...Array.from({ length }, line))
      else lines.splice(at, 0, ...lines.slice(at, at + length * 3))
    }
    return joined(lines, end())
  }
  return { base: joined(base, end()), ours: side(), theirs: side() }
}

function joined(lines: readonly string[], end: string): string {
  return lines.length === 0 ? '' : lines.join('\n') + end
}

describe('mergeText', () => {
  const plain = 'one\ntwo\nthree\n'

  it.each<[string, Trial, string]>([
    ['both ends', { base: plain, ours: plain.replace('one', '1'), theirs: plain.replace('three', '3') }, '1\ntwo\n3\n'],
    [
      'the same change',
      { base: plain, ours: plain.replace('two', '2'), theirs: plain.replace('two', '2') },
      'one\n2\nthree\n',
    ],
    ['a final line break that comes', { base: 'a\nb\nc', ours: 'a\nb\nc\n', theirs: 'A\nb\nc' }, 'A\nb\nc\n'],
    ['nothing left', { base: plain, ours: '', theirs: '' }, ''],
    [
      'neighbours, which conflict',
      { base: plain, ours: plain.replace('one', '1'), theirs: plain.replace('two', '2') },
      '<<<<<<< ours\n1\ntwo\n=======\none\n2\n>>>>>>> theirs\nthree\n',
    ],
    [
      'a conflict at an end without a line break',
      { base: 'a\nb', ours: 'a\nB', theirs: 'a\nbb' },
      'a\n<<<<<<< ours\nB\n=======\nbb\n>>>>>>> theirs\n',
    ],
    [
      'a conflict between lines that end in CR LF',
      { base: 'a\r\nb\r\n', ours: 'a\r\nB\r\n', theirs: 'a\r\nbb' },
      'a\r\n<<<<<<< ours\r\nB\r\n=======\r\nbb\r\n>>>>>>> theirs\r\n',
    ],
  ])('merges %s', (_, trial, text) => {
    expect(merge(trial).text).toBe(text)
  })

  it('writes longer markers, and none of a label that is empty', () => {
    const text = (content: string) => new TextEncoder().encode(content)
    const merged = mergeText(text('a\n'), text('b\n'), text('c\n'), { ours: '', theirs: 'ünïcode' }, 9)
    expect(new TextDecoder().decode(merged.bytes)).toBe('<<<<<<<<<\nb\n=========\nc\n>>>>>>>>> ünïcode\n')
    expect(merged.conflicts).toBe(1)
  })

  it('takes thousands of conflicts in long texts', () => {
    const text = (name: string) =>
      new TextEncoder().encode(Array.from({ length: 100_000 }, (_, i) => `${i % 8 === 0 ? name : ''}${i}\n`).join(''))
    expect(mergeText(text('base'), text('ours'), text('theirs'), { ours: 'o', theirs: 't' }).conflicts).toBe(12_500)
  })

  it.each<[string, Style]>([
    ['short texts of few lines', { stock: ['a', 'b', 'c'], lines: 12, edits: 2, unique: 0.3 }],
    ['lines that repeat', { stock: ['', '}', '{', '  x'], lines: 40, edits: 4, unique: 0.3 }],
    ['nothing but lines that repeat', { stock: ['', '}', '{'], lines: 50, edits: 4, unique: 0 }],
    ['larger texts', { stock: ['', '}', '  return'], lines: 200, edits: 8, unique: 0.6 }],
    ['lines too frequent to split by', { stock: ['', '}', '{'], lines: 400, edits: 60, unique: 0.02 }],
    ['both ends of lines', { stock: ['a\r', 'a', 'b\r', '\r'], lines: 15, edits: 2, unique: 0.2 }],
    ['bytes above ASCII', { stock: ['\xff', '\x80\x81', '\xc3\xa9', '\x9d'], lines: 15, edits: 2, unique: 0.2 }],
  ])('merges as git does: %s', { ...GIT_TIME }, (name, style) => {
    const random = new Random(name.length)
    expectSameAsGit(Array.from({ length: 250 }, () => randomTrial(random, style)))
  })
})
