import type { MemoryAccount } from '../../git/bytes/memory-account.ts'
import type { ByteRange } from '../../git/bytes/range.ts'
import { PackError } from '../../git/pack/entry-header.ts'
import { MissingBaseError } from '../../git/pack/resolve-deltas.ts'
import type { ManifestPack } from '../../storage/manifest.ts'
import type { PackSource } from '../../storage/mirror/mirror-rows.ts'
import { packKeys } from '../../storage/packs/pack-keys.ts'
import { LARGEST_UPLOAD, PackUpload } from '../../storage/packs/pack-upload.ts'
import { R2Range } from '../../storage/packs/r2-range.ts'
import type { RepositoryAddress } from './answers.ts'
import type { IngestDeps } from './ingest-deps.ts'

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

/**
 * A wanted pack on its way from the account into R2. How far it has come is written down with each part of 8 MiB, so
 * that whoever goes on with it asks for the blob again at which it was cut off, and for none before.
 */
export class PackArrival {
  readonly #deps: IngestDeps
  readonly #did: string
  readonly #pack: ManifestPack
  readonly #source: PackSource
  readonly #key: string
  readonly #memory: MemoryAccount
  #upload: PackUpload | null = null
  /** Bytes that were there when it began. */
  #resumedAt = 0
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

  /** After a failure: what is there stays for the next time, unless it is of no use. */
  async leave(error: unknown): Promise<void> {
    // What is missing may come with another pack.
    const isUseless = error instanceof PackError && !(error instanceof MissingBaseError)
    if (!isUseless && !(error instanceof PackMovedError)) {
      await this.#upload?.leave()
      return
    }
    await this.#upload?.abort()
    this.#deps.store.downloads.forget(this.#pack.id)
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
    const resumed = state === 'complete' ? null : state
    this.#upload = this.#memory.enter(
      new PackUpload(bucket, this.#key, {
        ...(resumed !== null && { resumed }),
        isReadBack,
        onBegin: (uploadId) => store.downloads.begin(id, uploadId),
        onPart: (part) => {
          this.#requireUnchanged()
          store.downloads.addPart(id, part)
          store.noteProgress()
        },
      }),
    )
    this.#resumedAt = this.#upload.size
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

  async *#readBlobs(from: number): AsyncGenerator<Uint8Array, void, undefined> {
    let start = 0
    for (const { cid, size } of this.#source.blobs ?? []) {
      const end = start + size
      if (end > from) yield* this.#readBlob(cid, size, Math.max(from - start, 0))
      start = end
    }
  }

  async *#readBlob(cid: string, size: number, from: number): AsyncGenerator<Uint8Array, void, undefined> {
    const blob = await this.#deps.client.getBlob(this.#did, cid, size)
    if (blob === null) throw new PackMovedError(`the blob ${cid} is gone`)
    let at = 0
    for await (const chunk of blob) {
      const wanted = chunk.subarray(Math.min(Math.max(from - at, 0), chunk.length))
      at += chunk.length
      this.#isInBlob = at < size
      if (wanted.length > 0) yield wanted
    }
    // Whatever comes next would not be where the record says.
    if (at !== size) throw new PackError(`the blob ${cid} has ${at} bytes, and not ${size}`)
  }

  /** R2 forgets uploads after a week: one that takes nothing any more is not gone on with again. */
  async #orForget<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      const isStuck = this.#resumedAt > 0 && this.#upload!.storedBytes === this.#resumedAt
      if (isStuck) this.#deps.store.downloads.forget(this.#pack.id)
      throw error
    }
  }
}
