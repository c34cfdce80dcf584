import type { ByteRange } from '../bytes/range.ts'

/** One part: large enough that what each costs does not count, small enough to hold several. */
const READ_BYTES = 1024 * 1024
/** Spans that are read at once, at most: a Worker may have six connections, and one puts the answer into the cache. */
const SPANS_UNDER_WAY = 4
const NOTHING = new Uint8Array(0)

/** Bytes from `start` up to `end` of a file. */
export interface Span {
  readonly start: number
  readonly end: number
}

/**
 * A part of a file. The bytes may be shared with others: they must not be changed. They are there until the next part is
 * taken.
 */
export interface FilePart {
  readonly offset: number
  readonly bytes: Uint8Array
}

/** Reads spans of a file one after the other, in parts, a few of which are asked for before they are needed. */
export class ReadAhead {
  readonly #data: ByteRange
  readonly #spans: Iterator<Span>
  readonly #pending: SpanReader[] = []
  #taken = 0

  constructor(data: ByteRange, spans: Iterable<Span>) {
    this.#data = data
    this.#spans = spans[Symbol.iterator]()
  }

  /** Of the parts that are asked for and the one that was taken last. */
  get heldBytes(): number {
    return this.#pending.reduce((sum, { heldBytes }) => sum + heldBytes, this.#taken)
  }

  /** The next part, or null after the last. */
  async next(): Promise<FilePart | null> {
    while (this.#pending.length < SPANS_UNDER_WAY) {
      const { value: span, done } = this.#spans.next()
      if (done) break
      if (span.end > span.start) this.#pending.push(new SpanReader(this.#data, span))
    }
    const first = this.#pending[0]
    this.#taken = first?.heldBytes ?? 0
    if (first === undefined) return null
    const part = first.take()
    if (first.isAtEnd) this.#pending.shift()
    return part
  }

  /** Stops what is being read. Nothing can be taken any more. */
  close(): void {
    for (const span of this.#pending.splice(0)) span.close()
  }
}

/** One span, of which a part is always asked for ahead of time. */
class SpanReader {
  readonly #pieces: AsyncGenerator<Uint8Array, void, undefined>
  readonly #end: number
  #at: number
  #coming: Promise<Uint8Array>

  constructor(data: ByteRange, { start, end }: Span) {
    this.#pieces = data.pieces(start, end - start, READ_BYTES)
    this.#at = start
    this.#end = end
    this.#coming = this.#ask()
  }

  /** Of the part that is asked for. */
  get heldBytes(): number {
    return Math.min(READ_BYTES, this.#end - this.#at)
  }

  get isAtEnd(): boolean {
    return this.#at === this.#end
  }

  /** The part that was asked for. Asks for the next. */
  async take(): Promise<FilePart> {
    const offset = this.#at
    const coming = this.#coming
    this.#at += this.heldBytes
    if (!this.isAtEnd) this.#coming = this.#ask()
    const bytes = await coming
    // The last piece is there; nobody will ask the generator for an end.
    if (this.isAtEnd) this.close()
    return { offset, bytes }
  }

  close(): void {
    this.#pieces.return().catch(() => undefined)
  }

  #ask(): Promise<Uint8Array> {
    const coming = this.#next()
    // Whoever takes the part hears of a failure. If nobody does, the client has gone, and it is nobody's concern.
    coming.catch(() => undefined)
    return coming
  }

  async #next(): Promise<Uint8Array> {
    const { value, done } = await this.#pieces.next()
    return done ? NOTHING : value
  }
}
