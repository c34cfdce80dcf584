import { describe, expect, it } from 'vitest'
import type { DeadLetter } from '../../../storage/index/index-types.ts'
import type { EventsMessage } from '../../../storage/index/messages.ts'
import { type LettersDeps, listDeadLetters, replayDeadLetters } from '../../../workers/indexer/letters.ts'

const HOUR = 60 * 60_000
const NOW = 1_795_000_000_000

function payload(time: number, ...dids: string[]): string {
  const events = dids.map((did) => ({ kind: 'identity' as const, did, cursor: 1, time }))
  return JSON.stringify({ kind: 'events', upstream: 'wss://pds.test', batch: 1, events } satisfies EventsMessage)
}

function world(...given: Omit<DeadLetter, 'id' | 'error'>[]) {
  let kept: DeadLetter[] = given.map((letter, n) => ({ id: n + 1, error: 'Error: bad', ...letter })).reverse()
  const sent: EventsMessage[] = []
  const wanted: (readonly string[])[] = []
  const state = { isDown: false }
  const refuse = () => {
    if (state.isDown) throw new Error('overloaded')
  }
  const deps: LettersDeps = {
    letters: {
      list: async (limit, before = Number.POSITIVE_INFINITY) => kept.filter(({ id }) => id < before).slice(0, limit),
      async take(id) {
        const letter = kept.find((one) => one.id === id) ?? null
        kept = kept.filter((one) => one !== letter)
        return letter
      },
    },
    async send(message) {
      refuse()
      sent.push(message)
    },
    async want(dids) {
      refuse()
      wanted.push(dids)
    },
    now: () => NOW,
  }
  return { deps, sent, wanted, state, ids: () => kept.map(({ id }) => id) }
}

describe('a dead letter that is replayed', () => {
  it('is delivered once more while deletions of its time are known', async () => {
    const { deps, sent, wanted, ids } = world({ payload: payload(NOW - 71 * HOUR, 'a', 'b'), diedAt: NOW - 70 * HOUR })
    expect(await replayDeadLetters(deps, [1])).toEqual([{ id: 1, outcome: 'replayed' }])
    expect([sent.map(({ events }) => events.map(({ did }) => did)), wanted, ids()]).toEqual([[['a', 'b']], [], []])
  })

  it.each([
    ['it died three days ago', NOW - 72 * HOUR, NOW - 72 * HOUR],
    ['it was three days old when it died', NOW - 72 * HOUR, NOW - HOUR],
    ['its host says that it is to come', NOW + HOUR, NOW - 100 * HOUR],
  ])('has its accounts listed, each once, where %s', async (_, time, diedAt) => {
    const { deps, sent, wanted, ids } = world({ payload: payload(time, 'a', 'b', 'a'), diedAt })
    expect(await replayDeadLetters(deps, [1])).toEqual([{ id: 1, outcome: 'wanted' }])
    expect([sent, wanted, ids()]).toEqual([[], [['a', 'b']], []])
  })

  it('has its accounts listed where nothing says how old its events are', async () => {
    const events = [{ kind: 'identity', did: 'a' }]
    const { deps, sent, wanted } = world({
      payload: JSON.stringify({ ...JSON.parse(payload(0)), events }),
      diedAt: NOW,
    })
    expect(await replayDeadLetters(deps, [1])).toEqual([{ id: 1, outcome: 'wanted' }])
    expect([sent, wanted]).toEqual([[], [['a']]])
  })

  it('stays where it is no message, and is said to be absent where there is none', async () => {
    const { deps, sent, wanted, ids } = world({ payload: '{"kind":"other"}', diedAt: NOW - 100 * HOUR })
    expect(await replayDeadLetters(deps, [1, 2])).toEqual([
      { id: 1, outcome: 'unreadable' },
      { id: 2, outcome: 'absent' },
    ])
    expect([sent, wanted, ids()]).toEqual([[], [], [1]])
  })

  it.each([1, 100])('stays where it can be neither sent nor wanted (%s hours old)', async (hours) => {
    const { deps, state, ids } = world({ payload: payload(NOW - hours * HOUR, 'a'), diedAt: NOW - hours * HOUR })
    state.isDown = true
    await expect(replayDeadLetters(deps, [1])).rejects.toThrow('overloaded')
    expect(ids()).toEqual([1])
  })
})

it('dead letters are listed from the newest on, page by page', async () => {
  const { deps } = world(...[1, 2, 3].map(() => ({ payload: '{}', diedAt: NOW })))
  expect((await listDeadLetters(deps, 2)).map(({ id }) => id)).toEqual([3, 2])
  expect((await listDeadLetters(deps, 2, 2)).map(({ id }) => id)).toEqual([1])
})
