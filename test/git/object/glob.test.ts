import { expect, it } from 'vitest'
import { compileGlob } from '../../../git/object/glob.ts'

it.each([
  ['*.ts', ['a.ts', '.ts'], ['a.tsx', 'dir/a.ts', 'a.TS']],
  ['src/**', ['src/', 'src/a', 'src/a/b'], ['src', 'a/src/b']],
  ['**/index.*', ['a/index.ts', 'a/b/index.'], ['index.ts', 'a/index']],
  ['a?c', ['abc', 'aéc', 'a𝄞c'], ['ac', 'a/c', 'abbc']],
  ['a.b', ['a.b'], ['axb', 'a.b.c', '']],
])('%s', (pattern, fitting, others) => {
  const fits = compileGlob(pattern)
  expect(fitting.filter((name) => !fits(name))).toEqual([])
  expect(others.filter((name) => fits(name))).toEqual([])
})

it('takes time as both lengths do, whatever the pattern', () => {
  const fits = compileGlob(`${'*a'.repeat(100)}b`)
  expect(fits('a'.repeat(4096))).toBe(false)
})
