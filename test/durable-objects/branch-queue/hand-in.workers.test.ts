import { describe, expect, it } from 'vitest'
import { findRepeated, handIn } from '../../../durable-objects/branch-queue/hand-in.ts'
import { KEPT_FOR } from '../../../durable-objects/branch-queue/limits.ts'
import { forgetOld, nextAlarm } from '../../../durable-objects/branch-queue/next-alarm.ts'
import { SubmissionRates } from '../../../durable-objects/branch-queue/submission-rates.ts'
import { tellAudit } from '../../../durable-objects/branch-queue/tell-audit.ts'
import type { AuditedLanding } from '../../../storage/access/landing-audit.ts'
import { ADDRESS, commitOf, inQueue, SUBMITTER, ticketOf } from './in-queue.ts'

describe('an idempotency key', () => {
  it('gives the same ticket for the same work, before and after it has landed, and after a restart', () =>
    inQueue(async (queue) => {
      queue.branch.push({ a: 'a' })
      const hand = () => ticketOf(queue.hand(commitOf('x'), { idempotencyKey: 'k' }))
      const ticket = hand()
      expect(hand()).toBe(ticket)
      await queue.drain.run()
      const state = queue.state(ticket)
      queue.restart()
      expect(hand()).toBe(ticket)
      expect(queue.state(ticket)).toEqual(state)
      await queue.drain.run()
      expect(await queue.branch.history()).toEqual(['pushed', 'x'])
    }))

  it('is not for other work', () =>
    inQueue(async (queue) => {
      queue.hand(commitOf('x'), { idempotencyKey: 'k' })
      const reused = { accepted: false, reason: 'key-reused', retryAfterSeconds: null }
      expect(queue.hand(commitOf('y'), { idempotencyKey: 'k' })).toMatchObject(reused)
      expect(queue.hand(commitOf('y'), { idempotencyKey: 'l' })).toMatchObject({ accepted: true })
      expect(queue.store.waiting().works).toBe(2)
    }))

  it('is its caller’s own: another may take the same, and nobody is told what it was', () =>
    inQueue(async (queue) => {
      const hand = (change: object) =>
        queue.hand(commitOf('x'), { idempotencyKey: '1', submitter: { ...SUBMITTER, ...change } })
      const callers = [{}, { tokenId: 'another' }, { tokenId: null }, { did: 'did:plc:other', tokenId: null }]
      const tickets = callers.map((caller) => ticketOf(hand(caller)))
      expect(new Set(tickets).size).toBe(4)
      expect(callers.map((caller) => ticketOf(hand(caller)))).toEqual(tickets)
      // No two callers and keys can be taken for each other.
      const odd = [
        { idempotencyKey: 'b","c', submitter: { ...SUBMITTER, tokenId: 'a' } },
        { idempotencyKey: 'c', submitter: { ...SUBMITTER, tokenId: 'a","b' } },
      ]
      expect(new Set(odd.map((one) => ticketOf(queue.hand(commitOf('x'), one)))).size).toBe(2)
    }))

  it('is known by what was asked for, where that is said', () =>
    inQueue(async (queue) => {
      const call = { idempotencyKey: 'k', asked: 'merge feature' }
      const repeat = (change: object = {}) =>
        findRepeated(queue, { submitter: SUBMITTER, waitMilliseconds: 0, ...call, ...change })
      expect(repeat()).toBe(null)
      const ticket = ticketOf(queue.hand(commitOf('x'), call))
      expect(ticketOf(queue.hand(commitOf('y'), call))).toBe(ticket)
      expect(repeat()).toEqual({ accepted: true, ticket })
      const reused = { accepted: false, reason: 'key-reused' }
      expect(queue.hand(commitOf('x'), { ...call, asked: 'merge another' })).toMatchObject(reused)
      expect(repeat({ asked: 'merge another' })).toMatchObject(reused)
      expect(repeat({ submitter: { ...SUBMITTER, tokenId: 'another' } })).toBe(null)
      expect(repeat({ idempotencyKey: 'l' })).toBe(null)
    }))

  it('is free again after a day, and the answer gone', () =>
    inQueue(async (queue) => {
      queue.branch.push({ a: 'a' })
      const ticket = ticketOf(queue.hand(commitOf('x'), { idempotencyKey: 'k' }))
      await queue.drain.run()
      const settledAt = queue.now
      await tellAudit({ store: queue.store, record: async () => undefined })
      expect(nextAlarm(queue.store, queue.now)).toBe(settledAt + KEPT_FOR)
      forgetOld(queue.store, settledAt + KEPT_FOR - 1)
      expect(queue.states([ticket])).toEqual(['landed'])
      forgetOld(queue.store, settledAt + KEPT_FOR)
      expect(queue.state(ticket)).toBe(null)
      expect(ticketOf(queue.hand(commitOf('y'), { idempotencyKey: 'k' }))).not.toBe(ticket)
    }))

  it('of work that waits outlives a day', () =>
    inQueue(async (queue) => {
      const ticket = ticketOf(queue.hand(commitOf('x'), { idempotencyKey: 'k' }))
      forgetOld(queue.store, queue.now + 10 * KEPT_FOR)
      expect(queue.states([ticket])).toEqual(['waiting'])
    }))
})

