import { createHash } from 'node:crypto'
import { log } from '../../durable-objects/log.ts'
import { LruCache } from '../../git/bytes/lru-cache.ts'
import { resolveHead } from '../../git/protocol/advertised-refs.ts'
import { ProtocolError } from '../../git/protocol/protocol-error.ts'
import { resolveWantedRefs, type WantedRef } from '../../git/protocol/wanted-refs.ts'
import type { ObjectFilter } from '../../git/walk/object-filter.ts'
import type { Manifest } from '../../storage/manifest.ts'
import type { FetchForm } from './fetch-form.ts'

/** In seconds. What an id stands for never changes; this is how long what has left the account can still be had. */
const MAX_AGE = 24 * 60 * 60
const CACHE_CONTROL = `max-age=${MAX_AGE}`

export interface KeptAnswersLimits {
  /** Larger answers are not kept, in bytes. */
  readonly largest: number
  /** How long the cache may take for a chunk, in milliseconds. */
  readonly patience: number
}

/** Cloudflare's cache takes objects of up to 512 MB. */
const LIMITS: KeptAnswersLimits = { largest: 256 * 1024 * 1024, patience: 2_000 }

/** Where answers are kept: the cache of the data centre, which drops what is not asked for by itself. */
export type AnswerCache = Pick<Cache, 'match' | 'put'>

/** Whether others will ask the same: a clone, whole, shallow or filtered. It depends on nothing that this client has. */
export function isAskedByOthers({ done, deepen, haves }: FetchForm): boolean {
  return done && haves.length === 0 && deepen.shallow.length === 0 && deepen.not.length === 0
}

/**
 * Names the answer to a request of that kind. Equal names have equal answers, whatever has happened to the repository
 * between them.
 *
 * @param manifest with the refs that the request names
 * @returns null where there is no answer: the request names refs that are not there
 */
export function answerName(fetch: FetchForm, { did, rkey, version, refs, defaultBranch }: Manifest): string | null {
  const { deepen, wants, wantRefs } = fetch
  const head = resolveHead(refs, defaultBranch)
  let wanted: readonly WantedRef[]
  try {
    wanted = resolveWantedRefs(wantRefs, { head, refs })
  } catch (error) {
    if (error instanceof ProtocolError) return null
    throw error
  }
  const asked = {
    protocol: fetch.protocol,
    wants: [...wants].sort(),
    wanted: wanted.map(({ name, target }) => [name, target]),
    depth: deepen.depth,
    relative: deepen.relative,
    since: deepen.since,
    filter: deepen.filter && filterName(deepen.filter),
    ofsDelta: fetch.ofsDelta,
    bandLimit: fetch.bandLimit,
    isBandedFromStart: fetch.isBandedFromStart,
    noProgress: fetch.noProgress,
    // Which tags go along depends on all of them.
    tags: fetch.includeTag ? version : null,
  }
  return createHash('sha256')
    .update(`${did}/${rkey}\n${JSON.stringify(asked)}`)
    .digest('hex')
}

function filterName({ types, blobLimit, treeDepth }: ObjectFilter): string {
  return `${[...types].sort()} ${blobLimit} ${treeDepth}`
}

/** While a copy is on its way nobody else makes one. One that was cut off without a word counts no longer. Milliseconds. */
const COPY_TIME = 5 * 60_000
/** How long an answer that is too large is not tried again. Milliseconds. */
const TOO_LARGE_TIME = 60 * 60_000
/** Names of answers that this isolate does not keep for now, and until when, in milliseconds since 1970. */
const notNow = new LruCache<string, number>(1_000, () => 1)
/** Copies that are whole, as far as this isolate has seen, by the URLs of their notes: then the note need not be read. */
const wholeCopies = new LruCache<string, string>(1_000, () => 1)

/**
 * Answers kept under their names. A cache may keep the beginning of a body that breaks off, as if it were all of it. So
 * each copy goes under a name of its own, and a note under the answer's name says which copy is whole.
 */
export class KeptAnswers {
  readonly #cache: AnswerCache
  readonly #origin: string
  readonly #waitUntil: (work: Promise<unknown>) => void
  readonly #limits: KeptAnswersLimits

  /** @param origin of the edge: the cache belongs to a host name */
  constructor(
    cache: AnswerCache,
    origin: string,
    waitUntil: (work: Promise<unknown>) => void,
    limits: KeptAnswersLimits = LIMITS,
  ) {
    this.#cache = cache
    this.#origin = origin
    this.#waitUntil = waitUntil
    this.#limits = limits
  }

