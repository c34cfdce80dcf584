import { expect, it } from 'vitest'
import { LINE_LIMIT } from '../../../git/protocol/pkt-line.ts'
import {
  BAND_DATA,
  BAND_ERROR,
  BAND_PROGRESS,
  DataFramer,
  SIDE_BAND_64K_DATA,
  SIDE_BAND_DATA,
  sideBand,
  sideBandLimit,
} from '../../../git/protocol/side-band.ts'
import { concat, readerOf, text } from './wire.ts'

it('frames words for the user', () => {
  expect(text(sideBand(BAND_PROGRESS, 'hello\n'))).toBe('000b\x02hello\n')
  expect(text(sideBand(BAND_ERROR, 'no\n'))).toBe('0008\x03no\n')
  expect(sideBand(BAND_DATA, '')).toHaveLength(0)
})

it.each([
  [SIDE_BAND_64K_DATA, 65515],
  [SIDE_BAND_DATA, 995],
])('cuts data into packets of at most %i bytes', async (limit, documented) => {
  expect(limit).toBe(documented)
  for (const length of [1, limit - 1, limit, limit + 1, 3 * limit, 200_000]) {
    const data = Uint8Array.from({ length }, (_, i) => i)
    const reader = readerOf(sideBand(BAND_DATA, data, limit))
    const parts: Uint8Array[] = []
    for (let packet = await reader.read(); packet instanceof Uint8Array; packet = await reader.read()) {
      expect(packet[0]).toBe(BAND_DATA)
      expect(packet.length - 1).toBeLessThanOrEqual(limit)
      expect(packet.length + 4).toBeLessThanOrEqual(LINE_LIMIT)
      parts.push(packet.subarray(1))
    }
    expect(parts).toHaveLength(Math.ceil(length / limit))
    expect(concat(parts)).toEqual(data)
  }
})

it('prefers the larger packets', () => {
  expect(sideBandLimit(new Set(['side-band', 'side-band-64k']))).toBe(65515)
  expect(sideBandLimit(new Set(['side-band']))).toBe(995)
  expect(sideBandLimit(new Set())).toBeNull()
})

it('frames chunks in a buffer that it uses again', () => {
  const framer = new DataFramer(SIDE_BAND_DATA)
  const chunks = [3000, 10, 2500, 3000, 5000, 1, 0, 40].map((length, i) => new Uint8Array(length).fill(i + 1))
  const buffers = chunks.map((chunk) => {
    const framed = framer.frame(chunk)
    expect(framed).toEqual(sideBand(BAND_DATA, chunk, SIDE_BAND_DATA))
    return framed.buffer
  })
  expect(new Set(buffers).size).toBe(2)
})