describe('answers with conflicts', () => {
  it('lose what they tell of it, the oldest first, where they take too much room', () =>
    inQueue(async (queue) => {
      queue.restart(100_000)
      const tickets = ['a', 'b', 'c', 'd'].map((path) => queue.commit(path))
      const merged = new Uint8Array(40_000)
      const path = new TextEncoder().encode('a')
      const conflicts = [{ path, kind: 'content', base: null, ours: null, theirs: null, merged }] as const
      const refusal = { reason: 'merge-conflict', message: 'the change conflicts', conflicts } as const
      const works = queue.store.nextBatch({ works: 4, bytes: 1_000_000 })
      const landed = {
        state: 'landed',
        commit: null,
        tree: null,
        parent: null,
        landing: { id: 'l', commits: 1 },
      } as const
      const outcomes = [{ state: 'refused', refusal } as const, landed, { state: 'refused', refusal } as const]
      queue.store.settle(
        outcomes.map((outcome, index) => ({ seq: works[index]!.seq, outcome })),
        queue.now,
      )
      expect(queue.state(tickets[0]!)).toMatchObject({ refusal: { conflicts: [{ merged }] } })
      queue.store.settle([{ seq: works[3]!.seq, outcome: { state: 'refused', refusal } }], queue.now)
      expect(queue.state(tickets[0]!)).toEqual({ state: 'refused', refusal: { ...refusal, conflicts: [] } })
      expect(queue.states([tickets[1]!])).toEqual(['landed'])
      expect(queue.state(tickets[2]!)).toMatchObject({ refusal: { conflicts: [{ merged }] } })
      expect(queue.state(tickets[3]!)).toMatchObject({ refusal: { conflicts: [{ merged }] } })
    }))
})

