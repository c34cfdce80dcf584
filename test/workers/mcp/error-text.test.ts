import { describe, expect, it } from 'vitest'
import { HttpError } from '../../../workers/http/http-error.ts'
import { errorText } from '../../../workers/mcp/error-text.ts'

const conflict = (details: object) =>
  new HttpError(409, 'MergeConflict', 'the change conflicts', {}, { conflicts: [{ kind: 'content', ...details }] })
const side = (digit: string, text?: string) => ({ oid: digit.repeat(40), ...(text === undefined ? {} : { text }) })

describe('errorText', () => {
  it('says what happened and what to do', () => {
    const busy = new HttpError(429, 'QueueFull', 'too much waits', { 'Retry-After': '7' })
    expect(errorText(busy, 'commit')).toBe('QueueFull: too much waits\nCall again in 7 s.')
    expect(errorText(new HttpError(500, 'InternalServerError', 'logged'), 'log')).toBe('InternalServerError: logged')
    const moved = new HttpError(409, 'TipMoved', 'moved', {}, { present: 'a'.repeat(40) })
    expect(errorText(moved, 'merge').split('\n')).toEqual([
      'TipMoved: moved',
      `Present: ${'a'.repeat(40)}`,
      expect.stringContaining('expectTip'),
    ])
  })

  it('shows the sides of a conflict that has no merged text', () => {
    const text = errorText(
      conflict({ path: 'a\nb', kind: 'add/add', ours: side('1', 'ours\n'), theirs: side('2') }),
      'commit',
    )
    expect(text).toContain('\n\n=== "a\\nb" (add/add)\n')
    expect(text).toContain(
      `the branch has: blob ${'1'.repeat(40)}; yours: blob ${'2'.repeat(40)}\n--- the branch has:\nours\n\nTo go on`,
    )
  })

  it('leaves out texts that are too long, and names how a merge goes on', () => {
    const text = errorText(conflict({ path: 'a', merged: 'x'.repeat(70_000) }), 'merge')
    expect(text.length).toBeLessThan(2_000)
    expect(text).toContain('left out, too long')
    expect(text).toContain('On the source branch')
  })
})
