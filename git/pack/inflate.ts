/**
 * A zlib (RFC 1950) and deflate (RFC 1951) decoder for pack entries.
 *
 * A pack entry says how long its object is and never how many compressed bytes it has, so a reader must
 * decode it to find where the next entry starts. The platform's decoders either do not tell where a stream
 * ended or keep the input alive; this one writes straight into a buffer of the known size and returns the
 * position after the checksum. Where the end is already known, `node:zlib` is faster and is used instead.
 */

/** The compressed stream is not valid zlib, or does not hold exactly as many bytes as the entry declares. */
export class InflateError extends Error {
  override name = 'InflateError'
}

/** Returned in place of an end position when the input ends before the stream does: read more, start over. */
export const NEED_INPUT = -1

const WINDOW_CODES = 32768
const LITERAL_BITS = 10
const DISTANCE_BITS = 8
const MAX_CODE_BITS = 15
const END_OF_BLOCK = 256
const ADLER_MODULUS = 65521
/** The most additions that cannot overflow 32 bits before a modulo is due (the n of zlib's adler32). */
const ADLER_RUN = 5552

const LENGTH_BASE = new Uint16Array([
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
])
const LENGTH_EXTRA = new Uint8Array([
  0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
])
const DISTANCE_BASE = new Uint16Array([
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
  8193, 12289, 16385, 24577,
])
const DISTANCE_EXTRA = new Uint8Array([
  0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
])
const CODE_LENGTH_ORDER = new Uint8Array([16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15])

/** A canonical Huffman code: a table for codes of up to `bits` bits, and counts for a walk bit by bit beyond. */
interface HuffmanCode {
  readonly bits: number
  /** `symbol << 4 | length`, indexed by the next `bits` input bits; 0 where the code is longer or absent. */
  readonly table: Uint16Array
  readonly count: Uint16Array
  readonly symbols: Uint16Array
}

function createCode(bits: number, symbols: number): HuffmanCode {
  return {
    bits,
    table: new Uint16Array(1 << bits),
    count: new Uint16Array(MAX_CODE_BITS + 1),
    symbols: new Uint16Array(symbols),
  }
}

const offsets = new Uint16Array(MAX_CODE_BITS + 2)
const nextCode = new Uint16Array(MAX_CODE_BITS + 2)

/** Fills `code` from code lengths. An incomplete code is allowed only where deflate allows it: one symbol. */
function buildCode(code: HuffmanCode, lengths: Uint8Array, from: number, n: number): void {
  const { bits, table, count, symbols } = code
  count.fill(0)
  for (let i = 0; i < n; i++) count[lengths[from + i]!]!++
  count[0] = 0
  let left = 1
  let used = 0
  offsets[1] = 0
  nextCode[1] = 0
  for (let len = 1; len <= MAX_CODE_BITS; len++) {
    left = (left << 1) - count[len]!
    if (left < 0) throw new InflateError('over-subscribed Huffman code')
    used += count[len]!
    offsets[len + 1] = offsets[len]! + count[len]!
    nextCode[len + 1] = (nextCode[len]! + count[len]!) << 1
  }
  if (left > 0 && used > 1) throw new InflateError('incomplete Huffman code')
  table.fill(0)
  const size = 1 << bits
  for (let symbol = 0; symbol < n; symbol++) {
    const len = lengths[from + symbol]!
    if (len === 0) continue
    symbols[offsets[len]!++] = symbol
    const canonical = nextCode[len]!++
    if (len > bits) continue
    let reversed = 0
    for (let bit = 0; bit < len; bit++) reversed |= ((canonical >>> bit) & 1) << (len - 1 - bit)
    const value = (symbol << 4) | len
    for (let at = reversed; at < size; at += 1 << len) table[at] = value
  }
}

const fixedLiteral = createCode(LITERAL_BITS, 288)
const fixedDistance = createCode(DISTANCE_BITS, 32)
{
  const lengths = new Uint8Array(288)
  lengths.fill(8, 0, 144).fill(9, 144, 256).fill(7, 256, 280).fill(8, 280, 288)
  buildCode(fixedLiteral, lengths, 0, 288)
  buildCode(fixedDistance, new Uint8Array(32).fill(5), 0, 32)
}

