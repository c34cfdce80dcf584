import { expect, it } from 'vitest'
import { isBranchPattern, matchesBranch } from '../../../git/refs/branch-pattern.ts'
import { Random } from '../random.ts'

it.each([
  ['main', 'main', true],
  ['main', 'main2', false],
  ['main', 'xmain', false],
  ['agents/*', 'agents/7', true],
  ['agents/*', 'agents/', true],
  ['agents/*', 'agents', false],
  ['agents/*', 'agents/7/try', false],
  ['agents/**', 'agents/7/try', true],
  ['*', 'main', true],
  ['*', 'agents/7', false],
  ['**', 'agents/7', true],
  ['***', 'agents/7', true],
  ['**/fix', 'a/b/fix', true],
  ['**/fix', 'fix', false],
  ['a*c', 'abbc', true],
  ['a*c', 'ab/c', false],
  ['a**c', 'ab/c', true],
  ['?', '/', false],
  ['v?', 'v1', true],
  ['v?', 'v', false],
  ['v?', 'v12', false],
  ['日?', '日本', true],
  ['?', '🦢', true],
  ['a.c', 'abc', false],
  ['a+', 'aa', false],
])('%s against %s: %s', (pattern, branch, expected) => {
  expect(matchesBranch(pattern, branch)).toBe(expected)
})

it('is what a regular expression says', () => {
  const random = new Random(7)
  const text = (alphabet: string, most: number) =>
    Array.from({ length: 1 + random.below(most) }, () => alphabet[random.below(alphabet.length)]).join('')
  for (let i = 0; i < 5_000; i++) {
    const pattern = text('ab/*?', 7)
    const branch = text('ab/', 7)
    const source = pattern.replaceAll(/\*\*+|\*|\?/g, (part) => ({ '*': '[^/]*', '?': '[^/]' })[part] ?? '.*')
    expect(matchesBranch(pattern, branch), `${pattern} ${branch}`).toBe(new RegExp(`^${source}$`).test(branch))
  }
})

it('takes no longer for a pattern that is made to take long', () => {
  const hostile = `${'a*'.repeat(126)}b`
  expect(isBranchPattern(hostile)).toBe(true)
  expect(matchesBranch(hostile, 'a'.repeat(1_000))).toBe(false)
  expect(matchesBranch(hostile, `${'a'.repeat(1_000)}b`)).toBe(true)
})

it.each(['main', 'agents/*', '**', 'a?b', 'release-*/x'])('%s is a pattern', (pattern) => {
  expect(isBranchPattern(pattern)).toBe(true)
})

it.each([
  '',
  'refs/heads/main',
  'refs/*',
  '/main',
  'main/',
  'a//b',
  'a b',
  'a..b',
  '[ab]',
  'a\n',
  '.x',
  'x.lock',
  'x'.repeat(256),
])('%j is none', (pattern) => {
  expect(isBranchPattern(pattern)).toBe(false)
})
