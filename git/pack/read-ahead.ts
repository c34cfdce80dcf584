import type { ByteRange } from '../bytes/range.ts'

/** One read of a file: large enough that its latency does not count, small enough to hold several. */
const READ_BYTES = 1024 * 1024
/** Reads under way at once, at most: a Worker may have six connections, and the client is one. */
const READS_UNDER_WAY = 4

/** Bytes from `start` up to `end` of a file. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** A part of a file. The bytes may be shared with others: they must not be changed. */
export interface FilePart {
  readonly offset: number
  readonly bytes: Uint8Array
}

/** Reads spans of a file one after the other, in parts, a few of which are asked for before they are needed. */
export class ReadAhead {
  readonly #data: ByteRange
  readonly #parts: Iterator<Span>
  readonly #pending: { offset: number; length: number; bytes: Promise<Uint8Array> }[] = []
  #heldBytes = 0
  #taken = 0

  constructor(data: ByteRange, spans: Iterable<Span>) {
    this.#data = data
    this.#parts = cutSpans(spans)
  }

  /** Of the parts that are asked for and the one that was taken last. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** The next part, or null after the last. */
  async next(): Promise<FilePart | null> {
    while (this.#pending.length < READS_UNDER_WAY) {
      const { value: part, done } = this.#parts.next()
      if (done) break
      const bytes = this.#data.read(part.start, part.end - part.start)
      // Whoever takes the part hears of a failure. If nobody does, the client has gone, and it is nobody's concern.
      bytes.catch(() => undefined)
      const length = part.end - part.start
      this.#pending.push({ offset: part.start, length, bytes })
      this.#heldBytes += length
    }
    const first = this.#pending.shift()
    this.#heldBytes -= this.#taken
    this.#taken = first?.length ?? 0
    return first === undefined ? null : { offset: first.offset, bytes: await first.bytes }
  }
}

function* cutSpans(spans: Iterable<Span>): Generator<Span, void, undefined> {
  for (const { start, end } of spans) {
    for (let at = start; at < end; at += READ_BYTES) yield { start: at, end: Math.min(at + READ_BYTES, end) }
  }
}
