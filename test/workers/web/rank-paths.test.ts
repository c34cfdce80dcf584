import { expect, it } from 'vitest'
import { rankPaths } from '../../../workers/web/palette/rank-paths.ts'

const PATHS = [
  'README.md',
  'git/refs/ref-order.ts',
  'git/graph/commit-graph.ts',
  'docs/git.md',
  'workers/git/router.ts',
  'src/Straße.ts',
]

it.each([
  ['readme', ['README.md']],
  ['gitref', ['git/refs/ref-order.ts']],
  ['git', ['docs/git.md', 'git/refs/ref-order.ts', 'workers/git/router.ts', 'git/graph/commit-graph.ts']],
  ['ref-order.ts', ['git/refs/ref-order.ts']],
  ['commit graph', ['git/graph/commit-graph.ts']],
  ['STRASSE', []],
  ['straß', ['src/Straße.ts']],
  ['zzz', []],
  ['  ', []],
])('%o finds %j', (query, found) => {
  expect(rankPaths(PATHS, query, 4)).toEqual(found)
})

it('finds no more than is asked for', () => {
  expect(rankPaths(PATHS, 't', 2)).toHaveLength(2)
})
