import { HuffmanCode, MAX_CODE_BITS } from './huffman-code.ts'
import { InflateError } from './inflate-error.ts'

/**
 * A zlib (RFC 1950) and deflate (RFC 1951) decoder for pack entries.
 *
 * A pack entry says how long its object is and never how many compressed bytes it has, so a reader must
 * decode it to find where the next entry starts. The platform's decoders either do not tell where a stream
 * ended or keep the input alive; this one writes straight into a buffer, stops when the input or the room runs out,
 * goes on from there, and says where the stream ended.
 */

/** What {@link Inflater.run} stopped at. */
export const DONE = 0
export const NEED_INPUT = -1
export const NEED_OUTPUT = -2
export type InflateStop = typeof DONE | typeof NEED_INPUT | typeof NEED_OUTPUT

/** How far back a match may reach, in bytes: what must stay in front of `written` when the output slides. */
export const INFLATE_WINDOW_BYTES = 32768

const LITERAL_BITS = 9
const DISTANCE_BITS = 8
const CODE_LENGTH_BITS = 7
const LITERALS = 288
const DISTANCES = 32
const CODE_LENGTHS = 19
const END_OF_BLOCK = 256
const END_OF_BLOCK_ENTRY = END_OF_BLOCK << 4
/** A symbol of the fast loop takes at most three refills of two bytes. */
const FAST_INPUT_BYTES = 6
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
const LAST_LENGTH_SYMBOL = 256 + LENGTH_BASE.length
const NOTHING = new Uint8Array(0)

const fixedLiterals = new HuffmanCode(LITERAL_BITS, LITERALS)
const fixedDistances = new HuffmanCode(DISTANCE_BITS, DISTANCES)
fixedLiterals.build(
  new Uint8Array(LITERALS).fill(8, 0, 144).fill(9, 144, 256).fill(7, 256, 280).fill(8, 280),
  0,
  LITERALS,
)
fixedDistances.build(new Uint8Array(DISTANCES).fill(5), 0, DISTANCES)

const ZLIB_HEADER = 0
const BLOCK_HEADER = 1
const STORED = 2
const CODES = 3
const CHECKSUM = 4

/** Thrown where the end of the input cuts a value off; what was read of it is then given back. */
class CutOff extends Error {}
const cutOff = new CutOff()

export class Inflater {
  /** How many bytes of the output are filled. */
  written = 0
  /** After {@link run}: where in its source the stream goes on, or where it ended. */
  position = 0
  #out: Uint8Array = NOTHING
  #source: Uint8Array = NOTHING
  #end = 0
  /** Bits taken from the source and not used yet: the low `#bitCount`; the others are 0. */
  #bits = 0
  #bitCount = 0
  #stage = ZLIB_HEADER
  #isLast = false
  /** Bytes left of a stored block. */
  #stored = 0
  #literals = fixedLiterals
  #distances = fixedDistances
  /** Adler-32 of the output up to `#summed`. */
  #adlerLow = 1
  #adlerHigh = 0
  #summed = 0
  readonly #dynamicLiterals = new HuffmanCode(LITERAL_BITS, LITERALS)
  readonly #dynamicDistances = new HuffmanCode(DISTANCE_BITS, DISTANCES)
  readonly #codeLengths = new HuffmanCode(CODE_LENGTH_BITS, CODE_LENGTHS)
  readonly #lengths = new Uint8Array(LITERALS + DISTANCES)

  /** Begins a stream that is to be written into `out`. */
  begin(out: Uint8Array): void {
    this.#bits = 0
    this.#bitCount = 0
    this.#stage = ZLIB_HEADER
    this.#isLast = false
    this.#adlerLow = 1
    this.#adlerHigh = 0
    this.continueIn(out, 0)
  }

  /**
   * Goes on in `out` after {@link NEED_OUTPUT}. It must hold the last bytes so far before `written`, up to
   * {@link INFLATE_WINDOW_BYTES} of them.
   */
  continueIn(out: Uint8Array, written: number): void {
    this.#out = out
    this.written = written
    this.#summed = written
  }

