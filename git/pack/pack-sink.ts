import { createHash } from 'node:crypto'
import { PACK_HEADER_BYTES, PACK_MAGIC } from './scan-pack.ts'

const PACK_VERSION = 2
const CHUNK_BYTES = 1024 * 1024
/** From this size on bytes are handed on as they are: copying them would cost more than a short chunk before them. */
const PASS_BYTES = 256 * 1024

/** Gathers the bytes of a pack into large chunks, and hashes them. */
export class PackSink {
  readonly #hash = createHash('sha1')
  #chunk: Uint8Array = new Uint8Array(CHUNK_BYTES)
  #length = 0
  #ready: Uint8Array[] = []
  /** Buffers of its own that are full. The others are passed on as they came. */
  readonly #full = new Set<ArrayBufferLike>()
  /** To be filled again. */
  readonly #spare: Uint8Array[] = []
  #position = 0

  /** Bytes so far. */
  get position(): number {
    return this.#position
  }

  /** Of its own buffers, and of what else has not been taken. */
  get heldBytes(): number {
    const own = (1 + this.#full.size + this.#spare.length) * CHUNK_BYTES
    return this.#ready.reduce((sum, { buffer, byteLength }) => sum + (this.#full.has(buffer) ? 0 : byteLength), own)
  }

  /** Whether there is a chunk to take. */
  get isReady(): boolean {
    return this.#ready.length > 0
  }

  header(objects: number): void {
    const header = new DataView(new ArrayBuffer(PACK_HEADER_BYTES))
    header.setUint32(0, PACK_MAGIC)
    header.setUint32(4, PACK_VERSION)
    header.setUint32(8, objects)
    this.append(new Uint8Array(header.buffer))
  }

  /** Takes in bytes, which must not change before they are taken. */
  append(bytes: Uint8Array): void {
    this.#position += bytes.length
    if (bytes.length >= PASS_BYTES) {
      this.#turn()
      this.#push(bytes)
      return
    }
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + CHUNK_BYTES - this.#length)
      this.#chunk.set(part, this.#length)
      this.#length += part.length
      at += part.length
      if (this.#length === CHUNK_BYTES) this.#turn()
    }
  }

  /** The chunks that are full, oldest first. They belong to the caller, but see {@link recycle}. */
  take(): Uint8Array[] {
    const ready = this.#ready
    this.#ready = []
    return ready
  }

  /** Takes back chunks of which the caller has no more use: their buffers are filled again. */
  recycle(chunks: readonly Uint8Array[]): void {
    for (const { buffer } of chunks) if (this.#full.delete(buffer)) this.#spare.push(new Uint8Array(buffer))
  }

  /** Ends the pack with its checksum. @returns what has not been taken. */
  end(): Uint8Array[] {
    this.#turn()
    const trailer = this.#hash.digest()
    this.#position += trailer.length
    this.#ready.push(trailer)
    return this.take()
  }

  #turn(): void {
    if (this.#length === 0) return
    this.#push(this.#chunk.subarray(0, this.#length))
    this.#full.add(this.#chunk.buffer)
    this.#chunk = this.#spare.pop() ?? new Uint8Array(CHUNK_BYTES)
    this.#length = 0
  }

  #push(bytes: Uint8Array): void {
    this.#hash.update(bytes)
    this.#ready.push(bytes)
  }
}
