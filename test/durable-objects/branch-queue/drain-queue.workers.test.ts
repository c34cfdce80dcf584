import { describe, expect, it } from 'vitest'
import type { Grant } from '../../../atproto/access/grant.ts'
import { PdsError, PdsUnreachableError } from '../../../atproto/pds/pds-error.ts'
import { refusal as accountRefusal, RefusedError } from '../../../durable-objects/account-writer/answers.ts'
import type { Submitter } from '../../../durable-objects/branch-queue/answers.ts'
import { MirrorUnavailableError, RepositoryGoneError } from '../../../durable-objects/repository/mirror-errors.ts'
import { utf8 } from '../../git/pack/pack-builder.ts'
import { ADDRESS, commitOf, inQueue, SUBMITTER, type TestQueue, ticketOf } from './in-queue.ts'

/** A queue whose branch has one commit, of a file `a`. */
function started(test: (queue: TestQueue) => Promise<void>): Promise<void> {
  return inQueue(async (queue) => {
    queue.branch.push({ a: 'a' }, 'first')
    await test(queue)
  })
}

const times = (n: number) => Array.from({ length: n }, (_, i) => `f${i}`)
const many = (queue: TestQueue, n: number) => times(n).map((path) => queue.commit(path))

describe('what waits', () => {
  it('lands as one: each its own commit, in order, and each is told its own', () =>
    started(async (queue) => {
      const tickets = many(queue, 16)
      await queue.drain.run()
      expect(queue.branch.landings).toEqual([16])
      expect(await queue.branch.history()).toEqual(['first', ...times(16)])
      expect(queue.told).toEqual(tickets)
      const states = tickets.map((ticket) => queue.state(ticket))
      for (const [i, state] of states.entries()) {
        const before = states[i - 1]
        expect(state).toMatchObject({ state: 'landed', landing: { id: 'landing1', commits: 16 } })
        if (state?.state === 'landed' && before?.state === 'landed') expect(state.parent).toBe(before.commit)
      }
      expect(states.at(-1)).toMatchObject({ commit: queue.branch.tip })
    }))

  it('gathers while a landing is in flight', () =>
    started(async (queue) => {
      queue.commit('one')
      queue.branch.fates.push({ before: () => void many(queue, 15) })
      await queue.drain.run()
      expect(queue.branch.landings).toEqual([1, 15])
      expect(await queue.branch.history()).toEqual(['first', 'one', ...times(15)])
    }))

  it('waits a moment for those who were answered together, as long as they are not all back', () =>
    started(async (queue) => {
      const takes = (milliseconds: number) => {
        queue.branch.fates.push({
          before: () => {
            queue.now += milliseconds
          },
        })
      }
      many(queue, 4)
      takes(80)
      await queue.drain.run()
      expect(queue.pauses).toEqual([])
      queue.commit('back')
      takes(400)
      await queue.drain.run()
      expect(queue.pauses).toEqual([5, 5, 5, 5])
      // One alone waits for nobody, and nobody waits for those who are away for longer.
      queue.commit('alone')
      takes(400)
      await queue.drain.run()
      for (const path of ['a1', 'a2', 'a3']) queue.commit(path)
      takes(400)
      await queue.drain.run()
      queue.now += 100
      queue.commit('late')
      await queue.drain.run()
      expect(queue.pauses).toHaveLength(4)
    }))

  it('goes as soon as all are back who were answered together', () =>
    started(async (queue) => {
      many(queue, 4)
      queue.branch.fates.push({
        before: () => {
          queue.now += 400
        },
      })
      await queue.drain.run()
      const others = ['b2', 'b3', 'b4']
      queue.onPause = () => void queue.commit(others.shift()!)
      queue.commit('b1')
      await queue.drain.run()
      expect(queue.pauses).toEqual([5, 5, 5])
      expect(queue.branch.landings).toEqual([4, 4])
    }))

  it('waits with those who have come meanwhile, so that two halves do not take turns', () =>
    started(async (queue) => {
      many(queue, 4)
      queue.branch.fates.push({
        before: () => {
          queue.now += 400
          for (const path of ['b1', 'b2', 'b3', 'b4']) queue.commit(path)
        },
      })
      queue.onPause = () => {
        for (const path of ['c1', 'c2', 'c3', 'c4']) queue.commit(path)
      }
      await queue.drain.run()
      expect(queue.pauses).toEqual([5])
      expect(queue.branch.landings).toEqual([4, 8])
    }))

  it('is landed without another question as long as nobody else moves the branch', () =>
    started(async (queue) => {
      for (const path of times(5)) {
        queue.commit(path)
        await queue.drain.run()
      }
      expect(queue.branch.landings).toEqual([1, 1, 1, 1, 1])
      expect(queue.branch.looks).toEqual(['mirror'])
    }))

  it('is cut where a batch is full, by number and by bytes', () =>
    started(async (queue) => {
      queue.limits = { works: 4, bytes: 1_000_000 }
      many(queue, 10)
      await queue.drain.run()
      expect(queue.branch.landings).toEqual([4, 4, 2])
      queue.limits = { works: 100, bytes: 2_500 }
      for (const path of ['x', 'y', 'z']) queue.commit(path, path.repeat(1_000))
      queue.commit('large', 'l'.repeat(5_000))
      queue.commit('small')
      await queue.drain.run()
      expect(queue.branch.landings.slice(3)).toEqual([2, 1, 1, 1])
      expect((await queue.branch.history()).slice(-5)).toEqual(['x', 'y', 'z', 'large', 'small'])
    }))

  it('is stored in rows of at most a mebibyte, and comes out as it was', () =>
    started(async (queue) => {
      queue.limits = { works: 100, bytes: 10_000_000 }
      const content = 'c'.repeat(3_500_000)
      queue.commit('big', content)
      await queue.drain.run()
      expect(await queue.branch.read('big')).toBe(content)
    }))

  it('deletes a branch alone, and goes on with what creates it again', () =>
    started(async (queue) => {
      const target = queue.branch.tip!
      const tickets = [
        queue.commit('before'),
        ticketOf(queue.hand({ kind: 'delete', expectedTip: null })),
        ticketOf(queue.hand({ kind: 'create', target })),
        queue.commit('after'),
      ]
      await queue.drain.run()
      expect(queue.branch.landings).toEqual([1, 1, 2])
      expect(queue.states(tickets)).toEqual(['landed', 'landed', 'landed', 'landed'])
      expect(await queue.branch.history()).toEqual(['first', 'after'])
      expect(queue.state(tickets[1]!)).toMatchObject({ commit: null, tree: null })
      expect(queue.state(tickets[2]!)).toMatchObject({ commit: target, parent: null })
    }))
})

