import type { MemoryAccount } from '../../git/bytes/memory-account.ts'
import type { ByteRange } from '../../git/bytes/range.ts'
import { PackError } from '../../git/pack/entry-header.ts'
import { MissingBaseError } from '../../git/pack/resolve-deltas.ts'
import type { ManifestPack } from '../../storage/manifest.ts'
import type { PackSource } from '../../storage/mirror/mirror-rows.ts'
import type { DownloadProgress } from '../../storage/mirror/pack-downloads.ts'
import { packKeys } from '../../storage/packs/pack-keys.ts'
import { LARGEST_UPLOAD, PART_BYTES, PackUpload, type UploadProgress } from '../../storage/packs/pack-upload.ts'
import { R2Range } from '../../storage/packs/r2-range.ts'
import type { RepositoryAddress } from './answers.ts'
import { CheckedBlob, WrongBlobError } from './checked-blob.ts'
import type { IngestDeps } from './ingest-deps.ts'

/**
 * How much longer than its record says a blob may be and still be read to its end, in bytes: only its hash tells whether
 * it is the record that is wrong, or what has been sent.
 */
const LONGER_BY = 128 * 1024 * 1024

/** A pack's bytes are not where its record said: the account was compacted meanwhile. Read all of the account again. */
export class PackMovedError extends Error {
  override name = 'PackMovedError'
}

export interface ArrivalOptions {
  readonly pack: ManifestPack
  readonly source: PackSource
  /** Where the buffers held are entered. */
  readonly memory: MemoryAccount
  /** Whether the bytes are looked at again once they are there, and a small pack is to stay in memory for that. */
  readonly isReadBack: boolean
}

interface PlacedBlob {
  readonly cid: string
  readonly size: number
  /** Where it begins and ends in the pack, in bytes. */
  readonly start: number
  readonly end: number
}

/**
 * A wanted pack on its way from the account into R2. How far it has come is written down with each part of 8 MiB, so
 * that whoever goes on with it asks for the blob again at which it was cut off, and for none before.
 *
 * Each blob is checked against its CID. What there is of a wrong one is given up, and nothing is said of the pack by it.
 */
export class PackArrival {
  readonly #deps: IngestDeps
  readonly #did: string
  readonly #pack: ManifestPack
  readonly #source: PackSource
  readonly #key: string
  readonly #memory: MemoryAccount
  /** See `CheckedBlobOptions`. */
  readonly #names = new Map<number, string>()
  #upload: PackUpload | null = null
  #isResumed = false
  /** Bytes that were there when it began. */
  #resumedAt = 0
  /** The same of the parts that were there, see `DownloadProgress`. */
  #resumedName = ''
  /** Where the blobs end that are what their CIDs say, in bytes of the pack. */
  #checked = 0
  /** Parts that are there and are known to be good. */
  #goodParts = 0
  /** The blob that comes, or came last. */
  #blob: CheckedBlob | null = null
  /** Whether a blob has come in part: who stops then asks for it again from its start. */
  #isInBlob = false
  #whole: ByteRange | null = null

  /** @throws {@link PackMovedError}, {@link PackError} */
  static async open(
    deps: IngestDeps,
    { did, rkey }: RepositoryAddress,
    { pack, source, memory, isReadBack }: ArrivalOptions,
  ): Promise<PackArrival> {
    const arrival = new PackArrival(deps, did, pack, source, packKeys(did, rkey, pack.id).pack, memory)
    if (source.blobs === null) await arrival.#openInline()
    else await arrival.#openBlobs(isReadBack)
    return arrival
  }

  private constructor(
    deps: IngestDeps,
    did: string,
    pack: ManifestPack,
    source: PackSource,
    key: string,
    memory: MemoryAccount,
  ) {
    this.#deps = deps
    this.#did = did
    this.#pack = pack
    this.#source = source
    this.#key = key
    this.#memory = memory
  }

  /** Whether nothing of it is there yet, so that it can be looked at as it comes. */
  get isFresh(): boolean {
    return this.#whole === null && this.#resumedAt === 0
  }

