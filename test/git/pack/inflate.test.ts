import { deflateRawSync, deflateSync, constants as zlib } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  DONE,
  INFLATE_WINDOW_BYTES,
  Inflater,
  inflateInto,
  NEED_INPUT,
  NEED_OUTPUT,
} from '../../../git/pack/inflate.ts'
import { InflateError } from '../../../git/pack/inflate-error.ts'
import { Random } from '../random.ts'
import { concat, utf8 } from './pack-builder.ts'

const GUARD = 0xa5

/** Inflates with guards around the stream and the output, and checks that they were left alone. */
function inflate(stream: Uint8Array, size: number): { bytes: Uint8Array; end: number } {
  const source = concat(new Uint8Array(7).fill(GUARD), stream)
  const room = new Uint8Array(size + 32).fill(GUARD)
  const bytes = room.subarray(16, 16 + size)
  const end = inflateInto(source, 7, bytes)
  expect(room.subarray(0, 16).every((byte) => byte === GUARD)).toBe(true)
  expect(room.subarray(16 + size).every((byte) => byte === GUARD)).toBe(true)
  return { bytes: bytes.slice(), end: end === NEED_INPUT ? NEED_INPUT : end - 7 }
}

function withAdler(raw: Uint8Array, content: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(0x78, 0x01), raw, deflateSync(content).subarray(-4))
}

/** Writes bits from the low end, as deflate reads them. */
function bits(...fields: readonly (readonly [value: number, width: number])[]): Uint8Array {
  const bytes: number[] = []
  let at = 0
  for (const [value, width] of fields) {
    for (let bit = 0; bit < width; bit++, at++) {
      if (at % 8 === 0) bytes.push(0)
      bytes[bytes.length - 1]! |= ((value >>> bit) & 1) << (at % 8)
    }
  }
  return Uint8Array.from(bytes)
}

const random = new Random(11)
const contents: [string, Uint8Array][] = [
  ['nothing', new Uint8Array(0)],
  ['one byte', utf8('x')],
  ['a word', utf8('hello, pack')],
  ['a run', new Uint8Array(100_000).fill(7)],
  ['text', random.text(50_000)],
  ['noise', random.bytes(70_000)],
  ['noise that repeats just within the window', concat(...Array(4).fill(random.bytes(INFLATE_WINDOW_BYTES)))],
]

/** Thousands of streams, each inflated twice. */
const TIMEOUT_MS = 30_000

