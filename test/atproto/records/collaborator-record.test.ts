import { expect, it } from 'vitest'
import { RIGHTS } from '../../../atproto/access/grant.ts'
import { decodeCollaboratorRecord } from '../../../atproto/records/collaborator-record.ts'
import { InvalidRecordError } from '../../../atproto/records/record-error.ts'

const BOB = 'did:plc:abcdefghijklmnopqrstuvwx'
const record = (fields: object = {}) => ({
  $type: 'dev.skein.collaborator',
  subject: BOB,
  createdAt: '2026-11-30T12:00:00Z',
  ...fields,
})

it('grants everything where it says nothing else', () => {
  expect(decodeCollaboratorRecord(BOB, record())).toEqual({ repositories: null, branches: null, rights: RIGHTS })
})

it('grants what it says, and no right that is not known', () => {
  const fields = { repositories: ['3lzkoq5qq2s2a'], branches: ['agents/*'], rights: ['commit', 'admin', '__proto__'] }
  expect(decodeCollaboratorRecord(BOB, record(fields))).toEqual({ ...fields, rights: ['commit'] })
  expect(decodeCollaboratorRecord(BOB, record({ rights: [] })).rights).toEqual([])
})

it.each<[string, unknown]>([
  ['about another account', record({ subject: 'did:plc:xxxxxxxxxxxxxxxxxxxxxxxx' })],
  ['of another type', record({ $type: 'dev.skein.repo' })],
  ['no object', 'everything'],
  ['null', null],
  ['a list', []],
  ['without a subject', { ...record(), subject: undefined }],
  ['a subject that is no DID', record({ subject: '*' })],
  ['repositories that are no list', record({ repositories: '*' })],
  ['repositories of numbers', record({ repositories: [1] })],
  ['a repository that is no key', record({ repositories: ['a/b'] })],
  ['null for a list', record({ branches: null })],
  ['a pattern that is none', record({ branches: ['main', 'refs/heads/*'] })],
  ['an empty pattern', record({ branches: [''] })],
  ['too many patterns', record({ branches: Array.from({ length: 101 }, (_, i) => `b${i}`) })],
  ['too many repositories', record({ repositories: Array.from({ length: 1001 }, (_, i) => `r${i}`) })],
  ['rights that are no list', record({ rights: 'commit' })],
  ['a right that is an object', record({ rights: [{}] })],
])('grants nothing: %s', (_, value) => {
  expect(() => decodeCollaboratorRecord(BOB, value)).toThrow(InvalidRecordError)
})