// Scratch that every call reuses: decoding is synchronous, so no two calls overlap.
const codeLengthCode = createCode(7, 19)
const dynamicLiteral = createCode(LITERAL_BITS, 288)
const dynamicDistance = createCode(DISTANCE_BITS, 32)
const lengths = new Uint8Array(288 + 32)

let input: Uint8Array = new Uint8Array(0)
let inputEnd = 0
let position = 0
let bitBuffer = 0
let bitCount = 0

class NeedInput extends Error {}
const needInput = new NeedInput()

function readBits(n: number): number {
  while (bitCount < n) {
    if (position >= inputEnd) throw needInput
    bitBuffer |= input[position++]! << bitCount
    bitCount += 8
  }
  const value = bitBuffer & ((1 << n) - 1)
  bitBuffer >>>= n
  bitCount -= n
  return value
}

/** Reads one symbol bit by bit: for codes longer than the table, and near the end of the input. */
function readSymbolSlowly(code: HuffmanCode): number {
  let value = 0
  let first = 0
  let index = 0
  for (let len = 1; len <= MAX_CODE_BITS; len++) {
    value |= readBits(1)
    const n = code.count[len]!
    if (value - n < first) return code.symbols[index + (value - first)]!
    index += n
    first = (first + n) << 1
    value <<= 1
  }
  throw new InflateError('invalid Huffman code')
}

function readDynamicCodes(): void {
  const literals = readBits(5) + 257
  const distances = readBits(5) + 1
  const codeLengths = readBits(4) + 4
  if (literals > 286 || distances > 30) throw new InflateError('too many length or distance symbols')
  lengths.fill(0, 0, 19)
  for (let i = 0; i < codeLengths; i++) lengths[CODE_LENGTH_ORDER[i]!] = readBits(3)
  buildCode(codeLengthCode, lengths, 0, 19)
  const total = literals + distances
  for (let i = 0; i < total; ) {
    const symbol = readSymbolSlowly(codeLengthCode)
    if (symbol < 16) {
      lengths[i++] = symbol
      continue
    }
    let previous = 0
    let repeat: number
    if (symbol === 16) {
      if (i === 0) throw new InflateError('repeated length with nothing before it')
      previous = lengths[i - 1]!
      repeat = 3 + readBits(2)
    } else {
      repeat = symbol === 17 ? 3 + readBits(3) : 11 + readBits(7)
    }
    if (i + repeat > total) throw new InflateError('code lengths run over their end')
    lengths.fill(previous, i, i + repeat)
    i += repeat
  }
  if (lengths[END_OF_BLOCK] === 0) throw new InflateError('no end-of-block code')
  buildCode(dynamicLiteral, lengths, 0, literals)
  buildCode(dynamicDistance, lengths, literals, distances)
}

function inflateCodes(out: Uint8Array, at: number, literal: HuffmanCode, distance: HuffmanCode): number {
  const source = input
  const literalTable = literal.table
  const distanceTable = distance.table
  const literalMask = (1 << literal.bits) - 1
  const distanceMask = (1 << distance.bits) - 1
  // The fast loop refills at most 4 times 2 bytes a round; the rest goes bit by bit.
  const fastEnd = inputEnd - 8
  const outEnd = out.length
  for (;;) {
    let symbol: number
    let entry = 0
    if (position < fastEnd) {
      if (bitCount < 15) {
        bitBuffer |= (source[position]! | (source[position + 1]! << 8)) << bitCount
        position += 2
        bitCount += 16
      }
      entry = literalTable[bitBuffer & literalMask]!
    }
    if (entry !== 0) {
      const len = entry & 15
      bitBuffer >>>= len
      bitCount -= len
      symbol = entry >>> 4
    } else {
      symbol = readSymbolSlowly(literal)
    }
    if (symbol < END_OF_BLOCK) {
      if (at >= outEnd) throw new InflateError('more bytes than the entry declares')
      out[at++] = symbol
      continue
    }
    if (symbol === END_OF_BLOCK) return at
    if (symbol > 285) throw new InflateError('invalid length symbol')
    const length = LENGTH_BASE[symbol - 257]! + readBits(LENGTH_EXTRA[symbol - 257]!)
    entry = 0
    if (position < fastEnd) {
      if (bitCount < 15) {
        bitBuffer |= (source[position]! | (source[position + 1]! << 8)) << bitCount
        position += 2
        bitCount += 16
      }
      entry = distanceTable[bitBuffer & distanceMask]!
    }
    let distanceSymbol: number
    if (entry !== 0) {
      const len = entry & 15
      bitBuffer >>>= len
      bitCount -= len
      distanceSymbol = entry >>> 4
    } else {
      distanceSymbol = readSymbolSlowly(distance)
    }
    if (distanceSymbol > 29) throw new InflateError('invalid distance symbol')
    const back = DISTANCE_BASE[distanceSymbol]! + readBits(DISTANCE_EXTRA[distanceSymbol]!)
    if (back > at || back > WINDOW_CODES) throw new InflateError('distance too far back')
    const end = at + length
    if (end > outEnd) throw new InflateError('more bytes than the entry declares')
    for (let from = at - back; at < end; ) out[at++] = out[from++]!
  }
}

