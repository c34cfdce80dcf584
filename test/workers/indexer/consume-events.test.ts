import { describe, expect, it } from 'vitest'
import type { StreamEvent } from '../../../atproto/firehose/stream-event.ts'
import { applyInHalves } from '../../../workers/indexer/apply-in-halves.ts'
import { type ConsumeEventsDeps, consumeDead, consumeEvents } from '../../../workers/indexer/consume-events.ts'
import type { Delivery } from '../../../workers/indexer/read-message.ts'

class PassingError extends Error {}

const NOTHING = { applied: 0, dropped: [], wanted: [] }

function event(did: string): StreamEvent {
  return { kind: 'identity', did, cursor: 1, time: 1 }
}

/**
 * An index that does not take events of the accounts `poison` and `heavy`, of which it says that the latter may pass, and nothing
 * at all while it is down.
 */
function world() {
  const applied: string[][] = []
  const buried: { payload: string; error: string }[] = []
  const told: [string, readonly number[]][] = []
  const logged: string[] = []
  const state = { isDown: false, isUntold: false }
  const deps: ConsumeEventsDeps = {
    async apply(events) {
      if (state.isDown) throw new PassingError('D1 is overloaded')
      if (events.some(({ did }) => did === 'poison')) throw new Error('SQLITE_MISMATCH')
      if (events.some(({ did }) => did === 'heavy')) throw new PassingError('D1 DB exceeded its time limit')
      applied.push(events.map(({ did }) => did))
      return NOTHING
    },
    isPassing: (error) => error instanceof PassingError,
    isWell: async () => !state.isDown,
    isFollowed: (upstream) => upstream === 'wss://pds.test',
    bury: async (payload, error) => void buried.push({ payload, error }),
    async tellApplied(upstream, batches) {
      if (state.isUntold) throw new Error('the object is gone')
      told.push([upstream, batches])
    },
    follow: async () => undefined,
    log: (name) => void logged.push(name),
  }
  return { deps, applied, buried, told, logged, state }
}

function delivery(body: unknown, attempts = 1) {
  const answers: string[] = []
  const delivered: Delivery = {
    body,
    attempts,
    ack: () => void answers.push('ack'),
    retry: ({ delaySeconds }) => void answers.push(`retry in ${delaySeconds}`),
  }
  return { ...delivered, answers }
}

function message(batch: number, ...dids: string[]) {
  return { kind: 'events', upstream: 'wss://pds.test', batch, events: dids.map(event) }
}

