import { assertRange, type ByteRange, readPieces } from '../../git/bytes/range.ts'
import { R2Range } from './r2-range.ts'

/** R2 wants all parts of an upload but the last of one size, of 5 MiB at least. In bytes. */
export const PART_BYTES = 8 * 1024 * 1024
/** R2 takes so many parts. */
const PART_LIMIT = 10_000
/** The largest pack that can be put into R2, in bytes. */
export const LARGEST_UPLOAD = PART_LIMIT * PART_BYTES
/** A pack up to this size stays in memory until it is taken in, and is never read back. */
const RETAINED_BYTES = 24 * 1024 * 1024

/** An upload in parts that may be gone on with. */
export interface UploadProgress {
  /** R2's id of the upload. */
  readonly uploadId: string
  /** Parts that are there, from the first one on. */
  readonly parts: readonly R2UploadedPart[]
}

export interface PackUploadOptions {
  /** Whether the bytes will be read after `complete`. Default true. */
  readonly isReadBack?: boolean
  /** An upload that was left, to go on with. Its first bytes are there: `write` takes those from `size` on. */
  readonly resumed?: UploadProgress
  /** Hears of an upload in parts once it has begun. */
  readonly onBegin?: (uploadId: string) => void
  /** Hears of each part that is there, in order. */
  readonly onPart?: (part: R2UploadedPart) => void
}

/**
 * Puts a pack into R2 as it arrives: as one object if it is small, else in parts, of which one is on its way while
 * the next fills. Nothing is visible before {@link PackUpload.complete}.
 *
 * Buffers that are done with are filled again, or given back at once: a collector would leave some 64 MiB of them lying.
 */
export class PackUpload {
  readonly #bucket: R2Bucket
  readonly #key: string
  readonly #options: PackUploadOptions
  #part: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  /** A part that R2 has, to be filled again. */
  #spare: Uint8Array<ArrayBuffer> | null = null
  #filled = 0
  #size = 0
  #multipart: R2MultipartUpload | null = null
  readonly #parts: R2UploadedPart[] = []
  #sending: Promise<void> = Promise.resolve()
  /** The part on its way. */
  #sent: Uint8Array<ArrayBuffer> | null = null
  /** The parts so far, while they are few. */
  #retained: Uint8Array<ArrayBuffer>[] | null = []
  /** The object once it is complete. */
  #uploaded: UploadedPack | null = null

  constructor(bucket: R2Bucket, key: string, options: PackUploadOptions = {}) {
    this.#bucket = bucket
    this.#key = key
    this.#options = options
    const { isReadBack = true, resumed } = options
    if (!isReadBack || resumed !== undefined) this.#retained = null
    if (resumed === undefined) return
    this.#multipart = bucket.resumeMultipartUpload(key, resumed.uploadId)
    this.#parts.push(...resumed.parts)
    this.#size = resumed.parts.length * PART_BYTES
  }

  /** Bytes taken so far, those of before with them. */
  get size(): number {
    return this.#size
  }

  /** Bytes that R2 has for certain, of an upload in parts. */
  get storedBytes(): number {
    return this.#parts.length * PART_BYTES
  }

