import type { PdsClient } from '../../atproto/pds/pds-client.ts'
import { PdsError } from '../../atproto/pds/pds-error.ts'
import { INLINE_PACK_LIMIT } from '../../atproto/records/collections.ts'
import type { BlobRef, PackRecord } from '../../atproto/records/record-types.ts'
import { concatBytes } from '../../git/bytes/concat.ts'
import type { MemoryAccount } from '../../git/bytes/memory-account.ts'
import type { ByteRange } from '../../git/bytes/range.ts'
import { PackError } from '../../git/pack/entry-header.ts'
import { PackUpload } from '../../storage/packs/pack-upload.ts'
import type { Room } from '../size-caps.ts'
import { BlobPart, BlobParts } from './blob-parts.ts'

/** Blobs are at most this large, whatever the PDS takes: a part that fails is sent again as a whole. Bytes. */
const LARGEST_PART = 50 * 1000 * 1000

/** Of a push that is too large, this many times the limit is read at most: a body that is gzip unfolds a thousandfold. */
const READ_BEYOND = 4

/** The push is larger than this deployment takes. */
export class PushTooLargeError extends PackError {
  override name = 'PushTooLargeError'

  constructor(limit: number) {
    super(
      `this push is larger than ${limit} bytes, the most that fits in one request here. ` +
        'Push in steps: an older commit first (git push <url> <commit>:refs/heads/<branch>), then the rest',
    )
  }
}

/** The pack is larger than what the operator lets a repository, or an account, grow by. */
export class NoRoomError extends PackError {
  override name = 'NoRoomError'
}

/** Header and checksum: a pack of no more has no objects, and will not be stored. Bytes. */
const EMPTY_PACK = 32

export interface PackIntakeOptions {
  readonly bucket: R2Bucket
  readonly key: string
  readonly client: PdsClient
  /**
   * A token of the account, for uploads; asked for only if the pack is too large to go into its record. `refused` is one
   * of before that the PDS has refused.
   */
  readonly token: (refused?: string) => Promise<string>
  /** The largest blob that the account's PDS takes, in bytes. */
  readonly blobLimit: () => Promise<number>
  /** Where the buffers held are entered, and added up with every chunk. */
  readonly memory: MemoryAccount
  /** The largest pack that is taken, in bytes. */
  readonly limit: number
  /** What may be added to the repository; null: there is no cap. */
  readonly room: Room | null
}

/** Where a pushed pack goes as it arrives: to R2, and to the account, as part of a record or as blobs. */
export class PackIntake {
  readonly #options: PackIntakeOptions
  readonly #upload: PackUpload
  /** The pack so far, while it may fit into its record. */
  #inline: Uint8Array[] | null = []
  #parts: BlobParts | null = null
  #partBytes = 0
  #finished: ReturnType<PackUpload['finish']> | null = null

  constructor(options: PackIntakeOptions) {
    this.#options = options
    this.#upload = new PackUpload(options.bucket, options.key)
    options.memory.enter(this.#upload)
  }

  /** Passes the pack's bytes on, once they are on their way. */
  async *take(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const { limit, room } = this.#options
    const most = room === null ? limit : Math.min(limit, Math.max(room.bytes, EMPTY_PACK))
    let isTooLarge = false
    let left = READ_BEYOND * limit
    for await (const chunk of chunks) {
      // The rest is dropped as it comes: a client that is cut off says nothing of use.
      isTooLarge ||= this.#upload.size + chunk.length > most
      if (isTooLarge) {
        left -= chunk.length
        if (left < 0) break
        continue
      }
      await this.#upload.write(chunk)
      await this.#sendOn(chunk)
      this.#options.memory.check()
      yield chunk
    }
    if (isTooLarge && room !== null && most < limit) throw new NoRoomError(room.message)
    if (isTooLarge) throw new PushTooLargeError(limit)
    this.#parts?.end()
  }

  /** The pack's bytes for a second look. They are on their way to R2, and invisible there until a row names them. */
  async complete(): Promise<ByteRange> {
    this.#finished ??= this.#upload.finish()
    return (await this.#finished).range
  }

  /** Once the pack's bytes are in R2. */
  async inBucket(): Promise<void> {
    await this.complete()
    await (await this.#finished)?.stored
  }

  /** What the record says of the pack's bytes. Parts that went wrong on their way are sent again. */
  async stored(): Promise<Pick<PackRecord, 'bytes'> | Pick<PackRecord, 'parts'>> {
    if (this.#inline !== null) return { bytes: concatBytes(this.#inline) }
    const range = await this.complete()
    const sent = await this.#parts!.finish()
    const parts: BlobRef[] = []
    for (const [i, blob] of sent.entries()) parts.push(blob ?? (await this.#resend(range, i * this.#partBytes)))
    return { parts }
  }

  /** Leaves nothing in R2: no record has named the pack yet, so nobody else can know of it. */
  async abort(reason: unknown): Promise<void> {
    await Promise.all([this.#leaveNothing(), this.#parts?.abort(reason)])
  }

  async #leaveNothing(): Promise<void> {
    // What is on its way would come after its deletion.
    if (this.#finished !== null) await this.inBucket().catch(() => undefined)
    await this.#upload.abort()
    if (this.#finished !== null) await this.#options.bucket.delete(this.#options.key)
  }

  async #sendOn(chunk: Uint8Array): Promise<void> {
    if (this.#inline === null) return this.#parts!.write(chunk)
    this.#inline.push(chunk.slice())
    if (this.#upload.size <= INLINE_PACK_LIMIT) return
    const { client, token, blobLimit } = this.#options
    this.#partBytes = Math.min(await blobLimit(), LARGEST_PART)
    const send = async (body: ReadableStream<Uint8Array>) => client.uploadBlob(body, await token())
    this.#parts = new BlobParts({ host: hostOf(client), send }, this.#partBytes)
    const held = this.#inline
    this.#inline = null
    for (const bytes of held) await this.#parts.write(bytes)
  }

  async #resend(range: ByteRange, offset: number): Promise<BlobRef> {
    const { client, token } = this.#options
    const length = Math.min(this.#partBytes, range.size - offset)
    const first = await token()
    const send = async (accessToken: string) => {
      const upload = (body: ReadableStream<Uint8Array>) => client.uploadBlob(body, accessToken)
      const part = new BlobPart({ host: hostOf(client), send: upload })
      for await (const bytes of range.stream(offset, length)) await part.write(bytes)
      return part.finish()
    }
    try {
      return await send(first)
    } catch (fault) {
      if (!(fault instanceof PdsError && fault.isTokenRefused)) throw fault
    }
    return send(await token(first))
  }
}

function hostOf({ service }: PdsClient): string {
  return new URL(service).host
}
