import { expect, it } from 'vitest'
import { EVERYTHING, type Grant } from '../../../atproto/access/grant.ts'
import type { Identity } from '../../../atproto/identity/identity.ts'
import type { RepositoryGraph } from '../../../git/graph/repository-graph.ts'
import { tokenCaller } from '../../../workers/auth/caller.ts'
import { refuseForced, refuseMove } from '../../../workers/git/push-rights.ts'
import { oid } from '../../git/protocol/wire.ts'
import { ParentGraph } from '../../git/walk/parent-graph.ts'

const ALICE: Identity = { did: 'did:plc:alice', handle: 'alice.test', pds: 'https://pds.test' }
const APP = '3lzkoq5qq2s2a'
const ZERO = oid(0)

function callerWith(grant: Partial<Grant>) {
  const token = { id: 't', did: ALICE.did, label: 'ci', createdAt: 0, expiresAt: 0, revokedAt: null }
  return tokenCaller(ALICE, { ...token, grant: { ...EVERYTHING, ...grant } }, 'edge.test')
}

const update = (name: string) => ({ name, old: oid(1), new: oid(2) })
const creation = (name: string) => ({ name, old: ZERO, new: oid(2) })
const deletion = (name: string) => ({ name, old: oid(1), new: ZERO })

it.each<[string, Partial<Grant>, { name: string; old: string; new: string }, string | null]>([
  ['an update with commit', { rights: ['commit'] }, update('refs/heads/main'), null],
  ['an update with branch', { rights: ['branch'] }, update('refs/heads/main'), null],
  ['an update with merge', { rights: ['merge'] }, update('refs/heads/main'), 'commit to main'],
  ['a creation with commit', { rights: ['commit'] }, creation('refs/heads/new'), 'create, delete or rewrite new'],
  ['a creation with branch', { rights: ['branch'] }, creation('refs/heads/new'), null],
  ['a deletion with commit', { rights: ['commit'] }, deletion('refs/heads/new'), 'create, delete or rewrite new'],
  ['a deletion with branch', { rights: ['branch'] }, deletion('refs/heads/new'), null],
  ['another branch', { branches: ['agents/*'] }, update('refs/heads/main'), 'commit to main'],
  ['a tag with commit', { rights: ['commit'] }, update('refs/tags/v1'), 'create, delete or rewrite refs/tags/v1'],
  ['a tag with branch', { rights: ['branch'] }, creation('refs/tags/v1'), null],
  ['a tag where branches are named', { branches: ['**'] }, creation('refs/tags/v1'), 'create, delete or rewrite refs/'],
  ['a note', { rights: ['commit'] }, update('refs/notes/commits'), 'create, delete or rewrite refs/notes'],
  ['another repository', { repositories: ['other'] }, update('refs/heads/main'), 'commit to main'],
])('%s', (_, grant, move, refused) => {
  const answer = refuseMove(callerWith(grant), APP, move)
  expect(answer).toEqual(refused === null ? null : expect.stringContaining(`the token 'ci' may not ${refused}`))
})

it('lets only who may rewrite branches lose commits', () => {
  //  0 - 1 - 2
  //    \ 3
  const parents = new ParentGraph([[], [0], [1], [0]])
  const names = [oid(10), oid(11), oid(12), oid(13)]
  const graph = Object.assign(parents, { find: (name: string) => names.indexOf(name) }) as unknown as RepositoryGraph
  const refused = (rights: Grant['rights'], from: string, to: string, name = 'refs/heads/main') =>
    refuseForced(callerWith({ rights }), APP, { name, old: from, new: to }, graph)
  expect(refused(['commit'], oid(10), oid(12))).toBe(null)
  expect(refused(['commit'], oid(12), oid(12))).toBe(null)
  expect(refused(['commit'], oid(12), oid(13))).toMatch(/^the token 'ci' may not .* main: this is no fast-forward/)
  expect(refused(['commit'], oid(12), oid(10))).toMatch(/no fast-forward/)
  expect(refused(['commit'], oid(99), oid(12))).toMatch(/no fast-forward/)
  expect(refused(['branch'], oid(12), oid(13))).toBe(null)
  expect(refused(['commit'], ZERO, oid(12))).toBe(null)
})
