import { LruCache } from '../../git/bytes/lru-cache.ts'
import type { Oid } from '../../git/bytes/oid.ts'
import { lastCommitsKey } from '../../storage/packs/pack-keys.ts'
import type { CommitInfo } from './load/commit-info.ts'

/** Which commit last changed each entry of a directory, as seen from a commit, as far back as was looked. */
export interface KeptLastCommits {
  readonly commit: Oid
  /** By the entry's name with one character a byte. */
  readonly entries: ReadonlyMap<string, Oid>
  /** Those commits: each lies somewhere else in the packs. */
  readonly infos: ReadonlyMap<Oid, CommitInfo>
}

/** What isolates have found out, so that who comes after a push walks over what was pushed alone. */
export interface LastCommitsKeeper {
  /** The newest that is kept of a directory, by its path with one character a byte. Null: nothing. */
  find(path: string): Promise<KeptLastCommits | null>
  /** @param cost commits that were looked at to find it */
  keep(path: string, found: KeptLastCommits, cost: number): void
}

/** Entries of directories that an isolate keeps. */
const AT_HAND = 50_000
const atHand = new LruCache<string, KeptLastCommits>(AT_HAND, ({ entries }) => entries.size + 1)
/** What took fewer commits is found again faster than it is written down. */
const WORTH_WRITING = 100
/** Of larger directories nothing is written down. */
const MOST_ENTRIES = 2_000

/**
 * Of each repository the root is kept in R2, which is what most readers open, and what a new isolate would take longest for;
 * other directories in the isolate.
 */
export class R2LastCommits implements LastCommitsKeeper {
  readonly #bucket: R2Bucket
  readonly #key: string
  readonly #waitUntil: (work: Promise<unknown>) => void

  constructor(bucket: R2Bucket, did: string, rkey: string, waitUntil: (work: Promise<unknown>) => void) {
    this.#bucket = bucket
    this.#key = lastCommitsKey(did, rkey)
    this.#waitUntil = waitUntil
  }

  async find(path: string): Promise<KeptLastCommits | null> {
    const known = atHand.get(this.#nameOf(path))
    if (known !== undefined || path !== '') return known ?? null
    const object = await this.#bucket.get(this.#key)
    const read = object === null ? null : decode(await object.text())
    if (read !== null) atHand.set(this.#nameOf(path), read)
    return read
  }

  keep(path: string, found: KeptLastCommits, cost: number): void {
    atHand.set(this.#nameOf(path), found)
    if (path !== '' || cost < WORTH_WRITING || found.entries.size > MOST_ENTRIES) return
    const text = JSON.stringify({
      version: VERSION,
      commit: found.commit,
      entries: [...found.entries],
      infos: [...found.infos.values()],
    })
    // It saves work, and nothing depends on it.
    this.#waitUntil(this.#bucket.put(this.#key, text).catch(() => undefined))
  }

  #nameOf(path: string): string {
    return `${this.#key} ${path}`
  }
}

/** Of the form in which it is written down. */
const VERSION = 1

interface Written {
  readonly version: number
  readonly commit: Oid
  readonly entries: readonly [string, Oid][]
  readonly infos: readonly CommitInfo[]
}

/** Null: another version of this program has written it. */
function decode(text: string): KeptLastCommits | null {
  const { version, commit, entries, infos } = JSON.parse(text) as Written
  if (version !== VERSION) return null
  return { commit, entries: new Map(entries), infos: new Map(infos.map((info) => [info.oid, info])) }
}
