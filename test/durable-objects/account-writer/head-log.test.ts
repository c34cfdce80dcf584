import { describe, expect, test } from 'vitest'
import type { Landing, LandingResult } from '../../../atproto/account/landing.ts'
import { HeadLog } from '../../../durable-objects/account-writer/head-log.ts'

const REPO = '3mabcdefghij2'

function creating(name: string, head: number): Landing {
  const moves = [{ name, from: null, target: '1'.repeat(40), peeled: null }]
  return { did: 'did:plc:a', pds: 'https://pds.test', repo: REPO, create: null, pack: null, moves, atomic: false, head }
}

function landed(head: number): LandingResult {
  return { moves: [], packLanded: false, repository: 'unchanged', failure: null, head, isStale: false }
}

describe('landings that arrive together', () => {
  test('are brought up to the head that those before them left, and leave the mirror at the one that it knew', () => {
    const log = new HeadLog()
    const first = creating('refs/heads/a', 1)
    expect(log.bringUp(first)).toBe(first)
    expect(log.note(first, first, landed(2))).toEqual(landed(2))
    const second = creating('refs/heads/b', 1)
    const tried = log.bringUp(second)
    expect(tried.head).toBe(2)
    expect(log.note(second, tried, landed(3))).toEqual({ ...landed(1), isStale: true })
    expect(log.bringUp(creating('refs/heads/c', 1)).head).toBe(3)
    expect(log.bringUp(creating('refs/heads/c', 2)).head).toBe(3)
  })

  test('stay behind where the ref that they create was created in between', () => {
    const log = new HeadLog()
    log.note(creating('refs/heads/a', 1), creating('refs/heads/a', 1), landed(2))
    log.note(creating('refs/heads/b', 2), creating('refs/heads/b', 2), landed(3))
    expect(log.bringUp(creating('refs/heads/b', 1)).head).toBe(2)
    expect(log.bringUp(creating('refs/heads/a', 1)).head).toBe(1)
  })

  test('stay behind where a ref has come that stands in the way of theirs', () => {
    const log = new HeadLog()
    log.note(creating('refs/heads/a/b', 1), creating('refs/heads/a/b', 1), landed(2))
    expect(log.bringUp(creating('refs/heads/a', 1)).head).toBe(1)
    expect(log.bringUp(creating('refs/heads/a/b/c', 1)).head).toBe(1)
    expect(log.bringUp(creating('refs/heads/a/c', 1)).head).toBe(2)
  })

  test('are not brought up past a landing that others disturbed', () => {
    const log = new HeadLog()
    const first = creating('refs/heads/a', 1)
    log.note(first, first, { ...landed(4), isStale: true })
    expect(log.bringUp(creating('refs/heads/b', 1)).head).toBe(1)
  })
})
