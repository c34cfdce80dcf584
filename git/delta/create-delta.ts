/** What is found of the base again: blocks of this many bytes. Shorter runs do not pay. */
const BLOCK = 16
/** Places of the base that have the same hash and are looked at: more would make repetitive texts cost the square of their size. */
const MOST_CANDIDATES = 64
/** A match so long is taken without a look for a longer one. */
const GOOD_MATCH = 4096
/** The most that one instruction copies: git writes and reads three bytes of size, but has only ever used two. */
const MOST_COPIED = 0x10000
const MOST_INSERTED = 0x7f
/** Bases are addressed by 32 bits. */
const MOST_BASE_BYTES = 0xffffffff

/** Multiplier of the rolling hash, and of what mixes its bits; odd, else of no meaning. */
const HASH_FACTOR = 0x01000193
const MIX_FACTOR = 0x9e3779b1
/** What the byte that leaves the block has been multiplied by. */
const LEAVING_FACTOR = power(HASH_FACTOR, BLOCK - 1)

/**
 * Makes a delta: what copies from `base` and what inserts give `target` (gitformat-pack, "Deltified representation").
 * The base is indexed by its blocks, the target looked through with a rolling hash, as in git's `diff-delta.c` and rsync:
 * time goes by the two sizes, memory is half the base's and the limit.
 *
 * @param limit the longest delta that is of use, in bytes
 * @returns null if it would be longer.
 */
export function createDelta(base: Uint8Array, target: Uint8Array, limit: number): Uint8Array | null {
  if (base.length > MOST_BASE_BYTES) return null
  const writer = new DeltaWriter(target, limit)
  writer.size(base.length)
  writer.size(target.length)
  const index = new BlockIndex(base)
  let at = 0
  let hash = at + BLOCK <= target.length ? hashOf(target, at) : 0
  // Bytes from here up to `at` have not been written.
  let pending = 0
  while (at + BLOCK <= target.length && !writer.isFull) {
    const match = index.find(hash, target, at)
    if (match === null) {
      hash = rolled(hash, target, at)
      at++
      continue
    }
    let { from, length } = match
    while (from > 0 && at > pending && base[from - 1] === target[at - 1]) {
      from--
      at--
      length++
    }
    writer.insert(pending, at)
    writer.copy(from, length)
    at += length
    pending = at
    if (at + BLOCK <= target.length) hash = hashOf(target, at)
  }
  writer.insert(pending, target.length)
  return writer.finish()
}

/** Where the blocks of a base are, by their hashes. */
class BlockIndex {
  readonly #base: Uint8Array
  /** By bucket the first block, and by block the next one in its bucket; -1: none. */
  readonly #heads: Int32Array
  readonly #nexts: Int32Array
  readonly #shift: number

  constructor(base: Uint8Array) {
    this.#base = base
    const blocks = Math.floor(base.length / BLOCK)
    let bits = 4
    while (1 << bits < blocks) bits++
    this.#shift = 32 - bits
    this.#heads = new Int32Array(1 << bits).fill(-1)
    this.#nexts = new Int32Array(blocks)
    let lastHash = -1
    for (let block = blocks - 1; block >= 0; block--) {
      const hash = hashOf(base, block * BLOCK)
      const bucket = this.#bucketOf(hash)
      // Of blocks in a row that are the same only the first is of use: a match goes on from there.
      if (hash === lastHash && this.#heads[bucket] === block + 1) this.#nexts[block] = this.#nexts[block + 1]!
      else this.#nexts[block] = this.#heads[bucket]!
      this.#heads[bucket] = block
      lastHash = hash
    }
  }

  /** The longest run of the base that starts with a block and is at `at` of the target, or null. */
  find(hash: number, target: Uint8Array, at: number): { from: number; length: number } | null {
    let from = 0
    let length = 0
    let block = this.#heads[this.#bucketOf(hash)]!
    for (let candidates = 0; block >= 0 && candidates < MOST_CANDIDATES && length < GOOD_MATCH; candidates++) {
      const shared = this.#sharedLength(block * BLOCK, target, at)
      if (shared > length) {
        from = block * BLOCK
        length = shared
      }
      block = this.#nexts[block]!
    }
    return length < BLOCK ? null : { from, length }
  }

  #sharedLength(from: number, target: Uint8Array, at: number): number {
    const base = this.#base
    const most = Math.min(base.length - from, target.length - at)
    let length = 0
    while (length < most && base[from + length] === target[at + length]) length++
    return length
  }

  #bucketOf(hash: number): number {
    return Math.imul(hash, MIX_FACTOR) >>> this.#shift
  }
}

function hashOf(bytes: Uint8Array, at: number): number {
  let hash = 0
  for (let i = at; i < at + BLOCK; i++) hash = (Math.imul(hash, HASH_FACTOR) + bytes[i]!) | 0
  return hash
}

/** The hash of the block at `at + 1`. */
function rolled(hash: number, bytes: Uint8Array, at: number): number {
  const rest = hash - Math.imul(bytes[at]!, LEAVING_FACTOR)
  return (Math.imul(rest, HASH_FACTOR) + bytes[at + BLOCK]!) | 0
}

function power(base: number, exponent: number): number {
  let result = 1
  for (let i = 0; i < exponent; i++) result = Math.imul(result, base)
  return result
}

/** Writes the instructions of a delta, up to a limit. */
class DeltaWriter {
  readonly #target: Uint8Array
  readonly #bytes: Uint8Array
  #length = 0

  constructor(target: Uint8Array, limit: number) {
    this.#target = target
    this.#bytes = new Uint8Array(Math.max(0, limit))
  }

  /** Whether the limit has been passed: what follows is of no use. */
  get isFull(): boolean {
    return this.#length > this.#bytes.length
  }

  size(size: number): void {
    let rest = size
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#byte((rest % 0x80) | 0x80)
    this.#byte(rest)
  }

  insert(start: number, end: number): void {
    for (let at = start; at < end && !this.isFull; at += MOST_INSERTED) {
      const part = this.#target.subarray(at, Math.min(end, at + MOST_INSERTED))
      this.#byte(part.length)
      if (this.#length + part.length <= this.#bytes.length) this.#bytes.set(part, this.#length)
      this.#length += part.length
    }
  }

  copy(start: number, length: number): void {
    for (let done = 0; done < length && !this.isFull; done += MOST_COPIED) {
      const size = Math.min(MOST_COPIED, length - done)
      const instructionAt = this.#length
      let instruction = 0x80
      this.#byte(instruction)
      const from = start + done
      for (let i = 0; i < 4; i++) {
        const byte = (from >>> (i * 8)) & 0xff
        if (byte === 0) continue
        instruction |= 1 << i
        this.#byte(byte)
      }
      // No size stands for the largest.
      for (let i = 0; i < 2 && size < MOST_COPIED; i++) {
        const byte = (size >>> (i * 8)) & 0xff
        if (byte === 0) continue
        instruction |= 0x10 << i
        this.#byte(byte)
      }
      this.#bytes[instructionAt] = instruction
    }
  }

  /** @returns null if the limit has been passed. */
  finish(): Uint8Array | null {
    return this.isFull ? null : this.#bytes.subarray(0, this.#length)
  }

  #byte(byte: number): void {
    this.#bytes[this.#length++] = byte
  }
}