  /** Of the part that fills and the one that fills next, those on their way, those that are kept, and what is read back. */
  get heldBytes(): number {
    const sent = this.#sent?.byteLength ?? 0
    if (this.#uploaded !== null) return this.#uploaded.heldBytes + (this.#uploaded.isKept ? 0 : sent)
    const filling = this.#part.byteLength + (this.#spare?.byteLength ?? 0)
    return filling + (this.#retained === null ? sent : bytesOf(this.#retained))
  }

  /** Keeps nothing for a second look: it is in R2. */
  letGo(): void {
    if (this.#multipart !== null) this.#dropRetained()
    this.#uploaded?.letGo()
  }

  /** Takes the next bytes. They are copied: the caller may reuse its buffer. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#size += bytes.length
    for (let at = 0; at < bytes.length; ) {
      this.#reserve(bytes.length - at)
      const taken = Math.min(PART_BYTES - this.#filled, bytes.length - at)
      this.#part.set(bytes.subarray(at, at + taken), this.#filled)
      this.#filled += taken
      at += taken
      if (this.#filled === PART_BYTES) await this.#sendPart()
    }
  }

  /** Makes the object visible. @returns its bytes, from memory where they are still there. */
  async complete(): Promise<ByteRange> {
    const { range, stored } = await this.finish()
    await stored
    return range
  }

  /** The same, but it waits for R2 only where the bytes have to be read from there: `stored` says when they can be. */
  async finish(): Promise<{ readonly range: ByteRange; readonly stored: Promise<void> }> {
    const last = new Uint8Array(this.#part.buffer, 0, this.#filled)
    this.#part = new Uint8Array(0)
    this.#freeSpare()
    const kept = this.#retained
    if (last.length > 0) kept?.push(last)
    const range = new UploadedPack(kept, new R2Range(this.#bucket, this.#key, this.#size))
    this.#uploaded = range
    this.#retained = null
    const stored = this.#sendRest(last).then(() => range.noteStored())
    // Whoever waits for it meets its failure.
    if (kept !== null) stored.catch(() => undefined)
    else await stored
    return { range, stored }
  }

  async #sendRest(last: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#sending
    this.#sent = last
    if (this.#multipart === null) {
      await this.#bucket.put(this.#key, last)
    } else {
      if (last.length > 0) this.#parts.push(await this.#multipart.uploadPart(this.#parts.length + 1, last))
      await this.#multipart.complete(this.#parts)
      this.#multipart = null
    }
    this.#sent = null
    this.#giveBack(last)
  }

  /** Leaves it as it is, to be gone on with. */
  async leave(): Promise<void> {
    await this.#sending.catch(() => undefined)
  }

  /** Gives up what is not complete. An object that is complete stays: others may rely on it already. */
  async abort(): Promise<void> {
    // A part that failed on its way makes no difference any more.
    await this.#sending.catch(() => undefined)
    await this.#multipart?.abort()
    this.#multipart = null
  }

  /** Room for more bytes: small packs take small buffers. */
  #reserve(more: number): void {
    if (this.#part.length === PART_BYTES || this.#filled + more <= this.#part.length) return
    if (this.#spare !== null) {
      this.#spare.set(this.#part)
      free(this.#part)
      this.#part = this.#spare
      this.#spare = null
      return
    }
    let length = Math.max(this.#part.length, 64 * 1024)
    while (length < PART_BYTES && length < this.#filled + more) length *= 2
    this.#part = new Uint8Array(this.#part.buffer.transfer(Math.min(length, PART_BYTES)))
  }

  async #sendPart(): Promise<void> {
    // Backpressure: at most one part is on its way while the next one fills.
    await this.#sending
    const part = new Uint8Array(this.#part.buffer, 0, this.#filled)
    this.#part = new Uint8Array(0)
    this.#filled = 0
    this.#sent = part
    this.#retain(part)
    const upload = this.#multipart ?? (await this.#begin())
    const number = this.#parts.length + 1
    this.#sending = upload.uploadPart(number, part).then((sent) => {
      this.#parts.push(sent)
      this.#sent = null
      this.#giveBack(part)
      this.#options.onPart?.(sent)
    })
    // The failure is met by the next await of `#sending`; until then it must not count as unhandled.
    this.#sending.catch(() => undefined)
  }

  async #begin(): Promise<R2MultipartUpload> {
    this.#multipart = await this.#bucket.createMultipartUpload(this.#key)
    this.#options.onBegin?.(this.#multipart.uploadId)
    return this.#multipart
  }

  #retain(part: Uint8Array<ArrayBuffer>): void {
    if (this.#retained === null) return
    if (this.#size > RETAINED_BYTES) this.#dropRetained()
    else this.#retained.push(part)
  }

  #dropRetained(): void {
    const retained = this.#retained ?? []
    this.#retained = null
    for (const part of retained) if (part !== this.#sent) this.#giveBack(part)
  }

  /** What is in R2 is filled again, or freed if nothing more will come, unless it is kept for a second look. */
  #giveBack(part: Uint8Array<ArrayBuffer>): void {
    if (this.#retained !== null || this.#uploaded?.isKept === true) return
    this.#freeSpare()
    if (this.#uploaded === null) this.#spare = part
    else free(part)
  }

  #freeSpare(): void {
    if (this.#spare !== null) free(this.#spare)
    this.#spare = null
  }
}

/** Gives the memory back, however long the collector waits. */
function free({ buffer }: Uint8Array<ArrayBuffer>): void {
  buffer.transfer(0)
}

/** A pack that is in R2 or on its way there, and in memory for as long as there is room, in parts of {@link PART_BYTES}, the last one shorter. */
class UploadedPack implements ByteRange {
  readonly size: number
  readonly #stored: R2Range
  #parts: readonly Uint8Array[] | null
  #isStored = false

  constructor(parts: readonly Uint8Array[] | null, stored: R2Range) {
    this.#parts = parts
    this.#stored = stored
    this.size = stored.size
  }

  get heldBytes(): number {
    return (this.#parts === null ? 0 : bytesOf(this.#parts)) + this.#stored.heldBytes
  }

  /** Whether it is in memory. */
  get isKept(): boolean {
    return this.#parts !== null
  }

  /** From now on it can be read from R2. */
  noteStored(): void {
    this.#isStored = true
  }

  letGo(): void {
    if (this.#isStored) this.#parts = null
    this.#stored.letGo()
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const parts = this.#parts
    if (parts === null) return this.#stored.read(offset, length)
    assertRange(this, offset, length)
    const number = Math.floor(offset / PART_BYTES)
    const start = offset - number * PART_BYTES
    const part = parts[number] ?? new Uint8Array(0)
    if (start + length <= part.length) return part.subarray(start, start + length)
    const bytes = new Uint8Array(length)
    let written = 0
    for (let at = number, from = start; written < length; at++, from = 0) {
      const piece = parts[at]!.subarray(from, from + length - written)
      bytes.set(piece, written)
      written += piece.length
    }
    return bytes
  }

  stream(offset: number, length: number): ReadableStream<Uint8Array> {
    let at = offset
    const end = offset + length
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        if (at >= end) {
          controller.close()
          return
        }
        const size = Math.min(end - at, 256 * 1024)
        controller.enqueue((await this.read(at, size)).slice())
        at += size
      },
    })
  }

  pieces(offset: number, length: number, pieceBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
    return readPieces(this, offset, length, pieceBytes)
  }
}

function bytesOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { byteLength }) => sum + byteLength, 0)
}
