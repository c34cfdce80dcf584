import { PackGraph } from '../../git/graph/pack-graph.ts'
import type { PackHandle } from '../../git/graph/pack-handle.ts'
import { PackIndex } from '../../git/pack/pack-index.ts'
import type { ManifestPack } from '../manifest.ts'
import { packKeys } from './pack-keys.ts'
import { ObjectGoneError, R2Range } from './r2-range.ts'

/** Indexes and graphs that an isolate keeps between requests. They are immutable, so nothing can become stale. */
const FILE_CACHE_BYTES = 32 * 1024 * 1024

/** A pack of the mirror, opened: its index is at hand, its graph is read on first use. */
export interface OpenPack {
  readonly id: string
  readonly index: PackIndex
  readonly data: R2Range
  graph(): Promise<PackGraph>
}

interface Kept {
  readonly byteLength: number
}

/** Files parsed once, the least recently used dropped first. */
class FileCache<T extends Kept> {
  readonly #files = new Map<string, Promise<T>>()
  readonly #sizes = new Map<string, number>()
  readonly #parse: (bytes: Uint8Array) => T
  #held = 0

  constructor(parse: (bytes: Uint8Array) => T) {
    this.#parse = parse
  }

  get(bucket: R2Bucket, key: string): Promise<T> {
    const kept = this.#files.get(key)
    if (kept !== undefined) {
      this.#files.delete(key)
      this.#files.set(key, kept)
      return kept
    }
    const file = this.#read(bucket, key)
    this.#files.set(key, file)
    file.then(
      ({ byteLength }) => this.#account(key, byteLength),
      () => this.#files.delete(key),
    )
    return file
  }

  async #read(bucket: R2Bucket, key: string): Promise<T> {
    const object = await bucket.get(key)
    if (object === null) throw new ObjectGoneError(key)
    return this.#parse(new Uint8Array(await object.arrayBuffer()))
  }

  #account(key: string, byteLength: number): void {
    this.#sizes.set(key, byteLength)
    this.#held += byteLength
    for (const oldest of this.#files.keys()) {
      if (this.#held <= FILE_CACHE_BYTES) break
      const size = this.#sizes.get(oldest)
      if (size === undefined || oldest === key) continue
      this.#held -= size
      this.#files.delete(oldest)
      this.#sizes.delete(oldest)
    }
  }
}

const indexes = new FileCache((bytes) => new PackIndex(bytes))
const graphs = new FileCache((bytes) => new PackGraph(bytes))

/** Opens the packs of a manifest, in its order. @throws {@link ObjectGoneError} if the manifest is too old. */
export function openPacks(
  bucket: R2Bucket,
  did: string,
  rkey: string,
  packs: readonly ManifestPack[],
): Promise<OpenPack[]> {
  return Promise.all(
    packs.map(async ({ id, size }) => {
      const keys = packKeys(did, rkey, id)
      return {
        id,
        index: await indexes.get(bucket, keys.index),
        data: new R2Range(bucket, keys.pack, size),
        graph: () => graphs.get(bucket, keys.graph),
      }
    }),
  )
}

/** The same packs with their graphs read. */
export function withGraphs(packs: readonly OpenPack[]): Promise<PackHandle[]> {
  return Promise.all(packs.map(async ({ index, data, graph }) => ({ index, data, graph: await graph() })))
}