  /**
   * Decodes `source[from..end)` until the stream ends, or the input or the room for output does. The source may be
   * another one in the next call, as long as it goes on at `position`.
   *
   * @throws {@link InflateError}; the stream cannot go on then.
   */
  run(source: Uint8Array, from: number, end: number): InflateStop {
    this.#source = source
    this.position = from
    this.#end = end
    const stop = this.#decode()
    this.#giveBackBytes()
    this.#addToChecksum()
    this.#source = NOTHING
    return stop
  }

  #decode(): InflateStop {
    for (;;) {
      if (this.#stage === CODES && !this.#decodeFast()) return NEED_OUTPUT
      if (this.#stage === STORED && !this.#copyStored()) {
        return this.written === this.#out.length ? NEED_OUTPUT : NEED_INPUT
      }
      const { position } = this
      const bits = this.#bits
      const bitCount = this.#bitCount
      try {
        if (this.#stage === CODES) {
          // Near the end of the input, one symbol at a time.
          if (this.#decodeSymbol()) continue
        } else if (this.#stage === BLOCK_HEADER) {
          this.#readBlockHeader()
          continue
        } else if (this.#stage === ZLIB_HEADER) {
          this.#readZlibHeader()
          continue
        } else {
          this.#checkChecksum()
          return DONE
        }
      } catch (error) {
        if (error !== cutOff) throw error
        this.#restore(position, bits, bitCount)
        return NEED_INPUT
      }
      this.#restore(position, bits, bitCount)
      return NEED_OUTPUT
    }
  }

  #restore(position: number, bits: number, bitCount: number): void {
    this.position = position
    this.#bits = bits
    this.#bitCount = bitCount
  }

  #take(n: number): number {
    while (this.#bitCount < n) this.#takeByte()
    const value = this.#bits & ((1 << n) - 1)
    this.#bits >>>= n
    this.#bitCount -= n
    return value
  }

  #takeByte(): void {
    if (this.position >= this.#end) throw cutOff
    this.#bits |= this.#source[this.position++]! << this.#bitCount
    this.#bitCount += 8
  }

  #takeSymbol(code: HuffmanCode): number {
    for (;;) {
      let entry = code.table[this.#bits & code.mask]!
      if (entry === 0 && this.#bitCount >= MAX_CODE_BITS) entry = code.find(this.#bits)
      const length = entry & 15
      if (entry !== 0 && length <= this.#bitCount) {
        this.#bits >>>= length
        this.#bitCount -= length
        return entry >>> 4
      }
      this.#takeByte()
    }
  }

  /** Bits up to the next whole byte are padding; whole bytes go back to the input. */
  #alignToByte(): void {
    this.position -= this.#bitCount >>> 3
    this.#bits = 0
    this.#bitCount = 0
  }

