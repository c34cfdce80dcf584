import { createHash } from 'node:crypto'
import { PdsError } from '../../atproto/pds/pds-error.ts'
import { blobCid } from '../../atproto/records/blob-cid.ts'
import { PART_BYTES } from '../../storage/packs/pack-upload.ts'

/** What a PDS sent as a blob is another: its answer was cut, or comes from something between it and us. */
export class WrongBlobError extends PdsError {
  override name = 'WrongBlobError'

  constructor(host: string, cid: string) {
    super(host, 200, 'InvalidResponse', `what it sent is not the blob ${cid}`, null)
  }
}

export interface CheckedBlobOptions {
  readonly host: string
  readonly cid: string
  /** Where it begins in the pack, in bytes. */
  readonly start: number
  /**
   * For each part of the upload that ends in the blob, by its number, the CID that the blob's bytes up to there would
   * have alone: entered as they come.
   */
  readonly names: Map<number, string>
}

/** A blob on its way from the account, which is hashed as it comes. */
export class CheckedBlob {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #options: CheckedBlobOptions
  readonly #hash = createHash('sha256')
  #read = 0
  #isOver = false

  constructor(stream: ReadableStream<Uint8Array>, options: CheckedBlobOptions) {
    this.#reader = stream.getReader()
    this.#options = options
  }

  /** Bytes that have come. */
  get read(): number {
    return this.#read
  }

  /** Whether nothing more comes: it is all here and is what its CID says, or it has failed. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** The next bytes; null after the last. @throws {@link WrongBlobError}, and what the stream throws */
  async next(): Promise<Uint8Array | null> {
    if (this.#isOver) return null
    try {
      const { value } = await this.#reader.read()
      if (value !== undefined) {
        this.#take(value)
        return value
      }
    } catch (error) {
      this.#isOver = true
      throw error
    }
    this.#isOver = true
    const { host, cid } = this.#options
    if (blobCid(this.#hash.digest()) !== cid) throw new WrongBlobError(host, cid)
    return null
  }

  /** Reads what is left, for the hash alone. @throws as `next` */
  async confirm(): Promise<void> {
    while ((await this.next()) !== null);
  }

  /** Reads no more. */
  async cancel(): Promise<void> {
    this.#isOver = true
    await this.#reader.cancel().catch(() => undefined)
  }

  #take(bytes: Uint8Array): void {
    const { start, names } = this.#options
    for (let at = 0; at < bytes.length; ) {
      const piece = bytes.subarray(at, at + PART_BYTES - ((start + this.#read) % PART_BYTES))
      this.#hash.update(piece)
      at += piece.length
      this.#read += piece.length
      const end = start + this.#read
      if (end % PART_BYTES === 0) names.set(end / PART_BYTES, blobCid(this.#hash.copy().digest()))
    }
  }
}
