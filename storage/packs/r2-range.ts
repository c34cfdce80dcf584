import { ByteCache } from '../../git/bytes/byte-cache.ts'
import { assertRange, type ByteRange } from '../../git/bytes/range.ts'
import type { PackReader } from './pack-reader.ts'

/** Small reads are served from blocks of this size: neighbours in a pack are mostly read together. */
const BLOCK_BYTES = 128 * 1024
/** Blocks kept for each open pack. */
const BLOCK_CACHE_BYTES = 4 * 1024 * 1024

/** An R2 object is gone although a manifest names it: the manifest is older than a clean-up, or R2 has lost it. */
export class ObjectGoneError extends Error {
  override name = 'ObjectGoneError'
  readonly key: string

  constructor(key: string) {
    super(`${key} is not in the bucket`)
    this.key = key
  }
}

/** The bytes of an R2 object. */
export class R2Range implements ByteRange {
  readonly size: number
  readonly #bucket: PackReader
  readonly #key: string
  readonly #onGone: () => void
  readonly #blocks = new ByteCache(BLOCK_CACHE_BYTES)
  /** Bytes asked for that have not come yet. */
  #underWay = 0
  /** Reads under way, so that two readers of one block share it. */
  readonly #pending = new Map<number, Promise<Uint8Array>>()

  /** @param onGone is called before {@link ObjectGoneError} is thrown. */
  constructor(bucket: PackReader, key: string, size: number, onGone: () => void = () => undefined) {
    this.#bucket = bucket
    this.#key = key
    this.size = size
    this.#onGone = onGone
  }

  /** Of the blocks that are kept, and the reads that are under way. */
  get heldBytes(): number {
    return this.#blocks.held + this.#underWay
  }

  /** Blocks are read again where they are needed. */
  letGo(): void {
    this.#blocks.clear()
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    assertRange(this, offset, length)
    if (length === 0) return new Uint8Array(0)
    const first = Math.floor(offset / BLOCK_BYTES)
    const last = Math.floor((offset + length - 1) / BLOCK_BYTES)
    if (last - first > 1) return this.#get(offset, length)
    if (last > first) this.#fetchBoth(first)
    const start = offset - first * BLOCK_BYTES
    const head = await this.#block(first)
    if (first === last) return head.subarray(start, start + length)
    const bytes = new Uint8Array(length)
    const fromHead = head.subarray(start)
    bytes.set(fromHead)
    bytes.set((await this.#block(last)).subarray(0, length - fromHead.length), fromHead.length)
    return bytes
  }

  stream(offset: number, length: number): ReadableStream<Uint8Array> {
    assertRange(this, offset, length)
    let reader: ReadableStreamDefaultReader<Uint8Array> | null = null
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        reader ??= (await this.#open(offset, length)).getReader()
        const { value, done } = await reader.read()
        if (!done) controller.enqueue(value)
        else controller.close()
      },
      cancel: (reason) => reader?.cancel(reason),
    })
  }

  /**
   * One request, however long the span is. One that breaks off is made again from where it broke: a slow client can
   * keep it open for minutes. Two buffers are used in turn, and what was given from one is gone (its length is 0) once it
   * is filled again.
   */
  async *pieces(offset: number, length: number, pieceBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
    assertRange(this, offset, length)
    if (length <= pieceBytes) {
      if (length > 0) yield await this.read(offset, length)
      return
    }
    const end = offset + length
    let at = offset
    let latest: ArrayBuffer | null = null
    let spare: ArrayBuffer | null = null
    while (at < end) {
      const openedAt = at
      const reader = (await this.#open(at, end - at)).getReader({ mode: 'byob' })
      try {
        while (at < end) {
          const buffer: ArrayBuffer = spare ?? new ArrayBuffer(pieceBytes)
          spare = null
          const piece = await readPiece(reader, buffer, Math.min(pieceBytes, end - at))
          at += piece.length
          spare = latest
          latest = piece.buffer
          yield piece
        }
      } catch (error) {
        if (at === openedAt) throw error
      } finally {
        // Nobody waits for it: what has come is of no use to anyone, and neither is the word that it has gone.
        reader.cancel().catch(() => undefined)
      }
    }
  }

  /** Two blocks that are not at hand are one request. */
  #fetchBoth(first: number): void {
    const blocks = [first, first + 1]
    if (blocks.some((block) => this.#blocks.get(block) !== undefined || this.#pending.has(block))) return
    const offset = first * BLOCK_BYTES
    const both = this.#get(offset, Math.min(2 * BLOCK_BYTES, this.size - offset))
    for (const [i, block] of blocks.entries()) {
      this.#await(
        block,
        both.then((bytes) => bytes.slice(i * BLOCK_BYTES, (i + 1) * BLOCK_BYTES)),
      )
    }
  }

  #block(number: number): Promise<Uint8Array> | Uint8Array {
    const kept = this.#blocks.get(number)
    if (kept !== undefined) return kept
    const offset = number * BLOCK_BYTES
    const length = Math.min(BLOCK_BYTES, this.size - offset)
    return this.#pending.get(number) ?? this.#await(number, this.#get(offset, length))
  }

  /** Keeps a block once it comes. */
  #await(number: number, coming: Promise<Uint8Array>): Promise<Uint8Array> {
    const pending = coming
      .then((block) => {
        this.#blocks.set(number, block)
        return block
      })
      .finally(() => this.#pending.delete(number))
    // Whoever reads the block hears of a failure; of two that were asked for at once the second may have no reader any more.
    pending.catch(() => undefined)
    this.#pending.set(number, pending)
    return pending
  }

  async #get(offset: number, length: number): Promise<Uint8Array> {
    this.#underWay += length
    try {
      return new Uint8Array(await (await this.#getObject(offset, length)).arrayBuffer())
    } finally {
      this.#underWay -= length
    }
  }

  async #open(offset: number, length: number): Promise<ReadableStream<Uint8Array>> {
    return (await this.#getObject(offset, length)).body
  }

  async #getObject(offset: number, length: number): Promise<R2ObjectBody> {
    const object = await this.#bucket.get(this.#key, { range: { offset, length } })
    if (object !== null) return object
    this.#onGone()
    throw new ObjectGoneError(this.#key)
  }
}

/** Reads `length` bytes into a buffer, which is the piece's from then on. */
async function readPiece(
  reader: ReadableStreamBYOBReader,
  buffer: ArrayBuffer,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const { value } = await reader.readAtLeast(length, new Uint8Array(buffer, 0, length))
  if (value?.length !== length) throw new Error(`R2 gave ${value?.length ?? 0} bytes of ${length}`)
  return value
}