  #giveBackBytes(): void {
    this.position -= this.#bitCount >>> 3
    this.#bitCount &= 7
    this.#bits &= (1 << this.#bitCount) - 1
  }

  #readZlibHeader(): void {
    const method = this.#take(8)
    const flags = this.#take(8)
    if ((method & 15) !== 8 || method >>> 4 > 7) throw new InflateError('not a deflate stream')
    if (((method << 8) | flags) % 31 !== 0) throw new InflateError('wrong zlib header check')
    if (flags & 0x20) throw new InflateError('zlib stream with a preset dictionary')
    this.#stage = BLOCK_HEADER
  }

  #readBlockHeader(): void {
    const isLast = this.#take(1) === 1
    const type = this.#take(2)
    if (type === 0) {
      this.#readStoredHeader()
    } else if (type === 1) {
      this.#literals = fixedLiterals
      this.#distances = fixedDistances
      this.#stage = CODES
    } else if (type === 2) {
      this.#readDynamicCodes()
      this.#stage = CODES
    } else {
      throw new InflateError('invalid block type')
    }
    this.#isLast = isLast
  }

  #endBlock(): void {
    this.#stage = this.#isLast ? CHECKSUM : BLOCK_HEADER
  }

  #readStoredHeader(): void {
    this.#alignToByte()
    const length = this.#take(8) | (this.#take(8) << 8)
    const complement = this.#take(8) | (this.#take(8) << 8)
    if (length !== (~complement & 0xffff)) throw new InflateError('stored block length does not match its complement')
    this.#stored = length
    this.#stage = STORED
  }

  /** @returns whether the block is whole. */
  #copyStored(): boolean {
    const length = Math.min(this.#stored, this.#end - this.position, this.#out.length - this.written)
    this.#out.set(this.#source.subarray(this.position, this.position + length), this.written)
    this.position += length
    this.written += length
    this.#stored -= length
    if (this.#stored > 0) return false
    this.#endBlock()
    return true
  }

  #readDynamicCodes(): void {
    const lengths = this.#lengths
    const literals = this.#take(5) + 257
    const distances = this.#take(5) + 1
    const codeLengths = this.#take(4) + 4
    if (literals > 286 || distances > 30) throw new InflateError('too many length or distance symbols')
    lengths.fill(0, 0, CODE_LENGTHS)
    for (let i = 0; i < codeLengths; i++) lengths[CODE_LENGTH_ORDER[i]!] = this.#take(3)
    this.#codeLengths.build(lengths, 0, CODE_LENGTHS, true)
    this.#readCodeLengths(literals + distances)
    if (lengths[END_OF_BLOCK] === 0) throw new InflateError('no end-of-block code')
    this.#dynamicLiterals.build(lengths, 0, literals)
    this.#dynamicDistances.build(lengths, literals, distances)
    this.#literals = this.#dynamicLiterals
    this.#distances = this.#dynamicDistances
  }

  #readCodeLengths(total: number): void {
    const lengths = this.#lengths
    for (let i = 0; i < total; ) {
      const symbol = this.#takeSymbol(this.#codeLengths)
      if (symbol < 16) {
        lengths[i++] = symbol
        continue
      }
      let previous = 0
      let repeat: number
      if (symbol === 16) {
        if (i === 0) throw new InflateError('repeated length with nothing before it')
        previous = lengths[i - 1]!
        repeat = 3 + this.#take(2)
      } else {
        repeat = symbol === 17 ? 3 + this.#take(3) : 11 + this.#take(7)
      }
      if (i + repeat > total) throw new InflateError('code lengths run over their end')
      for (const end = i + repeat; i < end; ) lengths[i++] = previous
    }
  }

  /**
   * Decodes symbols as long as there is input for any of them.
   *
   * @returns false if the output is full. What the last symbol took is then given back.
   */
  #decodeFast(): boolean {
    const source = this.#source
    const out = this.#out
    const literals = this.#literals
    const distances = this.#distances
    const literalTable = literals.table
    const literalMask = literals.mask
    const distanceTable = distances.table
    const distanceMask = distances.mask
    const fastEnd = this.#end - FAST_INPUT_BYTES
    const outEnd = out.length
    let position = this.position
    let bits = this.#bits
    let bitCount = this.#bitCount
    let at = this.written
    let hasRoom = true
    while (position <= fastEnd) {
      if (bitCount < MAX_CODE_BITS) {
        bits |= (source[position]! | (source[position + 1]! << 8)) << bitCount
        position += 2
        bitCount += 16
      }
      let entry = literalTable[bits & literalMask]!
      if (entry === 0) entry = literals.find(bits)
      if (entry < END_OF_BLOCK_ENTRY) {
        if (at === outEnd) {
          hasRoom = false
          break
        }
        bits >>>= entry & 15
        bitCount -= entry & 15
        out[at++] = entry >>> 4
        continue
      }
      const positionBefore = position
      const bitsBefore = bits
      const bitCountBefore = bitCount
      bits >>>= entry & 15
      bitCount -= entry & 15
      const symbol = entry >>> 4
      if (symbol === END_OF_BLOCK) {
        this.#endBlock()
        break
      }
      if (symbol > LAST_LENGTH_SYMBOL) throw new InflateError('invalid length symbol')
      const lengthExtra = LENGTH_EXTRA[symbol - 257]!
      if (bitCount < MAX_CODE_BITS) {
        bits |= (source[position]! | (source[position + 1]! << 8)) << bitCount
        position += 2
        bitCount += 16
      }
      const length = LENGTH_BASE[symbol - 257]! + (bits & ((1 << lengthExtra) - 1))
      bits >>>= lengthExtra
      bitCount -= lengthExtra
      if (bitCount < MAX_CODE_BITS) {
        bits |= (source[position]! | (source[position + 1]! << 8)) << bitCount
        position += 2
        bitCount += 16
      }
      entry = distanceTable[bits & distanceMask]!
      if (entry === 0) entry = distances.find(bits)
      bits >>>= entry & 15
      bitCount -= entry & 15
      const distanceSymbol = entry >>> 4
      if (distanceSymbol >= DISTANCE_BASE.length) throw new InflateError('invalid distance symbol')
      const distanceExtra = DISTANCE_EXTRA[distanceSymbol]!
      if (bitCount < distanceExtra) {
        bits |= (source[position]! | (source[position + 1]! << 8)) << bitCount
        position += 2
        bitCount += 16
      }
      const distance = DISTANCE_BASE[distanceSymbol]! + (bits & ((1 << distanceExtra) - 1))
      bits >>>= distanceExtra
      bitCount -= distanceExtra
      if (distance > at) throw new InflateError('distance too far back')
      const end = at + length
      if (end > outEnd) {
        hasRoom = false
        position = positionBefore
        bits = bitsBefore
        bitCount = bitCountBefore
        break
      }
      for (let from = at - distance; at < end; ) out[at++] = out[from++]!
    }
    this.position = position
    this.#bits = bits
    this.#bitCount = bitCount
    this.written = at
    return hasRoom
  }

  /** @returns false if there is no room for the symbol's output. */
  #decodeSymbol(): boolean {
    const out = this.#out
    const symbol = this.#takeSymbol(this.#literals)
    if (symbol < END_OF_BLOCK) {
      if (this.written === out.length) return false
      out[this.written++] = symbol
      return true
    }
    if (symbol === END_OF_BLOCK) {
      this.#endBlock()
      return true
    }
    if (symbol > LAST_LENGTH_SYMBOL) throw new InflateError('invalid length symbol')
    const length = LENGTH_BASE[symbol - 257]! + this.#take(LENGTH_EXTRA[symbol - 257]!)
    const distanceSymbol = this.#takeSymbol(this.#distances)
    if (distanceSymbol >= DISTANCE_BASE.length) throw new InflateError('invalid distance symbol')
    const distance = DISTANCE_BASE[distanceSymbol]! + this.#take(DISTANCE_EXTRA[distanceSymbol]!)
    if (distance > this.written) throw new InflateError('distance too far back')
    if (this.written + length > out.length) return false
    for (const end = this.written + length; this.written < end; this.written++) {
      out[this.written] = out[this.written - distance]!
    }
    return true
  }

  #addToChecksum(): void {
    const out = this.#out
    const end = this.written
    let low = this.#adlerLow
    let high = this.#adlerHigh
    for (let at = this.#summed; at < end; ) {
      const runEnd = Math.min(at + ADLER_RUN, end)
      while (at < runEnd) {
        low += out[at++]!
        high += low
      }
      low %= ADLER_MODULUS
      high %= ADLER_MODULUS
    }
    this.#adlerLow = low
    this.#adlerHigh = high
    this.#summed = end
  }

  #checkChecksum(): void {
    this.#alignToByte()
    const high = (this.#take(8) << 8) | this.#take(8)
    const low = (this.#take(8) << 8) | this.#take(8)
    this.#addToChecksum()
    if (high !== this.#adlerHigh || low !== this.#adlerLow) throw new InflateError('wrong zlib checksum')
  }
}

/** For calls that are done with it before they return: decoding is synchronous, so no two of them overlap. */
const shared = new Inflater()

/**
 * Decodes the zlib stream at `start` of `source` into `out`, which it must fill exactly.
 *
 * @returns the position in `source` after the stream, or {@link NEED_INPUT} if the source ends too early.
 * @throws {@link InflateError}
 */
export function inflateInto(source: Uint8Array, start: number, out: Uint8Array): number {
  shared.begin(out)
  const stop = shared.run(source, start, source.length)
  const { written } = shared
  shared.continueIn(NOTHING, 0)
  if (stop === NEED_INPUT) return NEED_INPUT
  if (stop === NEED_OUTPUT) throw new InflateError('more bytes than the entry declares')
  if (written !== out.length) throw new InflateError('fewer bytes than the entry declares')
  return shared.position
}