function inflateStored(out: Uint8Array, at: number): number {
  // Whole bytes already in the bit buffer go back to the input; the bits before them are padding.
  position -= bitCount >>> 3
  bitBuffer = 0
  bitCount = 0
  if (position + 4 > inputEnd) throw needInput
  const length = input[position]! | (input[position + 1]! << 8)
  const complement = input[position + 2]! | (input[position + 3]! << 8)
  if (length !== (~complement & 0xffff)) throw new InflateError('stored block length does not match its complement')
  position += 4
  if (at + length > out.length) throw new InflateError('more bytes than the entry declares')
  if (position + length > inputEnd) throw needInput
  out.set(input.subarray(position, position + length), at)
  position += length
  return at + length
}

function adler32(bytes: Uint8Array): number {
  let a = 1
  let b = 0
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(at + ADLER_RUN, bytes.length)
    while (at < end) {
      a += bytes[at++]!
      b += a
    }
    a %= ADLER_MODULUS
    b %= ADLER_MODULUS
  }
  return ((b << 16) | a) >>> 0
}

/**
 * Decodes the zlib stream at `start` of `source` into `out`, which it must fill exactly.
 *
 * @returns the position in `source` after the stream, or {@link NEED_INPUT} if the source ends too early
 *   (`out` then holds nothing of use).
 * @throws {@link InflateError}
 */
export function inflateInto(source: Uint8Array, start: number, out: Uint8Array): number {
  if (start + 2 > source.length) return NEED_INPUT
  const method = source[start]!
  const flags = source[start + 1]!
  if ((method & 15) !== 8 || method >>> 4 > 7) throw new InflateError('not a deflate stream')
  if (((method << 8) | flags) % 31 !== 0) throw new InflateError('wrong zlib header check')
  if (flags & 0x20) throw new InflateError('zlib stream with a preset dictionary')
  input = source
  inputEnd = source.length
  position = start + 2
  bitBuffer = 0
  bitCount = 0
  try {
    let at = 0
    for (let last = 0; last === 0; ) {
      last = readBits(1)
      const type = readBits(2)
      if (type === 0) {
        at = inflateStored(out, at)
      } else if (type === 1) {
        at = inflateCodes(out, at, fixedLiteral, fixedDistance)
      } else if (type === 2) {
        readDynamicCodes()
        at = inflateCodes(out, at, dynamicLiteral, dynamicDistance)
      } else {
        throw new InflateError('invalid block type')
      }
    }
    if (at !== out.length) throw new InflateError('fewer bytes than the entry declares')
    position -= bitCount >>> 3
    if (position + 4 > inputEnd) return NEED_INPUT
    const checksum =
      ((source[position]! << 24) |
        (source[position + 1]! << 16) |
        (source[position + 2]! << 8) |
        source[position + 3]!) >>>
      0
    if (checksum !== adler32(out)) throw new InflateError('wrong zlib checksum')
    return position + 4
  } catch (error) {
    if (error === needInput) return NEED_INPUT
    throw error
  } finally {
    input = out
  }
}