describe('refused work', () => {
  const conflicting = (queue: TestQueue) => {
    const base = queue.branch.tip!
    const based = (path: string, content: string) => ({ ...commitOf(path, content), base })
    return [queue.hand(based('n', '1\n')), queue.hand(based('n', '2\n')), queue.hand(based('o', '3\n'))].map(ticketOf)
  }

  it('in the middle of a batch leaves the others in it', () =>
    started(async (queue) => {
      const tickets = conflicting(queue)
      await queue.drain.run()
      expect(queue.states(tickets)).toEqual(['landed', 'merge-conflict', 'landed'])
      expect(queue.branch.landings).toEqual([2])
      expect(queue.told.sort()).toEqual([...tickets].sort())
    }))

  it('is judged anew where what it conflicts with did not land', () =>
    started(async (queue) => {
      const base = queue.branch.tip!
      const expecting = { ...commitOf('n', 'mine'), base: null, expect: [{ path: utf8('n'), oid: null }] }
      const guard = {
        ...commitOf('n', 'first'),
        expect: [{ path: utf8('a'), oid: queue.branch.objects.blob('a') }],
      }
      const tickets = [queue.hand(guard), queue.hand(expecting)].map(ticketOf)
      // Somebody changes `a`, so that the first is refused, and the second has nothing in its way.
      queue.branch.fates.push({ before: () => void queue.branch.push({ a: 'changed' }) })
      await queue.drain.run()
      expect(queue.states(tickets)).toEqual(['unexpected', 'landed'])
      expect(await queue.branch.read('n')).toBe('mine')
      expect(base).not.toBe(queue.branch.tip)
    }))

  it('is refused by what the mirror says now, not by what was so at the last landing', () =>
    started(async (queue) => {
      queue.commit('b')
      await queue.drain.run()
      queue.branch.push({ a: 'by a push' })
      const [now, old] = [queue.branch.objects.blob('by a push'), queue.branch.objects.blob('a')]
      const ticket = ticketOf(queue.hand({ ...commitOf('c'), expect: [{ path: utf8('a'), oid: now }] }))
      const wrong = ticketOf(queue.hand({ ...commitOf('d'), expect: [{ path: utf8('a'), oid: old }] }))
      await queue.drain.run()
      expect(queue.states([ticket, wrong])).toEqual(['landed', 'unexpected'])
      expect(queue.branch.looks).toEqual(['mirror', 'mirror'])
    }))

  it('for a commit that is not there is looked up in the account, but not each time', () =>
    started(async (queue) => {
      const unknown = { ...commitOf('x'), base: 'f'.repeat(40) }
      const tickets = [ticketOf(queue.hand(unknown))]
      await queue.drain.run()
      expect(queue.branch.looks).toEqual(['mirror', 'account'])
      tickets.push(ticketOf(queue.hand(unknown)))
      await queue.drain.run()
      expect(queue.branch.looks).toEqual(['mirror', 'account', 'mirror'])
      queue.now += 2_000
      tickets.push(ticketOf(queue.hand(unknown)))
      await queue.drain.run()
      expect(queue.branch.looks.at(-1)).toBe('account')
      expect(queue.states(tickets)).toEqual(Array(3).fill('unknown-commit'))
      expect(queue.branch.landings).toEqual([])
    }))
})

