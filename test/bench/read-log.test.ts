import { expect, test } from 'vitest'
import { findDisorder } from '../../bench/swarm/read-log.ts'

const log = (...subjects: string[]) => subjects.map((subject) => ({ oid: '0'.repeat(40), subject }))

test('commits of several in any order, each in its own, are in order', () => {
  const subjects = ['base', 'agent 1 commit 0', 'agent 10 commit 0', 'agent 1 commit 2', 'agent 10 commit 1', 'end']
  expect(findDisorder(log(...subjects))).toEqual([])
})

test('one that comes after a later one of the same is not', () => {
  const subjects = ['agent 1 commit 0', 'agent 1 commit 10', 'agent 2 commit 1', 'agent 1 commit 9', 'agent 2 commit 0']
  expect(findDisorder(log(...subjects))).toEqual(['agent 1 commit 9', 'agent 2 commit 0'])
})
