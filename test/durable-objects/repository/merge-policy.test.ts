import { describe, expect, it } from 'vitest'
import { MERGE_LIMITS, type MergeLimits, packsToMerge } from '../../../durable-objects/repository/merge-policy.ts'

interface SizedPack {
  readonly objects: number
  readonly size: number
  readonly isSettled: boolean
}

const packs = (...objects: number[]): SizedPack[] =>
  objects.map((count) => ({ objects: count, size: 1000 * count, isSettled: false }))

/** The sizes of the packs that are merged. */
const merged = (all: readonly SizedPack[], limits?: MergeLimits) =>
  packsToMerge(all, limits).map(({ objects }) => objects)

describe('packs to merge', () => {
  it.each<{ sizes: number[]; expected: number[] }>([
    { sizes: [], expected: [] },
    { sizes: [5], expected: [] },
    { sizes: [5, 2], expected: [] },
    { sizes: [6, 3], expected: [] },
    { sizes: [5, 3], expected: [5, 3] },
    { sizes: [3, 3], expected: [3, 3] },
    { sizes: [1000, 3, 3], expected: [3, 3] },
    { sizes: [12, 6, 3, 3], expected: [12, 6, 3, 3] },
    { sizes: [1000, 12, 3, 3], expected: [3, 3] },
    { sizes: [40, 20, 10, 9], expected: [40, 20, 10, 9] },
    { sizes: [3, 1000], expected: [3, 1000] },
    { sizes: [3, 3, 3, 3, 3], expected: [3, 3, 3, 3, 3] },
    { sizes: [4, 0], expected: [] },
    { sizes: [0, 0], expected: [] },
  ])('of $sizes are $expected', ({ sizes, expected }) => {
    expect(merged(packs(...sizes))).toEqual(expected)
  })

  it('are not those that cannot be merged, nor older ones', () => {
    const [first, second, ...rest] = packs(4, 4, 4, 4)
    expect(merged([first!, { ...second!, isSettled: true }, ...rest])).toEqual([4, 4])
  })

  it('stay apart where they would be too large together', () => {
    const limits = { objects: 100, bytes: 100_000 }
    expect(merged(packs(60, 60), limits)).toEqual([])
    expect(merged(packs(60, 20, 20), limits)).toEqual([60, 20, 20])
    expect(merged(packs(60, 30, 20), limits)).toEqual([30, 20])
    expect(merged(packs(3, 200), limits)).toEqual([])
    expect(merged(packs(60, 20, 20), { ...limits, bytes: 50_000 })).toEqual([20, 20])
  })
})

describe('after many pushes', () => {
  it.each([1, 3, 7])('of %i objects there are few packs, and each object was copied a few times', (objects) => {
    let all: SizedPack[] = []
    let copied = 0
    const pushes = 5000
    for (let push = 1; push <= pushes; push++) {
      all.push(...packs(objects))
      for (let some = packsToMerge(all); some.length > 0; some = packsToMerge(all)) {
        const sum = some.reduce((total, pack) => total + pack.objects, 0)
        copied += sum
        all = [...all.slice(0, -some.length), ...packs(sum)]
      }
      expect(all.length).toBeLessThanOrEqual(Math.log2(push) + 1)
      for (const [i, pack] of all.entries()) {
        if (i > 0) expect(all[i - 1]!.objects).toBeGreaterThanOrEqual(2 * pack.objects)
      }
    }
    expect(copied / (pushes * objects)).toBeLessThan(Math.log2(pushes))
  })

  it('beyond what fits into one pack there is one more for each so many objects', () => {
    let all: SizedPack[] = packs(MERGE_LIMITS.objects * 3)
    for (let push = 0; push < 500; push++) {
      all.push(...packs(10_000))
      const some = packsToMerge(all)
      const sum = some.reduce((total, pack) => total + pack.objects, 0)
      if (sum > 0) all = [...all.slice(0, -some.length), ...packs(sum)]
    }
    const full = (2 * 500 * 10_000) / MERGE_LIMITS.objects
    expect(all.length).toBeLessThanOrEqual(1 + full + Math.log2(500))
  })
})