  /** The bytes that are not there yet, as they come. They are on their way to R2 then. */
  async *bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of this.#readBlobs(this.#resumedAt)) {
      await this.#orForget(this.#upload!.write(chunk))
      yield chunk
    }
  }

  /**
   * Gets what is not there yet.
   *
   * @param onProgress is told how many bytes are there
   * @returns false if the turn is over before all is
   */
  async download(onProgress: (bytes: number) => void): Promise<boolean> {
    if (this.#whole !== null) return true
    const upload = this.#upload!
    for await (const _ of this.bytes()) {
      this.#memory.check()
      onProgress(upload.size)
      if (this.#isAtRest() && this.#deps.isTurnOver()) {
        await upload.leave()
        return false
      }
    }
    await this.complete()
    return true
  }

  /** All of it, once all of its bytes have come. */
  async complete(): Promise<ByteRange> {
    if (this.#whole !== null) return this.#whole
    this.#requireUnchanged()
    this.#whole = await this.#orForget(this.#upload!.complete())
    this.#requireUnchanged()
    this.#deps.store.downloads.complete(this.#pack.id)
    return this.#whole
  }

  /**
   * After a failure: what is there stays for the next time, unless it is of no use.
   *
   * @returns what has failed: where bytes could not be read, it may be that they were not the blob's
   */
  async leave(error: unknown): Promise<unknown> {
    const cause = await this.#causeOf(error)
    // What is missing may come with another pack.
    const isUseless = cause instanceof PackError && !(cause instanceof MissingBaseError)
    if (isUseless || cause instanceof PackMovedError) {
      await this.#upload?.abort()
      this.#deps.store.downloads.forget(this.#pack.id)
      return cause
    }
    await this.#upload?.leave()
    if (cause instanceof WrongBlobError) {
      this.#deps.store.downloads.keepParts(this.#pack.id, Math.floor(this.#checked / PART_BYTES))
    }
    return cause
  }

  async #causeOf(error: unknown): Promise<unknown> {
    if (this.#blob === null || this.#blob.isOver) return error
    if (!(error instanceof PackError)) {
      await this.#blob.cancel()
      return error
    }
    try {
      await this.#blob.confirm()
      return error
    } catch (cause) {
      return cause
    }
  }

  /** Whether to stop here costs little: something has been kept since it began, and no blob is asked for in vain. */
  #isAtRest(): boolean {
    const { size, storedBytes } = this.#upload!
    return !this.#isInBlob && storedBytes > this.#resumedAt && size < this.#pack.size
  }

  /** What came with the record is in R2 as it is. */
  async #openInline(): Promise<void> {
    if (!(await this.#openStored())) throw new PackMovedError(`${this.#key} is not in the bucket`)
  }

  async #openBlobs(isReadBack: boolean): Promise<void> {
    const { bucket, store } = this.#deps
    const { id, size } = this.#pack
    if (size > LARGEST_UPLOAD) throw new PackError(`a pack of ${size} bytes; the limit is ${LARGEST_UPLOAD}`)
    const state = store.downloads.state(id)
    // Between the last part and its row it may have been cut off: then the upload is whole, and R2 knows it no more.
    if (state !== null && (await this.#openStored())) return
    const resumed = state === 'complete' || state === null ? null : this.#resume(state)
    this.#upload = this.#memory.enter(
      new PackUpload(bucket, this.#key, {
        ...(resumed !== null && { resumed }),
        isReadBack,
        onBegin: (uploadId) => store.downloads.begin(id, uploadId),
        onPart: (part) => {
          this.#requireUnchanged()
          store.downloads.addPart(id, part, this.#names.get(part.partNumber) ?? '')
          this.#names.delete(part.partNumber)
          this.#noteProgress()
        },
      }),
    )
    this.#resumedAt = this.#upload.size
    this.#goodParts = Math.floor(this.#checked / PART_BYTES)
  }

  /** @returns what can be gone on with */
  #resume({ uploadId, parts, name }: DownloadProgress): UploadProgress {
    this.#isResumed = true
    const last = this.#blobs().find(({ end }) => end >= parts.length * PART_BYTES)
    if (parts.length === 0 || last === undefined) return { uploadId, parts: [] }
    const isAtEnd = last.end === parts.length * PART_BYTES
    // It was cut off before the last blob was found to be another.
    const isWrong = isAtEnd && name !== last.cid
    this.#checked = isAtEnd && !isWrong ? last.end : last.start
    this.#resumedName = name
    if (!isWrong) return { uploadId, parts }
    const good = Math.floor(last.start / PART_BYTES)
    this.#deps.store.downloads.keepParts(this.#pack.id, good)
    return { uploadId, parts: parts.slice(0, good) }
  }

  /** Parts of a blob that has not come to its end are no progress yet: it may be a wrong one, again and again. */
  #noteProgress(): void {
    const good = Math.floor(Math.min(this.#upload!.storedBytes, this.#checked) / PART_BYTES)
    if (good <= this.#goodParts) return
    this.#goodParts = good
    this.#deps.store.noteProgress()
  }

  /** The account is read while bytes come. @throws {@link PackMovedError} */
  #requireUnchanged(): void {
    if (!this.#deps.store.isSource(this.#pack.id, this.#source))
      throw new PackMovedError(`${this.#pack.id} has changed`)
  }

  async #openStored(): Promise<boolean> {
    const { bucket } = this.#deps
    const object = await bucket.head(this.#key)
    if (object?.size !== this.#pack.size) return false
    this.#whole = this.#memory.enter(new R2Range(bucket, this.#key, object.size))
    return true
  }

  #blobs(): PlacedBlob[] {
    let start = 0
    return (this.#source.blobs ?? []).map(({ cid, size }) => {
      const blob = { cid, size, start, end: start + size }
      start = blob.end
      return blob
    })
  }

  async *#readBlobs(from: number): AsyncGenerator<Uint8Array, void, undefined> {
    for (const blob of this.#blobs()) if (blob.end > from) yield* this.#readBlob(blob, from)
  }

  /** Its last bytes come only once it is known to be what its CID says. */
  async *#readBlob({ cid, size, start, end }: PlacedBlob, from: number): AsyncGenerator<Uint8Array, void, undefined> {
    const { client } = this.#deps
    const stream = await client.getBlob(this.#did, cid, size + LONGER_BY)
    if (stream === null) throw new PackMovedError(`the blob ${cid} is gone`)
    const { host } = new URL(client.service)
    const blob = new CheckedBlob(stream, { host, cid, start, names: this.#names })
    this.#blob = blob
    let at = start
    for (let chunk = await blob.next(); chunk !== null; chunk = await blob.next()) {
      const wanted = chunk.subarray(Math.min(Math.max(from - at, 0), chunk.length))
      // What was kept of it must be of the same bytes.
      if (start < from && at <= from && wanted.length > 0 && this.#names.get(from / PART_BYTES) !== this.#resumedName) {
        throw new WrongBlobError(host, cid)
      }
      at += chunk.length
      if (blob.read >= size) await this.#confirm(blob, cid, size, end)
      this.#isInBlob = blob.read < size
      if (wanted.length > 0) yield wanted
    }
    await this.#confirm(blob, cid, size, end)
  }

  async #confirm(blob: CheckedBlob, cid: string, size: number, end: number): Promise<void> {
    await blob.confirm()
    // Whatever comes next would not be where the record says.
    if (blob.read !== size) throw new PackError(`the blob ${cid} has ${blob.read} bytes, and not ${size}`)
    this.#checked = end
    this.#noteProgress()
  }

  /** R2 forgets uploads after a week: one that takes nothing any more is not gone on with again. */
  async #orForget<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      const isStuck = this.#isResumed && this.#upload!.storedBytes === this.#resumedAt
      if (isStuck) this.#deps.store.downloads.forget(this.#pack.id)
      throw error
    }
  }
}
