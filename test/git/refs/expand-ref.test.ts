import { expect, it } from 'vitest'
import { expandRef } from '../../../git/refs/expand-ref.ts'

const names = [
  'HEAD',
  'refs/heads/main',
  'refs/heads/v1',
  'refs/tags/v1',
  'refs/remotes/up/main',
  'refs/remotes/up/HEAD',
]
const refs = new Map(names.map((name) => [name, name]))

it.each([
  ['HEAD', ['HEAD']],
  ['main', ['refs/heads/main']],
  ['heads/main', ['refs/heads/main']],
  ['refs/heads/main', ['refs/heads/main']],
  ['v1', ['refs/tags/v1', 'refs/heads/v1']],
  ['up/main', ['refs/remotes/up/main']],
  ['up', ['refs/remotes/up/HEAD']],
  ['nothing', []],
  ['', []],
])('%j means %j', (name, meant) => {
  expect(expandRef(name, refs)).toEqual(meant)
})
