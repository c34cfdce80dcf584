import { describe, expect, it } from 'vitest'
import { createChangedLines } from '../../../git/diff/changed-lines.ts'
import { diffLines, type Hunk } from '../../../git/diff/diff-lines.ts'
import { diffByMyers } from '../../../git/diff/myers.ts'
import { endsInCrLf, LineNumbers, viewLines } from '../../../git/diff/text-lines.ts'
import { GIT_TIME, ScratchRepository } from '../git.ts'
import { Random } from '../random.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')
const lines = (numbers: readonly number[]) => numbers.map((number) => `line ${number}\n`).join('')

function diff(old: string, fresh: string): Hunk[] {
  const numbers = new LineNumbers()
  const [a, b] = [numbers.split(bytes(old)), numbers.split(bytes(fresh))]
  return diffLines(a.numbers, b.numbers, numbers.size)
}

/** The second text made from the first by a diff of the two. */
function patch(old: Uint32Array, fresh: Uint32Array, hunks: readonly Hunk[]): number[] {
  const made: number[] = []
  let at = 0
  for (const { oldStart, oldEnd, newStart, newEnd } of hunks) {
    made.push(...old.subarray(at, oldStart), ...fresh.subarray(newStart, newEnd))
    at = oldEnd
  }
  return [...made, ...old.subarray(at)]
}

/** How many lines the longest common part of two texts has. */
function commonLength(old: Uint32Array, fresh: Uint32Array): number {
  let row = new Array<number>(fresh.length + 1).fill(0)
  for (const line of old) {
    const next = [0]
    fresh.forEach((other, i) => {
      next.push(line === other ? row[i]! + 1 : Math.max(row[i + 1]!, next[i]!))
    })
    row = next
  }
  return row.at(-1)!
}

const randomLines = (random: Random, most: number, kinds: number) =>
  Uint32Array.from({ length: random.below(most) }, () => random.below(kinds))

describe('LineNumbers', () => {
  it('splits at line breaks, and keeps them', () => {
    const numbers = new LineNumbers()
    const text = numbers.split(bytes('a\nb\r\n\na\nb'))
    expect([...text.starts]).toEqual([0, 2, 5, 6, 8, 9])
    expect([...text.numbers]).toEqual([0, 1, 2, 0, 3])
    expect(Buffer.from(viewLines(text, 1, 3)).toString()).toBe('b\r\n\n')
    expect([0, 1, 2, 3, 4].map((line) => endsInCrLf(text, line))).toEqual([false, true, false, false, null])
    expect(numbers.size).toBe(4)
    expect([...numbers.split(bytes('b\na\n')).numbers]).toEqual([4, 0])
  })

  it('tells all bytes apart, and splits an empty text into nothing', () => {
    const numbers = new LineNumbers()
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => [byte, 10]).flat())
    numbers.split(all)
    expect(numbers.size).toBe(256)
    expect(numbers.split(bytes('')).numbers).toHaveLength(0)
  })
})