describe('a queue', () => {
  it('knows who handed work in', () =>
    inQueue(async (queue) => {
      const ticket = queue.commit('x')
      const isFrom = (change: object) => queue.store.isFrom(ticket, { ...SUBMITTER, ...change })
      expect(isFrom({})).toBe(true)
      expect([isFrom({ did: 'did:plc:other' }), isFrom({ tokenId: 'another' }), isFrom({ tokenId: null })]).toEqual([
        false,
        false,
        false,
      ])
      expect(queue.store.isFrom('none', SUBMITTER)).toBe(false)
      const mine = { ...SUBMITTER, tokenId: null, tokenLabel: null }
      expect(queue.store.isFrom(ticketOf(queue.hand(commitOf('y'), { submitter: mine })), mine)).toBe(true)
    }))

  it('takes so many, and so many bytes, and says when to come back', () =>
    inQueue(async (queue) => {
      const deps = {
        store: queue.store,
        rates: new SubmissionRates(),
        limits: { works: 3, bytes: 3_000 },
        now: () => queue.now,
        newTicket: () => crypto.randomUUID(),
      }
      const hand = (size: number) =>
        handIn(deps, {
          address: ADDRESS,
          work: commitOf('f', 'x'.repeat(size)),
          submitter: SUBMITTER,
          idempotencyKey: null,
          waitMilliseconds: 0,
        })
      const full = { accepted: false, reason: 'queue-full', retryAfterSeconds: 5 }
      // What is larger than the whole queue goes where nothing else waits.
      expect(hand(4_000)).toMatchObject({ accepted: true })
      expect(hand(1)).toMatchObject(full)
      queue.branch.push({ a: 'a' })
      await queue.drain.run()
      expect([hand(1), hand(2), hand(3), hand(4)].map(({ accepted }) => accepted)).toEqual([true, true, true, false])
      expect(hand(4)).toMatchObject(full)
    }))

  it('has a thing to do when work waits, is paused, has the audit to tell, or is old', () =>
    inQueue(async (queue) => {
      expect(nextAlarm(queue.store, queue.now)).toBe(null)
      queue.branch.push({ a: 'a' })
      queue.commit('x')
      expect(nextAlarm(queue.store, queue.now)).toBe(queue.now + 10_000)
      queue.store.setPause({ until: queue.now + 600_000, reason: 'later', failures: 1 })
      expect(nextAlarm(queue.store, queue.now)).toBe(queue.now + 600_000)
      expect(nextAlarm(queue.store, queue.now + 700_000)).toBe(queue.now + 710_000)
      queue.store.setPause(null)
      await queue.drain.run()
      expect(nextAlarm(queue.store, queue.now)).toBe(queue.now + 60_000)
    }))
})

describe('callers', () => {
  it('may hand in so many at once, then so many a minute, each for itself', () => {
    const rates = new SubmissionRates({ atOnce: 3, eachMilliseconds: 2_000 })
    const taken = Array.from({ length: 4 }, () => rates.take('a', 1_000))
    expect(taken).toEqual([null, null, null, 2])
    expect(rates.take('b', 1_000)).toBe(null)
    expect(rates.take('a', 2_500)).toBe(1)
    expect([rates.take('a', 3_000), rates.take('a', 3_000)]).toEqual([null, 2])
  })

  it('are told so where they are too fast', () =>
    inQueue(async (queue) => {
      queue.rates = new SubmissionRates({ atOnce: 1, eachMilliseconds: 1_000 })
      queue.commit('x')
      expect(queue.hand(commitOf('y'))).toMatchObject({
        accepted: false,
        reason: 'rate-limited',
        retryAfterSeconds: 1,
      })
      expect(queue.hand(commitOf('y'), { submitter: { ...SUBMITTER, tokenId: 'b' } })).toMatchObject({ accepted: true })
    }))
})

describe('the audit', () => {
  it('is told again what it could not be told, with the branch that it was on', () =>
    inQueue(async (queue) => {
      queue.branch.push({ a: 'a' })
      queue.commit('x')
      await queue.drain.run()
      const down = tellAudit({ store: queue.store, record: () => Promise.reject(new Error('D1 is down')) })
      await expect(down).rejects.toThrow('D1 is down')
      const told: AuditedLanding[] = []
      await tellAudit({ store: queue.store, record: async (rows) => void told.push(...rows) })
      const { did, rkey, ref } = ADDRESS
      expect(told).toEqual([
        {
          ticket: 'ticket1',
          landing: 'landing1',
          commit: queue.branch.tip,
          kind: 'commit',
          landedAt: queue.now,
          ...{ did, rkey, ref, submitter: 'did:plc:agent', token: 'token1', label: 'agent one' },
        },
      ])
      expect(queue.store.nextAudit(1)).toEqual([])
    }))
})
