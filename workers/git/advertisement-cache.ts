import { LruCache } from '../../git/bytes/lru-cache.ts'
import type { ManifestBase } from '../../storage/manifest.ts'

/** What an isolate keeps of encoded lists of refs, in bytes: 20,000 refs are 1.4 MB. */
const KEPT_BYTES = 16 * 1024 * 1024
/** One list is kept up to this size, in bytes, or it would drive out all others. */
const LARGEST_KEPT = KEPT_BYTES / 2
/** Smaller lists are encoded sooner than they are found. Bytes. */
const SMALLEST_KEPT = 16 * 1024
/** A form is as long as what the client has asked for, and a client may ask for a lot. In UTF-16 units. */
const LONGEST_FORM = 1024

interface Kept {
  readonly version: number
  readonly chunks: readonly Uint8Array[]
  /** Bytes held. */
  readonly cost: number
}

export interface AdvertisementCacheOptions {
  /** Bytes. */
  readonly capacity?: number
}

/** Lists of refs as they were sent, by repository, version of the manifest, and form: what is sent often is encoded once. */
export class AdvertisementCache {
  readonly #kept: LruCache<string, Kept>

  constructor({ capacity = KEPT_BYTES }: AdvertisementCacheOptions = {}) {
    this.#kept = new LruCache(capacity, ({ cost }) => cost)
  }

  /** Bytes held. */
  get held(): number {
    return this.#kept.held
  }

  /**
   * The chunks that `encode` gives, or has given for this version and form. They are shared, so nobody may write into them.
   *
   * @param form all besides the manifest that the list depends on
   */
  *encode(
    { did, rkey, version }: ManifestBase,
    form: string,
    encode: () => Iterable<Uint8Array>,
  ): Generator<Uint8Array, void, undefined> {
    const key = `${did}/${rkey} ${form}`
    const kept = this.#kept.get(key)
    if (kept?.version === version) {
      yield* kept.chunks
      return
    }
    const gathering = new Gathering()
    for (const chunk of encode()) {
      gathering.add(chunk)
      yield chunk
    }
    const { chunks, bytes, cost } = gathering
    if (bytes < SMALLEST_KEPT || cost > LARGEST_KEPT || form.length > LONGEST_FORM) return
    this.#kept.set(key, { version, chunks, cost })
  }
}

class Gathering {
  chunks: Uint8Array[] = []
  bytes = 0
  cost = 0

  add(chunk: Uint8Array): void {
    this.bytes += chunk.length
    this.cost += chunk.buffer.byteLength
    if (this.cost <= LARGEST_KEPT) this.chunks.push(chunk)
    else this.chunks = []
  }
}

/** Those of the isolate. */
export const keptAdvertisements = new AdvertisementCache()
