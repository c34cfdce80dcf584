import { PackGraph } from '../../git/graph/pack-graph.ts'
import type { PackHandle } from '../../git/graph/pack-handle.ts'
import { PackIndex } from '../../git/pack/pack-index.ts'
import type { ManifestPack } from '../manifest.ts'
import { type PackKeys, packKeys } from './pack-keys.ts'
import type { PackReader } from './pack-reader.ts'
import { ObjectGoneError, R2Range } from './r2-range.ts'

/** Indexes and graphs that an isolate keeps between requests. They are immutable, so nothing can become stale. */
const FILE_CACHE_BYTES = 32 * 1024 * 1024
/**
 * How long a request waits for another one's reading of the same file before it reads itself. A client that goes away
 * takes its request along, and what that has begun is never settled. Milliseconds.
 */
const PATIENCE = 2_000

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

export interface FileCacheOptions {
  /** Bytes kept. */
  readonly capacity?: number
  /** Milliseconds. */
  readonly patience?: number
}

/** Files parsed once, the least recently used dropped first. */
export class FileCache<T extends Kept> {
  readonly #files = new Map<string, T>()
  /** Readings under way, of any request. */
  readonly #pending = new Map<string, Promise<T>>()
  readonly #parse: (bytes: Uint8Array) => T
  readonly #capacity: number
  readonly #patience: number
  #held = 0

  constructor(parse: (bytes: Uint8Array) => T, options: FileCacheOptions = {}) {
    this.#parse = parse
    this.#capacity = options.capacity ?? FILE_CACHE_BYTES
    this.#patience = options.patience ?? PATIENCE
  }

  /** @throws {@link ObjectGoneError} */
  async get(bucket: PackReader, key: string): Promise<T> {
    const kept = this.#files.get(key)
    if (kept !== undefined) {
      this.#files.delete(key)
      this.#files.set(key, kept)
      return kept
    }
    const pending = this.#pending.get(key)
    const theirs = pending === undefined ? null : await within(pending, this.#patience)
    return theirs ?? this.#read(bucket, key)
  }

  /** Keeps a file whose bytes are known already. */
  put(key: string, file: T): void {
    this.#keep(key, file)
  }

  async #read(bucket: PackReader, key: string): Promise<T> {
    const reading = this.#fetch(bucket, key)
    this.#pending.set(key, reading)
    try {
      const file = await reading
      this.#keep(key, file)
      return file
    } finally {
      if (this.#pending.get(key) === reading) this.#pending.delete(key)
    }
  }

  async #fetch(bucket: PackReader, key: string): Promise<T> {
    const object = await bucket.get(key)
    if (object === null) throw new ObjectGoneError(key)
    return this.#parse(new Uint8Array(await object.arrayBuffer()))
  }

  #keep(key: string, file: T): void {
    this.#drop(key)
    this.#files.set(key, file)
    this.#held += file.byteLength
    for (const oldest of this.#files.keys()) {
      if (this.#held <= this.#capacity || oldest === key) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const file = this.#files.get(key)
    if (file === undefined) return
    this.#held -= file.byteLength
    this.#files.delete(key)
  }
}

/** What a promise gives, or null if it is not settled in time. */
async function within<T>(promise: Promise<T>, milliseconds: number): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), milliseconds)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

const indexes = new FileCache((bytes) => new PackIndex(bytes))
const graphs = new FileCache((bytes) => new PackGraph(bytes))

/** Keeps the files of a pack that was just written: who made them reads the pack next. */
export function keepFiles(keys: PackKeys, index: PackIndex, graph: PackGraph): void {
  indexes.put(keys.index, index)
  graphs.put(keys.graph, graph)
}

/** The packs with all that is known of them. @throws {@link ObjectGoneError} as `openPacks` */
export async function openHandles(
  bucket: PackReader,
  did: string,
  rkey: string,
  packs: readonly ManifestPack[],
): Promise<PackHandle[]> {
  const open = await openPacks(bucket, did, rkey, packs)
  return Promise.all(open.map(async ({ index, data, graph }) => ({ index, data, graph: await graph() })))
}

/**
 * Opens the packs of a manifest, in its order.
 *
 * @param onGone hears of a file that turns out not to be there, now or in later reads
 * @throws {@link ObjectGoneError} if the manifest is too old, or R2 has lost a file.
 */
export function openPacks(
  bucket: PackReader,
  did: string,
  rkey: string,
  packs: readonly ManifestPack[],
  onGone: () => void = () => undefined,
): Promise<OpenPack[]> {
  const telling = async <T>(file: Promise<T>): Promise<T> => {
    try {
      return await file
    } catch (error) {
      if (error instanceof ObjectGoneError) onGone()
      throw error
    }
  }
  return Promise.all(
    packs.map(async ({ id, size }) => {
      const keys = packKeys(did, rkey, id)
      return {
        id,
        index: await telling(indexes.get(bucket, keys.index)),
        data: new R2Range(bucket, keys.pack, size, onGone),
        graph: () => telling(graphs.get(bucket, keys.graph)),
      }
    }),
  )
}