describe('a lost race', () => {
  it('is run again on where the branch is then, after a pause that grows', () =>
    started(async (queue) => {
      const tickets = many(queue, 3)
      queue.branch.fates.push({ before: () => void queue.branch.push({ a: 'b' }) })
      queue.branch.fates.push({ before: () => void queue.branch.push({ a: 'c' }) })
      await queue.drain.run()
      expect(queue.states(tickets)).toEqual(['landed', 'landed', 'landed'])
      expect(await queue.branch.history()).toEqual(['first', 'pushed', 'pushed', ...times(3)])
      expect(queue.branch.looks).toEqual(['mirror', 'mirror', 'account'])
      expect(queue.pauses).toEqual([10, 20])
      expect(queue.store.attempts()).toEqual([])
    }))
})

describe('a landing whose answer is lost', () => {
  it('is found in the account where it has landed, and is not made again', () =>
    started(async (queue) => {
      const tickets = many(queue, 3)
      queue.branch.fates.push({ answer: { isUncertain: true } })
      await queue.drain.run()
      expect(queue.states(tickets)).toEqual(['waiting', 'waiting', 'waiting'])
      expect(queue.told).toEqual([])
      expect(queue.state(tickets[2]!)).toEqual({
        state: 'waiting',
        ahead: 2,
        reason: 'pds.test does not answer',
        retryAfterSeconds: 1,
      })
      queue.now += 1_000
      await queue.drain.run()
      expect(queue.states(tickets)).toEqual(['landed', 'landed', 'landed'])
      expect(queue.state(tickets[1]!)).toMatchObject({ landing: { id: 'landing1', commits: 3 } })
      expect(await queue.branch.history()).toEqual(['first', ...times(3)])
      expect(queue.store.pause()).toBe(null)
    }))

  it('is made again where it has not', () =>
    started(async (queue) => {
      const tickets = many(queue, 3)
      queue.branch.fates.push({ arrives: false, answer: { isUncertain: true } })
      await queue.drain.run()
      queue.now += 1_000
      tickets.push(queue.commit('later'))
      await queue.drain.run()
      expect(queue.states(tickets)).toEqual(['landed', 'landed', 'landed', 'landed'])
      expect(await queue.branch.history()).toEqual(['first', ...times(3), 'later'])
      expect(queue.store.attempts()).toEqual([])
    }))

  it('that arrives after it was looked for makes the next one lose, and is found then', () =>
    started(async (queue) => {
      const tickets = many(queue, 2)
      let arrive: () => void = () => undefined
      queue.branch.fates.push({ arrives: false, answer: { isUncertain: true } })
      const { prepare } = queue.branch
      // The first landing is kept, to arrive while the second one is on its way.
      queue.branch.prepare = async function (position, fold) {
        const landing = await prepare.call(this, position, fold)
        arrive = () => void landing.land()
        this.prepare = prepare
        return landing
      }
      await queue.drain.run()
      queue.now += 1_000
      tickets.push(queue.commit('later'))
      queue.branch.fates.push({ before: () => arrive() })
      await queue.drain.run()
      expect(queue.states(tickets)).toEqual(['landed', 'landed', 'landed'])
      expect(await queue.branch.history()).toEqual(['first', ...times(2), 'later'])
      expect(queue.branch.landings).toEqual([2, 1])
      expect(queue.logs).toContain('landing-found')
    }))

  it.each([
    ['after it has landed', true],
    ['before it has landed', false],
  ])('since the object was cut off %s lands once', (_, arrives) =>
    started(async (queue) => {
      const tickets = many(queue, 3)
      queue.branch.fates.push({
        arrives,
        // Nothing after it is run.
        get answer(): never {
          throw new Error('cut off')
        },
      })
      await queue.drain.run()
      queue.store.setPause(null)
      queue.restart()
      tickets.push(queue.commit('later'))
      await queue.drain.run()
      expect(queue.states(tickets)).toEqual(['landed', 'landed', 'landed', 'landed'])
      expect(await queue.branch.history()).toEqual(['first', ...times(3), 'later'])
    }),
  )

  it('is not looked for when nobody waits for any of it', () =>
    started(async (queue) => {
      many(queue, 2)
      queue.branch.fates.push({ arrives: false, answer: { isUncertain: true } })
      await queue.drain.run()
      expect(queue.store.attempts()).toHaveLength(1)
      queue.now += 1_000
      await queue.drain.run()
      queue.branch.looks.length = 0
      queue.commit('x')
      await queue.drain.run()
      expect(queue.branch.looks).toEqual([])
    }))
})

