import { expect, test } from 'vitest'
import { languageColors, languageShares } from '../../../../workers/web/render/languages.ts'

test('sizes by language, the largest first; data, prose and what others wrote do not count', () => {
  const shares = languageShares([
    { path: 'src/a.ts', size: 300 },
    { path: 'src/b.tsx', size: 300 },
    { path: 'Makefile', size: 200 },
    { path: 'tool.py', size: 200 },
    { path: 'README.md', size: 9000 },
    { path: 'data.json', size: 9000 },
    { path: 'vendor/x.c', size: 9000 },
    { path: 'a/node_modules/x.js', size: 9000 },
    { path: 'lib/x.min.js', size: 9000 },
    { path: 'empty.rb', size: 0 },
    { path: 'unknown', size: 9000 },
  ])
  expect(shares).toEqual([
    { id: 'typescript', name: 'TypeScript', bytes: 600, share: 0.6 },
    { id: 'makefile', name: 'Makefile', bytes: 200, share: 0.2 },
    { id: 'python', name: 'Python', bytes: 200, share: 0.2 },
  ])
})

test('small ones are one', () => {
  const extensions = ['c', 'go', 'rs', 'py', 'rb', 'js', 'ts', 'php', 'lua', 'hs', 'nim']
  const shares = languageShares(extensions.map((extension, at) => ({ path: `a.${extension}`, size: 100 - at })))
  expect(shares).toHaveLength(9)
  expect(shares.at(-1)).toMatchObject({ id: null, name: 'Other', bytes: 92 + 91 + 90 })
  expect(shares.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1)
})

test('of nothing there are no languages, and every language has a colour', () => {
  expect(languageShares([])).toEqual([])
  expect(languageColors()).toContain('.language-color-typescript{--language-color:#3178c6}')
})
