import { afterAll, describe, expect, it } from 'vitest'
import { unifiedHunks } from '../../../git/diff/unified.ts'
import { GIT_TIME, ScratchRepository } from '../git.ts'
import { Random } from '../random.ts'

const repository = new ScratchRepository({ bare: true })
afterAll(() => repository[Symbol.dispose]())

const ours = (old: string, fresh: string, context?: number) =>
  Buffer.from(unifiedHunks(Buffer.from(old), Buffer.from(fresh), context)).toString()

/** The hunks of git's own diff, without what it writes before the first and behind their positions. */
function gitHunks(old: string, fresh: string, context: number): string {
  const [a, b] = [old, fresh].map((text) => repository.store('blob', text)) as [string, string]
  const diff = Buffer.from(repository.git(['diff', '--histogram', `-U${context}`, a, b])).toString()
  return diff.slice(diff.indexOf('\n@@') + 1).replaceAll(/^(@@ .* @@).*$/gm, '$1')
}

describe('unifiedHunks', () => {
  it('writes nothing for equal texts', () => {
    expect(ours('a\n', 'a\n')).toBe('')
    expect(ours('', '')).toBe('')
  })

  it.each([
    ['a new file', '', 'a\nb\n'],
    ['a file that goes', 'a\nb\n', ''],
    ['one line', 'a\n', 'b\n'],
    ['no line break at the end', 'a', 'b'],
    ['a line break that comes', 'a\nb', 'a\nb\n'],
    ['a line break that goes', 'a\nb\n', 'a\nb'],
    ['a common last line without one', 'a\nb', 'c\nb'],
    ['CR LF', 'a\r\nb\r\n', 'a\r\nb\n'],
    ['lines at the start', 'b\nc\n', 'a\nb\nc\n'],
    ['lines that look like markers', '--- a\n+++ b\n', '@@ -1 +1 @@\n'],
  ])('writes what git writes: %s', (_, old, fresh) => {
    for (const context of [0, 3]) expect(ours(old, fresh, context)).toBe(gitHunks(old, fresh, context))
  })

  it('joins changes that are near as git does', GIT_TIME, () => {
    const random = new Random(7)
    for (let trial = 0; trial < 60; trial++) {
      const old = Array.from({ length: random.below(60) }, () => `line ${random.below(30)}\n`)
      const fresh = old.flatMap((line) => {
        const change = random.below(12)
        return change === 0 ? [] : change === 1 ? [line, `new ${random.below(9)}\n`] : [line]
      })
      if (old.join('') === fresh.join('')) continue
      const context = random.below(5)
      expect(ours(old.join(''), fresh.join(''), context)).toBe(gitHunks(old.join(''), fresh.join(''), context))
    }
  })
})