describe('an account that cannot be written to', () => {
  it('makes work wait longer each time, and forgets that when it lands', () =>
    started(async (queue) => {
      const ticket = queue.commit('x')
      const untils: number[] = []
      for (let i = 0; i < 9; i++) {
        queue.branch.fates.push({ arrives: false, answer: {} })
        await queue.drain.run()
        untils.push(queue.store.pause()!.until - queue.now)
        await queue.drain.run()
        queue.now = queue.store.pause()!.until
      }
      expect(untils).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
      await queue.drain.run()
      expect(queue.states([ticket])).toEqual(['landed'])
      expect(queue.store.pause()).toBe(null)
    }))

  it('is left alone for as long as it asks', () =>
    started(async (queue) => {
      const ticket = queue.commit('x')
      queue.branch.fates.push({ arrives: false, answer: { message: 'too many', retryAfterSeconds: 3_600 } })
      await queue.drain.run()
      expect(queue.state(ticket)).toEqual({ state: 'waiting', ahead: 0, reason: 'too many', retryAfterSeconds: 3_601 })
      queue.now += 3_600_000
      await queue.drain.run()
      expect(queue.states([ticket])).toEqual(['waiting'])
      queue.now += 250
      await queue.drain.run()
      expect(queue.states([ticket])).toEqual(['landed'])
    }))

  it.each([
    ['the account does not answer', new PdsUnreachableError('pds.test', 'does not answer'), 1],
    ['the account asks for a pause', new PdsError('pds.test', 429, 'RateLimitExceeded', 'wait', 60), 61],
    ['the mirror cannot be filled', new MirrorUnavailableError('not mirrored yet', 5), 6],
    ['there is no session for now', new RefusedError(accountRefusal('rate-limited', 'sign-ins', 9)), 10],
  ])('makes work wait where %s', (_, trouble, retryAfterSeconds) =>
    started(async (queue) => {
      const ticket = queue.commit('x')
      queue.branch.troubles.push(trouble)
      await queue.drain.run()
      expect(queue.state(ticket)).toMatchObject({ state: 'waiting', reason: trouble.message, retryAfterSeconds })
      queue.now += 61_000
      await queue.drain.run()
      expect(queue.states([ticket])).toEqual(['landed'])
    }),
  )

  it('until its owner does something refuses the work', () =>
    started(async (queue) => {
      const tickets = many(queue, 2)
      queue.branch.fates.push({ arrives: false, answer: { isForOwner: true, message: 'sign in' } })
      await queue.drain.run()
      expect(queue.state(tickets[1]!)).toEqual({
        state: 'refused',
        refusal: { reason: 'account-refused', message: 'sign in' },
      })
      expect(queue.store.attempts()).toEqual([])
      expect(queue.states([queue.commit('later')])).toEqual(['waiting'])
    }))

  it.each([
    ['is gone', new RepositoryGoneError()],
    ['has no session', new RefusedError(accountRefusal('signed-out', 'push again'))],
  ])('for good since it %s refuses the work', (_, trouble) =>
    started(async (queue) => {
      const ticket = queue.commit('x')
      queue.branch.troubles.push(trouble)
      await queue.drain.run()
      expect(queue.states([ticket])).toEqual(['account-refused'])
    }),
  )

  it('with one piece of work refuses that one, and takes the others', () =>
    started(async (queue) => {
      const tickets = many(queue, 3)
      const refused = { arrives: false, answer: { isRefused: true, message: 'no such thing' } }
      queue.branch.fates.push(refused, {}, refused)
      await queue.drain.run()
      expect(queue.states(tickets)).toEqual(['landed', 'account-refused', 'landed'])
      expect(queue.branch.landings).toEqual([1, 1])
      for (const path of ['x', 'y', 'z']) queue.commit(path)
      await queue.drain.run()
      expect(queue.branch.landings).toEqual([1, 1, 3])
    }))
})

