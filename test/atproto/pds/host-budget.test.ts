import { describe, expect, test } from 'vitest'
import { HostBudget } from '../../../atproto/pds/host-budget.ts'
import { PdsBudgetError } from '../../../atproto/pds/pds-error.ts'

const HOST = 'pds.test'
const START = Date.parse('2026-11-30T12:00:00Z')

function setUp() {
  const waits: number[] = []
  let now = START
  const budget = new HostBudget({
    now: () => now,
    sleep: async (milliseconds) => {
      waits.push(milliseconds)
      now += milliseconds
    },
  })
  const note = (
    remaining: number,
    options: { scope?: string; reset?: number; status?: number; policy?: string } = {},
  ) =>
    budget.note(HOST, options.scope ?? 'reads', {
      status: options.status ?? 200,
      headers: new Headers({
        'ratelimit-limit': '3000',
        'ratelimit-remaining': String(remaining),
        'ratelimit-reset': String(options.reset ?? START / 1000 + 300),
        'ratelimit-policy': options.policy ?? '3000;w=300',
      }),
    })
  const pass = (milliseconds: number) => {
    now += milliseconds
  }
  return { budget, waits, note, pass }
}

describe('HostBudget', () => {
  test('does not hold up hosts that say nothing, or that have plenty left', async () => {
    const { budget, waits, note } = setUp()
    await budget.take(HOST, 'reads')
    note(2000)
    await budget.take(HOST, 'reads')
    budget.note(HOST, 'reads', { status: 200, headers: new Headers({ 'ratelimit-limit': 'lots' }) })
    await budget.take(HOST, 'reads')
    expect(waits).toEqual([])
  })

  test('spreads the last tenth over the rest of the window', async () => {
    const { budget, waits, note } = setUp()
    note(200)
    await budget.take(HOST, 'reads')
    expect(waits).toEqual([1500])
  })

  test('refuses to ask a host that takes nothing more, and says until when', async () => {
    const { budget, note, pass } = setUp()
    note(1)
    await budget.take(HOST, 'reads')
    const fault = await budget.take(HOST, 'reads').catch((error: unknown) => error)
    expect(fault).toBeInstanceOf(PdsBudgetError)
    expect(fault).toMatchObject({
      message: 'pds.test takes no more requests from here until 2026-11-30T12:05:00.000Z',
      status: 429,
      retryAfter: 298,
    })
    pass(300_000)
    await budget.take(HOST, 'reads')
  })

  test('waits out a window that is nearly over', async () => {
    const { budget, waits, note } = setUp()
    note(0, { reset: START / 1000 + 1 })
    await budget.take(HOST, 'reads')
    expect(waits).toEqual([1000])
  })

  test('takes a 429 at its word, and reads a reset that is given in seconds from now', async () => {
    const { budget, note } = setUp()
    note(17, { status: 429, reset: 120 })
    await expect(budget.take(HOST, 'reads')).rejects.toMatchObject({ retryAfter: 120 })
  })

  test('keeps hosts, scopes and policies apart', async () => {
    const { budget, note } = setUp()
    note(0, { scope: '/xrpc/com.atproto.server.createSession did:plc:a', policy: '30;w=300' })
    await budget.take(HOST, 'reads')
    await budget.take('other.test', '/xrpc/com.atproto.server.createSession did:plc:a')
    note(0, { policy: '10;w=1' })
    note(2900)
    await expect(budget.take(HOST, 'reads')).rejects.toThrow(PdsBudgetError)
  })
})
