import { LruCache } from '../../git/bytes/lru-cache.ts'
import type { PackReader } from './pack-reader.ts'
import { ObjectGoneError } from './r2-range.ts'

/** Indexes and graphs that an isolate keeps between requests. They are immutable, so nothing can become stale. */
const FILE_CACHE_BYTES = 32 * 1024 * 1024
/**
 * How long a request waits for another one's reading of the same file before it reads itself. A client that goes away
 * takes its request along, and what that has begun is never settled. Milliseconds.
 */
const PATIENCE = 2_000

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
  readonly #files: LruCache<string, T>
  /** Readings under way, of any request. */
  readonly #pending = new Map<string, Promise<T>>()
  readonly #parse: (bytes: Uint8Array) => T
  readonly #patience: number

  constructor(parse: (bytes: Uint8Array) => T, options: FileCacheOptions = {}) {
    this.#parse = parse
    this.#files = new LruCache(options.capacity ?? FILE_CACHE_BYTES, ({ byteLength }) => byteLength)
    this.#patience = options.patience ?? PATIENCE
  }

  /** @throws {@link ObjectGoneError} */
  async get(bucket: PackReader, key: string): Promise<T> {
    const kept = this.#files.get(key)
    if (kept !== undefined) return kept
    const pending = this.#pending.get(key)
    const theirs = pending === undefined ? null : await within(pending, this.#patience)
    return theirs ?? this.#read(bucket, key)
  }

  /** Keeps a file that was just made. */
  put(key: string, file: T): void {
    this.#files.set(key, file)
  }

  async #read(bucket: PackReader, key: string): Promise<T> {
    const reading = this.#fetch(bucket, key)
    this.#pending.set(key, reading)
    try {
      const file = await reading
      this.#files.set(key, file)
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