describe('a fault of the program', () => {
  it('at one piece of work gives that one up, after some tries, and lands the others', () =>
    started(async (queue) => {
      const poison = queue.branch.objects.blob('poison')
      queue.branch.push({ a: 'a', poison: 'poison' })
      queue.branch.poison = poison
      const base = queue.branch.tip!
      queue.branch.push({ a: 'a', poison: 'changed' })
      const tickets = [
        queue.commit('x'),
        ticketOf(queue.hand({ ...commitOf('poison', 'mine'), base })),
        queue.commit('y'),
      ]
      for (let i = 0; i < 10; i++) {
        await queue.drain.run()
        queue.now += 60_000
      }
      expect(queue.states(tickets)).toEqual(['landed', 'fault', 'landed'])
      expect(await queue.branch.history()).toEqual(['first', 'pushed', 'pushed', 'x', 'y'])
    }))
})

describe('the audit', () => {
  it('hears of each piece of work that has landed, once', () =>
    started(async (queue) => {
      const [one, two] = many(queue, 2) as [string, string]
      queue.hand({ ...commitOf('z'), base: 'f'.repeat(40) })
      queue.branch.fates.push({ answer: { isUncertain: true } })
      await queue.drain.run()
      queue.now += 1_000
      await queue.drain.run()
      const entries = queue.store.nextAudit(10).map(({ entry }) => entry)
      expect(entries).toEqual(
        [one, two].map((ticket) => ({
          ticket,
          landing: 'landing1',
          commit: expect.stringMatching(/^[0-9a-f]{40}$/),
          kind: 'commit',
          submitter: { did: 'did:plc:agent', tokenId: 'token1', tokenLabel: 'agent one' },
          landedAt: queue.now,
        })),
      )
    }))
})

describe('the platform', () => {
  it('may be unwell for as long as it likes: nothing is given up', () =>
    started(async (queue) => {
      const ticket = queue.commit('x')
      const troubles = [
        Object.assign(new Error('Durable Object is overloaded.'), { overloaded: true }),
        new Error('get: We encountered an internal error. Please try again. (10001)'),
        new Error('Network connection lost.'),
      ]
      for (let i = 0; i < 9; i++) {
        queue.branch.forget()
        queue.branch.troubles.push(troubles[i % 3]!)
        await queue.drain.run()
        expect(queue.state(ticket)).toMatchObject({
          state: 'waiting',
          reason: expect.stringContaining('part of the edge'),
        })
        queue.now += 60_000
      }
      await queue.drain.run()
      expect(queue.states([ticket])).toEqual(['landed'])
    }))
})