  /** The answer of that name, or null if it is not kept, or the cache does not say. */
  async find(name: string): Promise<ReadableStream<Uint8Array> | null> {
    const url = this.#url(name)
    try {
      const seen = wholeCopies.get(url)
      const copy = seen && (await this.#cache.match(`${url}/${seen}`))
      if (copy) return copy.body
      const note = await this.#cache.match(url)
      if (note === undefined) return null
      const id = await note.text()
      const noted = await this.#cache.match(`${url}/${id}`)
      if (noted === undefined) return null
      wholeCopies.set(url, id)
      return noted.body
    } catch (error) {
      log('answer-not-found', { reason: String(error) })
      return null
    }
  }

  /**
   * Passes an answer on, and keeps it once it is whole. One that fails, that the client does not take to its end, or
   * that is too large, is not kept; and whatever goes wrong with keeping it is not the client's concern.
   *
   * @param isSound asked at the end: whether what the name was made of is what the answer was made of
   */
  async *keep(
    name: string,
    chunks: AsyncIterable<Uint8Array>,
    isSound: () => boolean,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const url = this.#url(name)
    if ((notNow.get(url) ?? 0) > Date.now()) {
      yield* chunks
      return
    }
    notNow.set(url, Date.now() + COPY_TIME)
    const id = crypto.randomUUID()
    const copy = new CacheCopy(this.#cache, `${url}/${id}`, this.#limits)
    this.#waitUntil(copy.settled)
    let isWhole = false
    try {
      for await (const chunk of chunks) {
        await copy.write(chunk)
        yield chunk
      }
      isWhole = true
    } finally {
      if (!isWhole) copy.abort('the answer was not taken to its end')
      else if (!isSound()) copy.abort('the repository has changed meanwhile')
      if (copy.isTooLarge) notNow.set(url, Date.now() + TOO_LARGE_TIME)
      else notNow.delete(url)
    }
    this.#waitUntil(this.#note(url, id, copy))
  }

  async #note(url: string, id: string, copy: CacheCopy): Promise<void> {
    try {
      if (!(await copy.finish())) return
      const headers = { 'Content-Type': 'text/plain', 'Cache-Control': CACHE_CONTROL }
      await this.#cache.put(url, new Response(id, { headers }))
      wholeCopies.set(url, id)
    } catch (error) {
      log('answer-not-kept', { reason: String(error) })
    }
  }

  #url(name: string): string {
    return `${this.#origin}/.answers/${name}`
  }
}

/** An answer on its way into the cache. If that fails there is no copy, and the client need not know. */
class CacheCopy {
  readonly #limits: KeptAnswersLimits
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>
  readonly #putting: Promise<void>
  /** Settles when the cache has ended, whether or not it has the copy. */
  readonly settled: Promise<void>
  #size = 0
  #isOpen = true

  constructor(cache: AnswerCache, url: string, limits: KeptAnswersLimits) {
    this.#limits = limits
    const { readable, writable } = new IdentityTransformStream()
    this.#writer = writable.getWriter()
    const headers = { 'Content-Type': 'application/octet-stream', 'Cache-Control': CACHE_CONTROL }
    this.#putting = cache.put(url, new Response(readable, { headers }))
    this.settled = this.#putting.then(
      () => this.abort('the cache takes no more'),
      (error) => this.abort(String(error)),
    )
  }

  get isTooLarge(): boolean {
    return this.#size > this.#limits.largest
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#size += bytes.length
    if (this.isTooLarge) this.abort('the answer is too large')
    if (this.#isOpen) await this.#patiently(this.#writer.write(bytes))
  }

  /** Ends the copy. @returns whether the cache has all of it */
  async finish(): Promise<boolean> {
    if (!this.#isOpen) return false
    this.#isOpen = false
    await this.#writer.close()
    await this.#putting
    return true
  }

  abort(reason: string): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    log('answer-not-kept', { reason })
    this.#writer.abort(new Error(reason)).catch(() => undefined)
  }

  /** A cache that is slow, or that has ended without a word, must not hold up the client. */
  async #patiently(step: Promise<void>): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#limits.patience)
    }).then(() => this.abort('the cache is too slow'))
    try {
      await Promise.race([step, late, this.settled])
    } catch (error) {
      this.abort(String(error))
    } finally {
      clearTimeout(timer)
    }
  }
}
