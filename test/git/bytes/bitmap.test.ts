import { expect, it } from 'vitest'
import { Bitmap } from '../../../git/bytes/bitmap.ts'
import { seededRandom } from '../packs.ts'

it.each([0, 1, 31, 32, 33, 64, 1000])('holds numbers below %i as a set does', (length) => {
  const random = seededRandom(length)
  const bitmap = new Bitmap(length)
  const set = new Set<number>()
  for (let i = 0; i < length; i++) {
    const number = random(length)
    bitmap.set(number)
    set.add(number)
    const other = random(length)
    bitmap.clear(other)
    set.delete(other)
  }
  expect([...bitmap]).toEqual([...set].sort((a, b) => a - b))
  expect(bitmap.count()).toBe(set.size)
  for (let number = 0; number < length; number++) expect(bitmap.has(number)).toBe(set.has(number))
  expect(bitmap.next(length)).toBe(-1)
})

it('takes out what another set holds', () => {
  const [bitmap, others] = [new Bitmap(100), new Bitmap(100)]
  for (const number of [0, 31, 32, 64, 99]) bitmap.set(number)
  for (const number of [1, 31, 64]) others.set(number)
  bitmap.clearAll(others)
  expect([...bitmap]).toEqual([0, 32, 99])
})