describe('work whose rights are taken back while it waits', () => {
  const LONG = 31_000
  const by = (change: Partial<Submitter>) => ({ submitter: { ...SUBMITTER, ...change } })
  const hand = (queue: TestQueue, path: string, change: Partial<Submitter> = {}) =>
    ticketOf(queue.hand(commitOf(path), by(change)))

  it('is refused, and the others land without it', () =>
    started(async (queue) => {
      const all: Grant = { repositories: null, branches: null, rights: ['commit'] }
      queue.grants.set('did:plc:may', all)
      queue.grants.set('did:plc:elsewhere', { ...all, branches: ['topic/*'] })
      queue.grants.set('did:plc:reads', { ...all, rights: ['read'] })
      queue.revoked.add('leaked')
      const none = { tokenId: null, tokenLabel: null }
      const tickets = [
        hand(queue, 'a1'),
        hand(queue, 'b1', { tokenId: 'leaked' }),
        hand(queue, 'c1', { ...none, did: ADDRESS.did }),
        hand(queue, 'd1', { ...none, did: 'did:plc:may' }),
        hand(queue, 'e1', { ...none, did: 'did:plc:gone' }),
        hand(queue, 'f1', { ...none, did: 'did:plc:elsewhere' }),
        hand(queue, 'g1', { ...none, did: 'did:plc:reads' }),
        hand(queue, 'h1', { tokenId: 'leaked' }),
      ]
      queue.now += LONG
      await queue.drain.run()
      const [landed, refused] = ['landed', 'withdrawn']
      expect(queue.states(tickets)).toEqual([landed, refused, landed, landed, refused, refused, refused, refused])
      expect(await queue.branch.history()).toEqual(['first', 'a1', 'c1', 'd1'])
      expect(queue.told.sort()).toEqual([...tickets].sort())
    }))

  it('costs no question where it has not waited for long', () =>
    started(async (queue) => {
      queue.revoked.add('token1')
      const ticket = hand(queue, 'a1')
      queue.now += LONG - 2_000
      await queue.drain.run()
      expect([queue.states([ticket]), queue.asked]).toEqual([['landed'], []])
    }))

  it('is not called refused where it may have landed, or may yet', () =>
    started(async (queue) => {
      const ticket = hand(queue, 'a1')
      queue.now += LONG
      queue.branch.fates.push({ answer: { isUncertain: true } })
      await queue.drain.run()
      queue.revoked.add('token1')
      queue.now += LONG
      await queue.drain.run()
      expect(queue.states([ticket])).toEqual(['landed'])
      const lost = hand(queue, 'b1', { tokenId: 'token2' })
      queue.branch.fates.push({ arrives: false, answer: { isUncertain: true } })
      await queue.drain.run()
      queue.revoked.add('token2')
      queue.now += LONG
      queue.branch.fates.push({ arrives: false, answer: { isUncertain: true } })
      await queue.drain.run()
      expect(queue.states([lost])).toEqual(['withdrawn'])
    }))

  it('waits while it cannot be found out', () =>
    started(async (queue) => {
      const ticket = hand(queue, 'a1')
      const other = hand(queue, 'b1', { did: 'did:plc:bob', tokenId: null, tokenLabel: null })
      queue.now += LONG
      queue.isD1Down = true
      for (let i = 0; i < 8; i++) {
        await queue.drain.run()
        queue.now += 60_000
      }
      expect(queue.states([ticket, other])).toEqual(['waiting', 'waiting'])
      queue.isD1Down = false
      queue.grants.set('did:plc:bob', new PdsUnreachableError('pds.test', 'cannot be reached'))
      await queue.drain.run()
      expect(queue.state(other)).toMatchObject({ state: 'waiting', reason: expect.stringContaining('pds.test') })
      queue.grants.set('did:plc:bob', { repositories: null, branches: null, rights: ['commit'] })
      queue.now += 60_000
      await queue.drain.run()
      expect(queue.states([ticket, other])).toEqual(['landed', 'landed'])
    }))
})
