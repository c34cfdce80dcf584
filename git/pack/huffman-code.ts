import { InflateError } from './inflate-error.ts'

/** Codes of deflate are at most this long. */
export const MAX_CODE_BITS = 15

/** A canonical Huffman code of deflate (RFC 1951, 3.2.2): a table for the short codes, a walk bit by bit for the rest. */
export class HuffmanCode {
  /** `symbol << 4 | length`, indexed by the next {@link mask} input bits; 0 where the code is longer or absent. */
  readonly table: Uint16Array
  readonly mask: number
  readonly #bits: number
  readonly #reversed: Uint16Array
  /** How many codes there are of each length, and all symbols in the order of their codes. */
  readonly #count = new Uint16Array(MAX_CODE_BITS + 1)
  readonly #symbols: Uint16Array
  readonly #offsets = new Uint16Array(MAX_CODE_BITS + 2)
  readonly #nextCode = new Uint16Array(MAX_CODE_BITS + 2)

  /**
   * @param bits codes up to this long are looked up in one step.
   * @param symbols the most that the code may have.
   */
  constructor(bits: number, symbols: number) {
    this.table = new Uint16Array(1 << bits)
    this.mask = (1 << bits) - 1
    this.#bits = bits
    this.#symbols = new Uint16Array(symbols)
    this.#reversed = reversedBits(bits)
  }

  /**
   * Becomes the code with these lengths: `n` of them from `from`, 0 for a symbol that does not occur.
   *
   * As in zlib, a code may lack symbols only if it has none or a single one of one bit.
   *
   * @param needsAll refuses that too: the code of the code lengths.
   * @throws {@link InflateError}
   */
  build(lengths: Uint8Array, from: number, n: number, needsAll = false): void {
    const { table } = this
    const bits = this.#bits
    const count = this.#count
    const offsets = this.#offsets
    const nextCode = this.#nextCode
    count.fill(0)
    for (let i = from; i < from + n; i++) count[lengths[i]!]!++
    count[0] = 0
    let left = 1
    let longest = 0
    offsets[1] = 0
    nextCode[1] = 0
    for (let length = 1; length <= MAX_CODE_BITS; length++) {
      const codes = count[length]!
      left = (left << 1) - codes
      if (left < 0) throw new InflateError('over-subscribed Huffman code')
      if (codes > 0) longest = length
      offsets[length + 1] = offsets[length]! + codes
      nextCode[length + 1] = (nextCode[length]! + codes) << 1
    }
    if (left > 0 && longest > 0 && (longest > 1 || needsAll)) throw new InflateError('incomplete Huffman code')
    if (left > 0 || longest > bits) table.fill(0)
    for (let symbol = 0; symbol < n; symbol++) {
      const length = lengths[from + symbol]!
      if (length === 0) continue
      this.#symbols[offsets[length]!++] = symbol
      const code = nextCode[length]!++
      if (length > bits) continue
      const value = (symbol << 4) | length
      const step = 1 << length
      for (let at = this.#reversed[code]! >>> (bits - length); at < table.length; at += step) table[at] = value
    }
  }

  /** The entry of the code at the low end of `input`, as in the table, for codes of any length. @throws {@link InflateError} */
  find(input: number): number {
    let rest = input
    let code = 0
    let first = 0
    let index = 0
    for (let length = 1; length <= MAX_CODE_BITS; length++) {
      code |= rest & 1
      rest >>>= 1
      const n = this.#count[length]!
      if (code - n < first) return (this.#symbols[index + code - first]! << 4) | length
      index += n
      first = (first + n) << 1
      code <<= 1
    }
    throw new InflateError('invalid Huffman code')
  }
}

/** Deflate writes codes from their top bit into a stream that is read from the low end. */
function reversedBits(bits: number): Uint16Array {
  const table = new Uint16Array(1 << bits)
  for (let i = 0; i < table.length; i++) {
    for (let bit = 0; bit < bits; bit++) table[i]! |= ((i >>> bit) & 1) << (bits - 1 - bit)
  }
  return table
}
