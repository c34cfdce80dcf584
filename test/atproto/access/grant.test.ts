import { expect, it } from 'vitest'
import { type AccessTarget, EVERYTHING, type Grant, permits, type Right } from '../../../atproto/access/grant.ts'

const APP = '3lzkoq5qq2s2a'
const OTHER = '3lzkoq5qq2s2b'
const on = (ref: string | null, rkey: string | null = APP): AccessTarget => ({ rkey, ref })

const agent: Grant = { repositories: [APP], branches: ['agents/*'], rights: ['commit', 'branch'] }

it.each<[string, Grant, Right, AccessTarget, boolean]>([
  ['the owner, a branch', EVERYTHING, 'merge', on('refs/heads/main'), true],
  ['the owner, a tag', EVERYTHING, 'branch', on('refs/tags/v1'), true],
  ['the owner, a new repository', EVERYTHING, 'branch', on(null, null), true],
  ['a branch that fits', agent, 'commit', on('refs/heads/agents/7'), true],
  ['a branch that does not', agent, 'commit', on('refs/heads/main'), false],
  ['no branch in particular', agent, 'commit', on(null), true],
  ['a right that it lacks', agent, 'merge', on('refs/heads/agents/7'), false],
  ['another repository', agent, 'commit', on('refs/heads/agents/7', OTHER), false],
  ['a new repository', agent, 'branch', on(null, null), false],
  ['a new repository, with all of them', { ...agent, repositories: null }, 'branch', on(null, null), true],
  ['a tag that is named like a branch', agent, 'branch', on('refs/tags/agents/7'), false],
  ['a tag, with all branches', { ...agent, branches: null }, 'branch', on('refs/tags/v1'), true],
  ['a full name in a short one', agent, 'commit', on('agents/7'), false],
  ['reading, by another right', agent, 'read', on('refs/heads/main'), true],
  ['reading another repository', agent, 'read', on(null, OTHER), false],
  ['reading, without any right', { ...agent, rights: [] }, 'read', on(null), false],
  ['no repositories', { ...agent, repositories: [] }, 'commit', on(null), false],
  ['no branches', { ...agent, branches: [] }, 'commit', on('refs/heads/agents/7'), false],
])('%s', (_, grant, right, target, expected) => {
  expect(permits(grant, right, target)).toBe(expected)
})
