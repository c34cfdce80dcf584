import type { RawFrame } from '../../atproto/firehose/decode-frame.ts'

/** Of those that are decoded at a time: with what is made of them they are in memory twice. Bytes. */
const TAKEN_BYTES = 2 * 1024 * 1024

/** Messages that have come and are not decoded. A websocket cannot be asked to wait, so whoever fills it has to end it. */
export class FrameBuffer {
  readonly #limit: number
  #frames: RawFrame[] = []
  #start = 0
  #bytes = 0

  /** @param limit bytes */
  constructor(limit: number) {
    this.#limit = limit
  }

  get isEmpty(): boolean {
    return this.#start === this.#frames.length
  }

  /** Another one might not have room; the last one has been taken all the same. */
  get isFull(): boolean {
    return this.#bytes >= this.#limit
  }

  add(frame: RawFrame): void {
    this.#frames.push(frame)
    this.#bytes += sizeOf(frame)
  }

  /** The oldest ones: one at least, if there is any. */
  take(count: number): readonly RawFrame[] {
    const taken: RawFrame[] = []
    for (let bytes = 0; !this.isEmpty && taken.length < count && bytes < TAKEN_BYTES; ) {
      const frame = this.#frames[this.#start++]!
      bytes += sizeOf(frame)
      this.#bytes -= sizeOf(frame)
      taken.push(frame)
    }
    if (this.#start > this.#frames.length / 2) {
      this.#frames = this.#frames.slice(this.#start)
      this.#start = 0
    }
    return taken
  }

  clear(): void {
    this.#frames = []
    this.#start = 0
    this.#bytes = 0
  }
}

/** Of text it is as much or less: nobody counts its bytes. */
function sizeOf(frame: RawFrame): number {
  return typeof frame === 'string' ? frame.length * 2 : frame.byteLength
}
