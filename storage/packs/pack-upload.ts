import { assertRange, type ByteRange, readPieces } from '../../git/bytes/range.ts'
import { R2Range } from './r2-range.ts'

/** R2 wants all parts of an upload but the last of one size, of 5 MiB at least. */
const PART_BYTES = 8 * 1024 * 1024
/** A pack up to this size stays in memory until it is taken in, and is never read back. */
const RETAINED_BYTES = 24 * 1024 * 1024

/**
 * Puts a pack into R2 as it arrives: as one object if it is small, else in parts, of which one is on its way while
 * the next fills. Nothing is visible before {@link PackUpload.complete}.
 */
export class PackUpload {
  readonly #bucket: R2Bucket
  readonly #key: string
  #part = new Uint8Array(0)
  #filled = 0
  #size = 0
  #multipart: R2MultipartUpload | null = null
  readonly #parts: R2UploadedPart[] = []
  #sending: Promise<void> = Promise.resolve()
  /** Bytes of the part on its way. */
  #sent = 0
  /** The parts so far, while they are few. */
  #retained: Uint8Array[] | null = []

  /** @param options `isReadBack`: whether the bytes will be read after `complete`; default true */
  constructor(bucket: R2Bucket, key: string, options: { readonly isReadBack?: boolean } = {}) {
    this.#bucket = bucket
    this.#key = key
    if (options.isReadBack === false) this.#retained = null
  }

  /** Bytes taken so far. */
  get size(): number {
    return this.#size
  }

  /** Of the part that fills, those on their way, and those that are kept. */
  get heldBytes(): number {
    const kept = this.#retained?.reduce((sum, { byteLength }) => sum + byteLength, 0) ?? this.#sent
    return this.#part.byteLength + kept
  }

  /** Keeps nothing for a second look: it is in R2. */
  letGo(): void {
    if (this.#multipart !== null) this.#retained = null
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
    const last = this.#part.subarray(0, this.#filled)
    this.#part = new Uint8Array(0)
    if (last.length > 0) this.#retained?.push(last)
    const stored = this.#sendRest(last)
    if (this.#retained !== null) {
      // Whoever waits for it meets its failure.
      stored.catch(() => undefined)
      return { range: new PartsRange(this.#retained, this.#size), stored }
    }
    await stored
    return { range: new R2Range(this.#bucket, this.#key, this.#size), stored }
  }

  async #sendRest(last: Uint8Array): Promise<void> {
    if (this.#multipart === null) {
      await this.#bucket.put(this.#key, last)
      return
    }
    await this.#sending
    if (last.length > 0) this.#parts.push(await this.#multipart.uploadPart(this.#parts.length + 1, last))
    await this.#multipart.complete(this.#parts)
    this.#multipart = null
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
    let length = Math.max(this.#part.length, 64 * 1024)
    while (length < PART_BYTES && length < this.#filled + more) length *= 2
    const larger = new Uint8Array(Math.min(length, PART_BYTES))
    larger.set(this.#part.subarray(0, this.#filled))
    this.#part = larger
  }

  async #sendPart(): Promise<void> {
    // Backpressure: at most one part is on its way while the next one fills.
    await this.#sending
    const part = this.#part.subarray(0, this.#filled)
    this.#part = new Uint8Array(0)
    this.#filled = 0
    this.#retain(part)
    this.#multipart ??= await this.#bucket.createMultipartUpload(this.#key)
    const upload = this.#multipart
    this.#sent = part.byteLength
    const number = this.#parts.length + 1
    this.#sending = upload.uploadPart(number, part).then((sent) => {
      this.#parts.push(sent)
      this.#sent = 0
    })
    // The failure is met by the next await of `#sending`; until then it must not count as unhandled.
    this.#sending.catch(() => undefined)
  }

  #retain(part: Uint8Array): void {
    if (this.#retained === null) return
    if (this.#size > RETAINED_BYTES) this.#retained = null
    else this.#retained.push(part)
  }
}

/** Bytes in memory in parts of {@link PART_BYTES}, the last one shorter. */
class PartsRange implements ByteRange {
  readonly size: number
  readonly #parts: readonly Uint8Array[]

  constructor(parts: readonly Uint8Array[], size: number) {
    this.#parts = parts
    this.size = size
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    assertRange(this, offset, length)
    const number = Math.floor(offset / PART_BYTES)
    const start = offset - number * PART_BYTES
    const part = this.#parts[number] ?? new Uint8Array(0)
    if (start + length <= part.length) return part.subarray(start, start + length)
    const bytes = new Uint8Array(length)
    let written = 0
    for (let at = number, from = start; written < length; at++, from = 0) {
      const piece = this.#parts[at]!.subarray(from, from + length - written)
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
