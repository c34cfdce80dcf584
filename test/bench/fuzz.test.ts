import { expect, test } from 'vitest'
import { fuzz, inputOf } from '../../bench/fuzz/fuzz.ts'
import { makeSeeds } from '../../bench/fuzz/seeds.ts'
import { makeTargets } from '../../bench/fuzz/targets.ts'

const INPUTS = 13_000
/** Milliseconds: what hangs takes longer, and what is only slow, on a machine that is busy, does not. */
const SLOW = 5_000

test('what is changed is right before', async () => {
  for (const { name, sound, read } of makeTargets(await makeSeeds())) {
    expect(sound.length, name).toBeGreaterThan(0)
    for (const input of sound) expect(await read(input), name).toBeDefined()
  }
})

test('each nearly right input is answered by a value or by a named error, and soon', async () => {
  for (const { target, inputs, values, errors, faults, slowest } of await fuzz({ inputs: INPUTS, seed: 20_261_130 })) {
    expect(faults, target).toEqual([])
    expect(slowest, target).toBeLessThan(SLOW)
    const refused = Object.values(errors).reduce((sum, count) => sum + count, 0)
    expect(refused, target).toBeGreaterThan(0)
    expect(values + refused, target).toBe(inputs)
  }
}, 60_000)

test('an input can be had again by its seed', async () => {
  const fault = { seed: 7, error: null }
  expect(await inputOf('delta', fault)).toEqual(await inputOf('delta', fault))
})
