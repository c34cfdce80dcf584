import { PdsUnreachableError } from '../../atproto/pds/pds-error.ts'
import type { BlobRef } from '../../atproto/records/record-types.ts'
import { log } from '../log.ts'

/** Bytes that go out at once: a write costs as much for few as for many. */
const WRITE_BYTES = 128 * 1024

/** How long a PDS may leave a chunk untaken, or the answer to a whole part unsent, in milliseconds. */
const PATIENCE = 30_000

export interface BlobUpload {
  /** Host of the PDS, for words. */
  readonly host: string
  /** Sends one blob. */
  send(body: ReadableStream<Uint8Array>): Promise<BlobRef>
  /** Milliseconds. Default: half a minute. */
  readonly patience?: number
}

/**
 * One blob on its way: its bytes go out nearly as they come in, in larger pieces. They are copied. A PDS that stops taking them, or never answers, ends it.
 *
 * `write` and `finish` throw what the upload does, and {@link PdsUnreachableError} where it stalls.
 */
export class BlobPart {
  readonly #host: string
  readonly #patience: number
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>
  readonly #blob: Promise<BlobRef>
  readonly #waiting = new Uint8Array(WRITE_BYTES)
  #waitingBytes = 0

  constructor({ host, send, patience = PATIENCE }: BlobUpload) {
    const { readable, writable } = new IdentityTransformStream()
    this.#host = host
    this.#patience = patience
    this.#writer = writable.getWriter()
    this.#blob = send(readable)
    // Where the answer came before the end of the body, nobody takes the rest.
    this.#blob.catch((error: unknown) => this.#cutOff(error))
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const piece = bytes.subarray(at, at + WRITE_BYTES - this.#waitingBytes)
      this.#waiting.set(piece, this.#waitingBytes)
      this.#waitingBytes += piece.length
      at += piece.length
      if (this.#waitingBytes === WRITE_BYTES) await this.#send()
    }
  }

  async #send(): Promise<void> {
    const bytes = this.#waiting.subarray(0, this.#waitingBytes)
    this.#waitingBytes = 0
    const written = this.#writer.write(bytes).catch(async (broken: unknown) => {
      // A host that refuses a blob does not read on: its answer says why the connection broke.
      await this.#blob
      throw broken
    })
    await this.#within(written, 'takes no more of a blob')
  }

  async finish(): Promise<BlobRef> {
    if (this.#waitingBytes > 0) await this.#send()
    const closed = this.#writer.close()
    // It fails with the upload, which says why.
    closed.catch(() => undefined)
    return this.#within(this.#blob, 'does not answer to a blob')
  }

  /** Ends the upload, and waits for its end. */
  async abort(reason: unknown): Promise<void> {
    this.#cutOff(reason)
    await within(this.#blob, this.#patience, () => reason).catch(() => undefined)
  }

  #cutOff(reason: unknown): void {
    // The stream may have failed already: then it is as it should be. What is stalled may never let go of it.
    this.#writer.abort(reason).catch(() => undefined)
  }

  async #within<T>(work: Promise<T>, fault: string): Promise<T> {
    try {
      return await within(work, this.#patience, () => new PdsUnreachableError(this.#host, fault))
    } catch (error) {
      this.#cutOff(error)
      throw error
    }
  }
}

/** What the work gives, if it does so in time. */
async function within<T>(work: Promise<T>, milliseconds: number, late: () => unknown): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const stalled = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), milliseconds)
  })
  try {
    return await Promise.race([work, stalled])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Sends a pack that arrives to the account as blobs of one size, at the same time: each part's bytes go out as they
 * come in, and nothing is kept. What fails is not retried here, since a body that has been streamed cannot be streamed
 * again; the bytes are in R2 by the end, and can be sent from there.
 */
export class BlobParts {
  readonly #upload: BlobUpload
  readonly #partBytes: number
  readonly #finished: Promise<BlobRef | null>[] = []
  #part: BlobPart | null = null
  /** Whether the present part has failed: it takes no more bytes, and the pack goes on to R2 all the same. */
  #hasFailed = false
  #written = 0

  constructor(upload: BlobUpload, partBytes: number) {
    this.#upload = upload
    this.#partBytes = partBytes
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const part = this.#part ?? this.#open()
      const piece = bytes.subarray(at, at + this.#partBytes - this.#written)
      if (!this.#hasFailed) await this.#send(part, piece)
      this.#written += piece.length
      at += piece.length
      if (this.#written === this.#partBytes) this.#close()
    }
  }

  /** No more bytes come: the PDS can be done with the last part while the pack is looked through. */
  end(): void {
    this.#close()
  }

  /** @returns one blob a part, in order; null for one that went wrong. */
  async finish(): Promise<(BlobRef | null)[]> {
    this.end()
    return Promise.all(this.#finished)
  }

  /** The PDS drops blobs that no record names: all there is to do is to cut off what is on its way. */
  async abort(reason: unknown): Promise<void> {
    await this.#part?.abort(reason)
    this.#part = null
  }

  async #send(part: BlobPart, piece: Uint8Array): Promise<void> {
    try {
      await part.write(piece)
    } catch (error) {
      log('blob-part-failed', { host: this.#upload.host, reason: String(error) })
      this.#hasFailed = true
    }
  }

  #open(): BlobPart {
    this.#part = new BlobPart(this.#upload)
    this.#hasFailed = false
    this.#written = 0
    return this.#part
  }

  #close(): void {
    const part = this.#part
    this.#part = null
    if (part === null) return
    this.#finished.push(this.#hasFailed ? Promise.resolve(null) : part.finish().catch(() => null))
  }
}