describe('diffLines', () => {
  it.each<[string, string, string, Hunk[]]>([
    ['nothing', 'a\n', 'a\n', []],
    ['two empty texts', '', '', []],
    ['all that is new', '', 'a\nb\n', [{ oldStart: 0, oldEnd: 0, newStart: 0, newEnd: 2 }]],
    ['all that is gone', 'a\nb\n', '', [{ oldStart: 0, oldEnd: 2, newStart: 0, newEnd: 0 }]],
    ['a line changed', 'a\nb\nc\n', 'a\nx\nc\n', [{ oldStart: 1, oldEnd: 2, newStart: 1, newEnd: 2 }]],
    ['a line break that is missing', 'a\nb\n', 'a\nb', [{ oldStart: 1, oldEnd: 2, newStart: 1, newEnd: 2 }]],
    ['a repeated line as the last', 'a\na\n', 'a\na\na\n', [{ oldStart: 2, oldEnd: 2, newStart: 2, newEnd: 3 }]],
  ])('finds %s', (_, old, fresh, hunks) => {
    expect(diff(old, fresh)).toEqual(hunks)
  })

  it('makes one text of the other, with a common line between two hunks', () => {
    const random = new Random(3)
    for (let round = 0; round < 500; round++) {
      const kinds = 1 + random.below(20)
      const [old, fresh] = [randomLines(random, 60, kinds), randomLines(random, 60, kinds)]
      const hunks = diffLines(old, fresh, kinds)
      expect(patch(old, fresh, hunks)).toEqual([...fresh])
      hunks.slice(1).forEach(({ oldStart, newStart }, i) => {
        expect(oldStart).toBeGreaterThan(hunks[i]!.oldEnd)
        expect(newStart).toBeGreaterThan(hunks[i]!.newEnd)
      })
    }
  })

  it('makes one text of the other where all lines are frequent', () => {
    const random = new Random(4)
    for (let round = 0; round < 20; round++) {
      const [old, fresh] = [randomLines(random, 1500, 3), randomLines(random, 1500, 3)]
      expect(patch(old, fresh, diffLines(old, fresh, 3))).toEqual([...fresh])
    }
  })

  it('finds what git diff --histogram finds', GIT_TIME, () => {
    const random = new Random(5)
    const trials = Array.from({ length: 150 }, () => {
      const kinds = random.pick([3, 10, 1000])
      const old = [...randomLines(random, 200, kinds)]
      const fresh = [...old]
      for (let edit = random.below(8); edit > 0; edit--) {
        fresh.splice(random.below(fresh.length + 1), random.below(4), ...randomLines(random, 4, kinds))
      }
      return { old: lines(old), fresh: lines(fresh) }
    })
    using repository = new ScratchRepository({ bare: true })
    const commit = (texts: readonly string[]) =>
      `commit refs/heads/main\ncommitter A <a@b> 1 +0000\ndata 0\n${texts.map((text, i) => `M 644 inline f${i}\ndata ${text.length}\n${text}\n`).join('')}\n`
    repository.git(
      ['fast-import', '--quiet', '--done'],
      `${commit(trials.map(({ old }) => old))}${commit(trials.map(({ fresh }) => fresh))}done\n`,
    )
    const args = ['diff', '--histogram', '--no-indent-heuristic', '-U0', 'main^', 'main']
    const found = new Map<string, string[]>()
    for (const line of repository.text(args).split('\n')) {
      if (line.startsWith('diff ')) found.set(line.slice(line.lastIndexOf('/') + 1), [])
      if (line.startsWith('@@')) [...found.values()].at(-1)!.push(/^@@ (.*) @@/.exec(line)![1]!)
    }
    // A range without lines is said by the line before it.
    const range = (start: number, end: number) =>
      `${end > start ? start + 1 : start}${end - start === 1 ? '' : `,${end - start}`}`
    trials.forEach(({ old, fresh }, i) => {
      const hunks = diff(old, fresh).map(
        ({ oldStart, oldEnd, newStart, newEnd }) => `-${range(oldStart, oldEnd)} +${range(newStart, newEnd)}`,
      )
      expect(hunks).toEqual(found.get(`f${i}`) ?? [])
    })
  })

  it('takes hundreds of thousands of lines that differ in every second, or in nearly all', () => {
    const length = 200_000
    const every = (first: number) => Uint32Array.from({ length }, (_, i) => (i % 2 === 0 ? i : first + i))
    expect(diffLines(every(length), every(2 * length), 3 * length)).toHaveLength(length / 2)
    const random = new Random(6)
    const few = () => Uint32Array.from({ length: length / 4 }, () => random.below(2))
    const [old, fresh] = [few(), few()]
    expect(patch(old, fresh, diffLines(old, fresh, 2))).toEqual([...fresh])
  })
})

describe('diffByMyers', () => {
  it('finds the shortest edit', () => {
    const random = new Random(7)
    for (let round = 0; round < 500; round++) {
      const kinds = 2 + random.below(10)
      const [old, fresh] = [randomLines(random, 30, kinds), randomLines(random, 30, kinds)]
      const changed = createChangedLines(old, fresh)
      diffByMyers(changed, { oldStart: 0, oldEnd: old.length, newStart: 0, newEnd: fresh.length })
      const kept = changed.old.isChanged.subarray(0, old.length).filter((is) => is === 0).length
      expect(kept).toBeLessThanOrEqual(commonLength(old, fresh))
      // What is taken for confusing beforehand may cost a line or two.
      expect(kept).toBeGreaterThanOrEqual(commonLength(old, fresh) - 2)
    }
  })
})
