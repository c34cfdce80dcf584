import { concatBytes } from '../bytes/concat.ts'
import { LENGTH_BYTES, LINE_DATA_LIMIT, LINE_LIMIT, PktLineError, writeLength } from './pkt-line.ts'
import type { Band } from './side-band.ts'

/**
 * Bytes gathered before they are handed on. A write per line costs several times the CPU: git halved that of large
 * advertisements by buffering.
 */
const CHUNK_BYTES = 64 * 1024

/** What stands before the data of a line, at most: its length and a band. */
const PREFIX_LIMIT = LENGTH_BYTES + 1
const MARKS = { flush: 0, delim: 1, responseEnd: 2 }
const NOTHING = new Uint8Array(0)
const encoder = new TextEncoder()

export interface PktLineWriterOptions {
  /** Send data lines in this side band, as `sideband-all` asks for. Default none. */
  readonly band?: Band
}

/** Frames lines into large chunks: write, take what is full now and then, and at the end what is left. */
export class PktLineWriter {
  readonly #band: Band | null
  #chunk = NOTHING
  #length = 0
  #full: Uint8Array[] = []

  constructor({ band }: PktLineWriterOptions = {}) {
    this.#band = band ?? null
  }

  /** A data line. Text is sent as UTF-8; the newline that most lines end in is the caller's to give. */
  line(data: Uint8Array | string): void {
    // A UTF-16 unit takes at most 3 bytes.
    this.#reserve(PREFIX_LIMIT + (typeof data === 'string' ? Math.min(data.length * 3, LINE_DATA_LIMIT) : data.length))
    let start = this.#length + LENGTH_BYTES
    if (this.#band !== null) this.#chunk[start++] = this.#band
    const length = typeof data === 'string' ? this.#encode(data, start) : this.#copy(data, start)
    const end = start + length
    if (end - this.#length > LINE_LIMIT) throw new PktLineError('line is too long')
    writeLength(this.#chunk, this.#length, end - this.#length)
    this.#length = end
  }

  flush(): void {
    this.#mark(MARKS.flush)
  }

  delim(): void {
    this.#mark(MARKS.delim)
  }

  responseEnd(): void {
    this.#mark(MARKS.responseEnd)
  }

  /** The chunks that are full, oldest first; they are the caller's from now on. */
  takeFull(): Uint8Array[] {
    const full = this.#full
    if (full.length > 0) this.#full = []
    return full
  }

  /** All chunks that have not been taken. The writer starts anew. */
  takeAll(): Uint8Array[] {
    if (this.#length > 0) this.#turn()
    return this.takeFull()
  }

  /** All that has not been taken, as one array. */
  takeBytes(): Uint8Array {
    return concatBytes(this.takeAll())
  }

  #encode(text: string, at: number): number {
    const { read, written } = encoder.encodeInto(text, this.#chunk.subarray(at, at + LINE_DATA_LIMIT))
    if (read < text.length) throw new PktLineError('line is too long')
    return written
  }

  #copy(data: Uint8Array, at: number): number {
    if (data.length > LINE_DATA_LIMIT) throw new PktLineError(`line of ${data.length} bytes is too long`)
    this.#chunk.set(data, at)
    return data.length
  }

  #mark(mark: number): void {
    this.#reserve(LENGTH_BYTES)
    writeLength(this.#chunk, this.#length, mark)
    this.#length += LENGTH_BYTES
  }

  #reserve(length: number): void {
    if (this.#length + Math.min(length, LINE_LIMIT + 1) <= this.#chunk.length) return
    if (this.#length > 0) this.#turn()
    this.#chunk = new Uint8Array(CHUNK_BYTES)
  }

  #turn(): void {
    this.#full.push(this.#chunk.subarray(0, this.#length))
    this.#chunk = NOTHING
    this.#length = 0
  }
}
