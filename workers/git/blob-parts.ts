import type { BlobRef } from '../../atproto/records/record-types.ts'

/**
 * Sends a pack that arrives to the account as blobs of one size, at the same time: each part's bytes go out as they
 * come in, and nothing is kept. What fails is not retried here, since a body that has been streamed cannot be streamed
 * again; the bytes are in R2 by the end, and can be sent from there.
 */
export class BlobParts {
  readonly #upload: (body: ReadableStream<Uint8Array>) => Promise<BlobRef>
  readonly #partBytes: number
  readonly #parts: Promise<BlobRef | null>[] = []
  #writer: WritableStreamDefaultWriter<Uint8Array> | null = null
  #written = 0

  /** @param upload is called once a part. */
  constructor(upload: (body: ReadableStream<Uint8Array>) => Promise<BlobRef>, partBytes: number) {
    this.#upload = upload
    this.#partBytes = partBytes
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const writer = this.#writer ?? this.#open()
      const piece = bytes.subarray(at, at + this.#partBytes - this.#written)
      // A part that the PDS has refused takes no more bytes; the pack goes on to R2 all the same.
      await writer.write(piece).catch(() => undefined)
      this.#written += piece.length
      at += piece.length
      if (this.#written === this.#partBytes) await this.#close()
    }
  }

  /** @returns one blob a part, in order; null for one that went wrong. */
  async finish(): Promise<(BlobRef | null)[]> {
    await this.#close()
    return Promise.all(this.#parts)
  }

  /** The PDS drops blobs that no record names: cutting them off is all there is to do. */
  async abort(reason: unknown): Promise<void> {
    // A part that has failed already cannot be cut off, and need not be.
    await this.#writer?.abort(reason).catch(() => undefined)
    this.#writer = null
    await Promise.all(this.#parts)
  }

  #open(): WritableStreamDefaultWriter<Uint8Array> {
    const { readable, writable } = new IdentityTransformStream()
    const writer = writable.getWriter()
    this.#writer = writer
    this.#written = 0
    this.#parts.push(
      this.#upload(readable).catch(async (error: unknown) => {
        // Whoever is writing must not wait for a reader that is gone; a part that was closed needs no word of it.
        await writer.abort(error).catch(() => undefined)
        return null
      }),
    )
    return writer
  }

  async #close(): Promise<void> {
    const writer = this.#writer
    this.#writer = null
    // A part that was refused is closed already; that it went wrong is told by its upload.
    await writer?.close().catch(() => undefined)
  }
}