describe('inflateInto', { timeout: TIMEOUT_MS }, () => {
  describe.each(contents)('of %s', (_, content) => {
    const strategies: [string, number][] = [
      ['the default strategy', zlib.Z_DEFAULT_STRATEGY],
      ['fixed codes', zlib.Z_FIXED],
      ['Huffman codes only', zlib.Z_HUFFMAN_ONLY],
      ['runs only', zlib.Z_RLE],
    ]
    it.each(strategies)('reads what zlib writes with %s at every level, and finds its end', (_, strategy) => {
      for (let level = 0; level <= 9; level++) {
        const stream = deflateSync(content, { level, strategy })
        for (const trailing of [0, 1, 3, 40]) {
          const { bytes, end } = inflate(concat(stream, new Uint8Array(trailing).fill(GUARD)), content.length)
          expect(end).toBe(stream.length)
          expect(Buffer.compare(bytes, content)).toBe(0)
        }
      }
    })
  })

  it('asks for more input wherever the stream is cut off', () => {
    const content = random.text(600)
    for (const level of [0, 1, 9]) {
      const stream = deflateSync(content, { level })
      for (let length = 0; length < stream.length; length++) {
        expect(inflate(stream.subarray(0, length), content.length).end).toBe(NEED_INPUT)
      }
    }
  })

  it.each<[string, string, Uint8Array, number]>([
    ['another method than deflate', 'not a deflate stream', Uint8Array.of(0x79, 0x9c, 0, 0), 0],
    ['a window larger than 32 KiB', 'not a deflate stream', Uint8Array.of(0x88, 0x1c, 0, 0), 0],
    ['a wrong header check', 'wrong zlib header check', Uint8Array.of(0x78, 0x9d, 0, 0), 0],
    [
      'a preset dictionary',
      'preset dictionary',
      concat(deflateSync(utf8('dictionary word'), { dictionary: utf8('dictionary') })),
      15,
    ],
    ['gzip', 'not a deflate stream', Uint8Array.of(0x1f, 0x8b, 8, 0), 0],
    ['no header at all', 'not a deflate stream', deflateRawSync(utf8('hello')), 5],
    ['the reserved block type', 'invalid block type', withAdler(bits([1, 1], [3, 2]), utf8('')), 0],
    [
      'a stored length that its complement denies',
      'does not match its complement',
      withAdler(Uint8Array.of(1, 5, 0, 5, 0, 1, 2, 3, 4, 5), utf8('')),
      5,
    ],
    [
      'a match before the start',
      'distance too far back',
      withAdler(bits([1, 1], [1, 2], [0b1000000, 7], [0, 5], [0, 40]), utf8('')),
      3,
    ],
    [
      '287, a length symbol that is none',
      'invalid length symbol',
      withAdler(bits([1, 1], [1, 2], [0b11100011, 8], [0, 40]), utf8('')),
      3,
    ],
    [
      '30, a distance symbol that is none',
      'invalid distance symbol',
      withAdler(bits([1, 1], [1, 2], [0b00001100, 8], [0b1000000, 7], [0b01111, 5], [0, 40]), utf8('')),
      4,
    ],
    ['287 literal codes', 'too many', withAdler(bits([1, 1], [2, 2], [30, 5], [0, 5], [0, 4], [0, 60]), utf8('')), 0],
    ['31 distance codes', 'too many', withAdler(bits([1, 1], [2, 2], [0, 5], [30, 5], [0, 4], [0, 60]), utf8('')), 0],
    [
      'no code lengths',
      'invalid Huffman code',
      withAdler(bits([1, 1], [2, 2], [0, 5], [0, 5], [0, 4], [0, 90]), utf8('')),
      0,
    ],
    [
      'an over-subscribed code of code lengths',
      'over-subscribed',
      withAdler(bits([1, 1], [2, 2], [0, 5], [0, 5], [0, 4], [0o1111, 12], [0, 60]), utf8('')),
      0,
    ],
    [
      'an incomplete code of code lengths',
      'incomplete',
      withAdler(bits([1, 1], [2, 2], [0, 5], [0, 5], [0, 4], [1, 3], [0, 90]), utf8('')),
      0,
    ],
    // Code lengths: 16 and 17 of one bit; the first thing said is "repeat the last one".
    [
      'a repeated length with nothing before it',
      'nothing before it',
      withAdler(bits([1, 1], [2, 2], [0, 5], [0, 5], [0, 4], [0o11, 12], [0, 90]), utf8('')),
      0,
    ],
    // 18 of one bit and 0: 138 zeros, three times: more than 258 lengths.
    [
      'code lengths that run over their end',
      'run over their end',
      withAdler(
        bits([1, 1], [2, 2], [0, 5], [0, 5], [0, 4], [0o1100, 12], [1, 1], [127, 7], [1, 1], [127, 7], [0, 60]),
        utf8(''),
      ),
      0,
    ],
    ['a wrong checksum', 'wrong zlib checksum', concat(deflateSync(utf8('hello')).slice(0, -1), Uint8Array.of(0)), 5],
  ])('refuses %s', (_, reason, stream, size) => {
    expect(() => inflate(concat(stream, new Uint8Array(16)), size)).toThrow(reason)
    expect(() => inflate(concat(stream, new Uint8Array(16)), size)).toThrow(InflateError)
  })

  it('refuses more and fewer bytes than there is room for', () => {
    const content = random.text(1000)
    for (const level of [0, 6]) {
      const stream = deflateSync(content, { level })
      for (const size of [0, 1, 500, 999]) expect(() => inflate(stream, size)).toThrow('more bytes')
      for (const size of [1001, 5000]) expect(() => inflate(stream, size)).toThrow('fewer bytes')
    }
  })

  it('never hangs, never writes outside, and never answers other bytes than zlib, whatever is changed', async () => {
    const { inflateSync } = await import('node:zlib')
    const strategies = [zlib.Z_DEFAULT_STRATEGY, zlib.Z_FIXED, zlib.Z_HUFFMAN_ONLY]
    let inflated = 0
    for (let round = 0; round < 6000; round++) {
      const content = random.chance(0.5) ? random.text(random.below(2000)) : random.bytes(random.below(300))
      const stream = new Uint8Array(
        deflateSync(content, { level: random.below(10), strategy: random.pick(strategies) }),
      )
      for (let changes = random.below(3); changes > 0; changes--)
        stream[random.below(stream.length)] = random.below(256)
      const cut = random.chance(0.2) ? stream.subarray(0, random.below(stream.length)) : stream
      let expected: Uint8Array | null = null
      try {
        expected = inflateSync(cut)
      } catch {
        expected = null
      }
      const size = random.chance(0.9) ? (expected?.length ?? content.length) : random.below(3000)
      let got: ReturnType<typeof inflate> | null = null
      try {
        got = inflate(cut, size)
      } catch (error) {
        expect(error).toBeInstanceOf(InflateError)
      }
      if (got !== null && got.end !== NEED_INPUT) {
        inflated++
        expect(expected).not.toBeNull()
        expect(Buffer.compare(got.bytes, expected!)).toBe(0)
      } else if (expected !== null) {
        expect(size, `round ${round}`).not.toBe(expected.length)
      }
    }
    expect(inflated).toBeGreaterThan(1000)
  })
})

