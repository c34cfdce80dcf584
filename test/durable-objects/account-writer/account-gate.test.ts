import { expect, test } from 'vitest'
import { AccountGate } from '../../../durable-objects/account-writer/account-gate.ts'
import type { AccountBlocks } from '../../../storage/operator/blocks.ts'

const DID = 'did:plc:abcdefghijklmnopqrstuvwx'
const NOTHING: AccountBlocks = { account: null, repositories: {} }

function gateOf(kept = new Map<string, unknown>()) {
  const world = { blocks: NOTHING, isDown: false, mayPush: true, asked: 0, now: 1000, kept }
  const later: Promise<unknown>[] = []
  const gate = new AccountGate({
    store: {
      get: async (key: string) => kept.get(key),
      put: async (key: string, value: unknown) => void kept.set(key, value),
    } as unknown as Pick<DurableObjectStorage, 'get' | 'put'>,
    async blocksOf() {
      world.asked++
      if (world.isDown) throw new Error('D1 is down')
      return world.blocks
    },
    mayPush: () => world.mayPush,
    now: () => world.now,
    waitUntil: (work) => void later.push(work),
    log: () => undefined,
  })
  return { world, gate, later }
}

test('D1 is asked once, also after a restart, and whenever something is new there', async () => {
  const { world, gate } = gateOf()
  expect(await gate.refusal(DID, 'app')).toBe(null)
  world.blocks = { account: null, repositories: { app: 'spam' } }
  expect([await gate.refusal(DID, 'app'), world.asked]).toEqual([null, 1])
  await gate.askAgain(DID)
  expect(await gate.refusal(DID, 'app')).toMatchObject({ reason: 'blocked', message: expect.stringMatching(/: spam$/) })
  expect(await gate.refusal(DID, 'other')).toBe(null)
  expect(await gate.refusal(DID, null)).toBe(null)
  const restarted = gateOf(world.kept)
  expect(await restarted.gate.refusal(DID, 'app')).toMatchObject({ reason: 'blocked' })
  expect(restarted.world.asked).toBe(0)
})

test('who is kept out for long has D1 asked again', async () => {
  const { world, gate, later } = gateOf()
  world.blocks = { account: '', repositories: {} }
  expect(await gate.refusal(DID, null)).toMatchObject({ reason: 'blocked' })
  world.blocks = NOTHING
  world.now += 100_000
  expect(await gate.refusal(DID, null)).toMatchObject({ reason: 'blocked' })
  await Promise.all(later)
  expect(await gate.refusal(DID, null)).toBe(null)
})

test('nothing is written while it is not known whether it may be, or by whom it may not', async () => {
  const { world, gate } = gateOf()
  world.isDown = true
  expect(await gate.refusal(DID, null)).toMatchObject({ reason: 'unreachable', retryAfterSeconds: 10 })
  world.isDown = false
  expect(await gate.refusal(DID, null)).toBe(null)
  world.mayPush = false
  expect(await gate.refusal(DID, null)).toMatchObject({ reason: 'blocked' })
})
