import { expect, test } from 'vitest'
import { killTrial } from '../../../bench/swarm/kill-trial.ts'
import { startWorld } from '../harness.ts'

const world = await startWorld()

test('the runtime is killed while sixteen commit, and the PDS fails: what they were told is so, once and in order', async () => {
  const { atmosphere, edge, git, alice: owner } = world
  const options = { clients: 16, kills: 4, seed: 20_261_130, repository: 'killed' }
  const outcome = await killTrial({ atmosphere, edge, git, owner }, options)
  expect(outcome).toMatchObject({
    strange: [],
    lost: [],
    doubled: [],
    disordered: [],
    contradicted: [],
    isInAccount: true,
    unsound: [],
  })
  // It was not idle.
  expect(outcome.acknowledged).toBeGreaterThan(16)
  expect(outcome.broken).toBeGreaterThan(0)
})