describe('Inflater', () => {
  it('goes on where input or output ran out, in steps of any size', () => {
    const inflater = new Inflater()
    for (let round = 0; round < 300; round++) {
      const content = random.chance(0.5) ? random.text(random.below(5000)) : random.bytes(random.below(5000))
      const stream = deflateSync(content, { level: random.below(10) })
      const room = new Uint8Array(content.length)
      let given = Math.min(content.length, random.below(50))
      inflater.begin(room.subarray(0, given))
      let from = 0
      let end = random.below(20)
      for (;;) {
        const stop = inflater.run(stream, from, end)
        from = inflater.position
        if (stop === DONE) break
        if (stop === NEED_INPUT) {
          expect(end).toBeLessThan(stream.length)
          end = Math.min(stream.length, end + 1 + random.below(round % 2 === 0 ? 2 : 400))
        } else {
          expect(given).toBeLessThan(content.length)
          given = Math.min(content.length, given + 1 + random.below(300))
          inflater.continueIn(room.subarray(0, given), inflater.written)
        }
      }
      expect(from).toBe(stream.length)
      expect(Buffer.compare(room, content)).toBe(0)
    }
  })

  it('needs no more than its window of the output before', () => {
    const content = concat(random.bytes(40_000), random.text(200_000), random.bytes(INFLATE_WINDOW_BYTES))
    const stream = deflateSync(concat(content, content))
    const buffer = new Uint8Array(INFLATE_WINDOW_BYTES + 1000)
    const inflater = new Inflater()
    const parts: Uint8Array[] = []
    let taken = 0
    let from = 0
    inflater.begin(buffer)
    for (;;) {
      const stop = inflater.run(stream, from, stream.length)
      from = inflater.position
      parts.push(buffer.slice(taken, inflater.written))
      if (stop === DONE) break
      expect(stop).toBe(NEED_OUTPUT)
      taken = Math.min(inflater.written, INFLATE_WINDOW_BYTES)
      buffer.copyWithin(0, inflater.written - taken, inflater.written)
      inflater.continueIn(buffer, taken)
    }
    expect(Buffer.compare(concat(...parts), concat(content, content))).toBe(0)
  })

  it('keeps two streams apart that are read in turns', () => {
    const contents = [random.text(30_000), random.text(30_000)]
    const streams = contents.map((content) => deflateSync(content))
    const rooms = contents.map((content) => new Uint8Array(content.length))
    const inflaters = rooms.map((room) => {
      const inflater = new Inflater()
      inflater.begin(room)
      return inflater
    })
    const ends = [0, 0]
    for (let open = 2; open > 0; ) {
      for (const [i, inflater] of inflaters.entries()) {
        if (ends[i] === streams[i]!.length) continue
        ends[i] = Math.min(streams[i]!.length, ends[i]! + 100)
        if (inflater.run(streams[i]!, inflater.position, ends[i]!) === DONE) open--
      }
    }
    expect(rooms.map((room, i) => Buffer.compare(room, contents[i]!))).toEqual([0, 0])
  })
})