describe('events that a Queue delivers', () => {
  it('are applied in one go, and then their upstream hears of it', async () => {
    const { deps, applied, told } = world()
    const deliveries = [delivery(message(1, 'a', 'b')), delivery(message(2, 'c'))]
    await consumeEvents(deps, deliveries)
    expect(applied).toEqual([['a', 'b', 'c']])
    expect(told).toEqual([['wss://pds.test', [1, 2]]])
    expect(deliveries.map(({ answers }) => answers)).toEqual([['ack'], ['ack']])
  })

  it('are applied but for a bad message, which is delivered again', async () => {
    const { deps, applied, told, buried } = world()
    const deliveries = [1, 2, 3, 4, 5].map((n) => delivery(message(n, n === 4 ? 'poison' : `${n}`, `also ${n}`)))
    await consumeEvents(deps, deliveries)
    expect(applied.flat().sort()).toEqual(['1', '2', '3', '5', 'also 1', 'also 2', 'also 3', 'also 5'])
    expect(deliveries.map(({ answers }) => answers.join())).toEqual(['ack', 'ack', 'ack', 'retry in 1', 'ack'])
    expect(told.flatMap(([, batches]) => batches).sort()).toEqual([1, 2, 3, 5])
    expect(buried).toEqual([])
  })

  it('are applied but for the bad ones of a message that has failed time and again, and these are kept', async () => {
    const { deps, applied, told, buried } = world()
    const bad = delivery(message(7, 'a', 'poison', 'b'), 3)
    await consumeEvents(deps, [bad])
    expect(applied.flat().sort()).toEqual(['a', 'b'])
    expect(bad.answers).toEqual(['ack'])
    expect(told).toEqual([['wss://pds.test', [7]]])
    expect(buried).toEqual([{ payload: JSON.stringify(message(7, 'poison')), error: 'Error: SQLITE_MISMATCH' }])
  })

  it('wait, each time longer, while D1 is not well, and none is called bad', async () => {
    const { deps, buried, told, state } = world()
    state.isDown = true
    const answers: string[] = []
    for (const attempts of [1, 2, 5, 11]) {
      const late = delivery(message(1, 'a', 'poison'), attempts)
      await consumeEvents(deps, [late])
      answers.push(...late.answers)
    }
    expect(answers).toEqual(['retry in 1', 'retry in 2', 'retry in 16', 'retry in 300'])
    expect([buried, told]).toEqual([[], []])
  })

  it('are left to their upstream, which reads them again, while D1 is away for hours; who has none waits on', async () => {
    const { deps, buried, told, logged, state } = world()
    state.isDown = true
    const [followed, other] = [
      delivery(message(1, 'a', 'poison', 'heavy'), 12),
      delivery({ ...message(2, 'b'), upstream: 'replayed' }, 12),
    ]
    await consumeEvents(deps, [followed, other])
    expect([followed.answers, other.answers]).toEqual([['ack'], ['retry in 300']])
    expect([buried, told]).toEqual([[], []])
    expect(logged).toContain('events-let-go')
  })

  it('are applied but for one whose fault calls itself passing and does not pass, while all else goes well', async () => {
    const { deps, applied, buried } = world()
    const deliver = async (attempts: number) => {
      const deliveries = ['1', '2', 'heavy', '4'].map((did, n) => delivery(message(n, did, `also ${did}`), attempts))
      await consumeEvents(deps, deliveries)
      return deliveries.map(({ answers }) => answers.join())
    }
    expect(await deliver(2)).toEqual(Array(4).fill('retry in 2'))
    expect(applied).toEqual([])
    expect(await deliver(3)).toEqual(['ack', 'ack', 'retry in 4', 'ack'])
    expect(applied.flat().sort()).toEqual(['1', '2', '4', 'also 1', 'also 2', 'also 4'])
    expect(buried).toEqual([])
    expect(await deliver(11)).toEqual(Array(4).fill('ack'))
    expect(applied.flat()).toContain('also heavy')
    expect(buried.map(({ payload }) => payload)).toEqual([JSON.stringify(message(2, 'heavy'))])
  })

  it('are done with although their upstream cannot be told: it sends them again', async () => {
    const { deps, logged, state } = world()
    state.isUntold = true
    const delivered = delivery(message(1, 'a'))
    await consumeEvents(deps, [delivered])
    expect([delivered.answers, logged]).toEqual([['ack'], ['applied-untold']])
  })

  it.each([null, 'text', 7, {}, { kind: 'events' }, { ...message(1), events: [null] }, { kind: 'account', did: 'x' }])(
    'are kept for the operator where they are none: %j',
    async (body) => {
      const { deps, applied, buried } = world()
      const [wrong, good] = [delivery(body), delivery(message(1, 'a'))]
      await consumeEvents(deps, [wrong, good])
      expect([wrong.answers, good.answers, applied, buried.length]).toEqual([['ack'], ['ack'], [['a']], 1])
    },
  )

  it('are applied, each alone, where the platform has given them up because of one that had it cut off', async () => {
    const { deps, applied, buried, told } = world()
    const [good, bad, deadly] = [
      delivery(message(3, 'a')),
      delivery(message(4, 'poison')),
      delivery(message(5, 'b'), 2),
    ]
    await consumeDead(deps, [good, bad, deadly])
    expect([good.answers, bad.answers, deadly.answers]).toEqual([['ack'], ['ack'], ['ack']])
    expect(told.flatMap(([, batches]) => batches)).toEqual([3, 4, 5])
    expect([applied, buried.map(({ error }) => error)]).toEqual([
      [['a']],
      ['Error: SQLITE_MISMATCH', 'it failed each time that it was delivered'],
    ])
  })

  it('are not kept as bad because D1 is away when they are tried for the last time', async () => {
    const { deps, buried, told, state } = world()
    state.isDown = true
    const dead = delivery(message(3, 'a'))
    await consumeDead(deps, [dead])
    expect([dead.answers, buried, told]).toEqual([['retry in 1'], [], []])
  })
})

it('what is applied in halves costs few tries where little is bad', async () => {
  let tries = 0
  const items = Array.from({ length: 128 }, (_, n) => n)
  const { applied, failed } = await applyInHalves(
    items,
    async (some) => {
      tries++
      if (some.includes(77)) throw new Error('bad')
    },
    async () => true,
  )
  expect(applied.flatMap((one) => one.items).length).toBe(127)
  expect(failed.map((one) => one.items)).toEqual([[77]])
  expect(tries).toBe(15)
})
