import { describe, expect, it } from 'vitest'
import {
  DELIM,
  END,
  errorLine,
  FLUSH,
  lineText,
  PktLineError,
  pktLine,
  RESPONSE_END,
} from '../../../git/protocol/pkt-line.ts'
import { PktLineWriter } from '../../../git/protocol/pkt-line-writer.ts'
import { BAND_DATA } from '../../../git/protocol/side-band.ts'
import { chunked, concat, readerOf, text, wire } from './wire.ts'

const encoder = new TextEncoder()

describe('PktLineReader', () => {
  it.each([1, 2, 3, 5, 7, 64])('reads packets from chunks of %i bytes', async (size) => {
    const reader = readerOf(concat([wire('hello\n', null, 1, 'wörld', 2), encoder.encode('0004')]), size)
    expect(lineText((await reader.read()) as Uint8Array)).toBe('hello')
    expect(await reader.read()).toBe(FLUSH)
    expect(await reader.read()).toBe(DELIM)
    expect(lineText((await reader.read()) as Uint8Array)).toBe('wörld')
    expect(await reader.read()).toBe(RESPONSE_END)
    expect(await reader.read()).toHaveLength(0)
    expect(await reader.read()).toBe(END)
    expect(await reader.read()).toBe(END)
  })

  it.each([1, 3, 1000])('hands over the rest of the stream, from chunks of %i bytes', async (size) => {
    const reader = readerOf(concat([wire('command', null), encoder.encode('PACK....')]), size)
    await reader.read()
    await reader.read()
    const rest: Uint8Array[] = []
    for await (const chunk of reader.rest()) rest.push(chunk)
    expect(text(rest)).toBe('PACK....')
  })

  it('does not copy what it hands over', async () => {
    const bytes = concat([wire('command', null), encoder.encode('PACK')])
    const reader = readerOf(bytes)
    await reader.read()
    await reader.read()
    for await (const chunk of reader.rest()) expect(chunk.buffer).toBe(bytes.buffer)
  })

  it('ends the source when the rest is given up', async () => {
    let ended = false
    async function* source() {
      try {
        yield* chunked(concat([wire(null), encoder.encode('PACK')]), 4)
      } finally {
        ended = true
      }
    }
    const { PktLineReader } = await import('../../../git/protocol/pkt-line-reader.ts')
    const reader = new PktLineReader(source())
    await reader.read()
    for await (const _ of reader.rest()) break
    expect(ended).toBe(true)
  })

  it.each([
    ['a length that is not hex', 'zzzz', 'line without a length in hex'],
    ['a sign in the length', '-004', 'line without a length in hex'],
    ['length 3', '0003', 'bad line length 3'],
    ['a line over 65520 bytes', 'fff1', 'bad line length 65521'],
    ['a length that is cut off', '00', 'line is cut off'],
    ['data that is cut off', '0008ab', 'line is cut off'],
    ['data that is missing', '0008', 'line is cut off'],
  ])('refuses %s', async (_, bytes, message) => {
    await expect(readerOf(bytes).read()).rejects.toThrow(new PktLineError(message))
  })

  it('takes a line of exactly 65520 bytes', async () => {
    const line = new Uint8Array(65516).fill(0x61)
    expect(await readerOf(pktLine(line), 1000).read()).toEqual(line)
  })

  it('refuses a request that outgrows its limit', async () => {
    const reader = readerOf(wire('12345678', '12345678'), 5, { limit: 20 })
    await reader.read()
    await expect(reader.read()).rejects.toThrow('request is larger than 20 bytes')
  })
})

describe('PktLineWriter', () => {
  it('frames lines and marks', () => {
    const writer = new PktLineWriter()
    writer.line('hello\n')
    writer.line(encoder.encode('wörld'))
    writer.flush()
    writer.delim()
    writer.responseEnd()
    expect(text(writer.takeBytes())).toBe('000ahello\n000awörld000000010002')
    expect(writer.takeAll()).toEqual([])
  })

  it('gathers lines into chunks of at least 32 KiB', () => {
    const writer = new PktLineWriter()
    for (let i = 0; i < 10_000; i++) writer.line(`${'0'.repeat(40)} refs/tags/v${i}\n`)
    const full = writer.takeFull()
    expect(full.length).toBeGreaterThan(5)
    for (const chunk of full) expect(chunk.length).toBeGreaterThan(32 * 1024)
    const all = concat([...full, ...writer.takeAll()])
    expect(all.length).toBe(10_000 * (4 + 40 + 12 + 1) + 10 + 90 * 2 + 900 * 3 + 9000 * 4)
  })

  it('takes the longest line and refuses one byte more', () => {
    const writer = new PktLineWriter()
    writer.line('a'.repeat(65516))
    writer.line(new Uint8Array(65516))
    expect(() => writer.line('é'.repeat(32759))).toThrow(PktLineError)
    expect(() => writer.line(new Uint8Array(65517))).toThrow(PktLineError)
    expect(writer.takeBytes()).toHaveLength(2 * 65520)
  })

  it('puts lines into a side band, and leaves marks outside', () => {
    const writer = new PktLineWriter({ band: BAND_DATA })
    writer.line('hello\n')
    writer.delim()
    writer.line(encoder.encode('wörld'))
    writer.flush()
    expect(text(writer.takeBytes())).toBe('000b\x01hello\n0001000b\x01wörld0000')
    writer.line('a'.repeat(65515))
    expect(() => writer.line('a'.repeat(65516))).toThrow(PktLineError)
    expect(writer.takeBytes()).toHaveLength(65520)
  })
})

it('cuts a message that would not fit an ERR line', () => {
  expect(text(errorLine('not our ref'))).toBe('0014ERR not our ref\n')
  expect(errorLine('x'.repeat(70_000)).length).toBeLessThan(2000)
})
