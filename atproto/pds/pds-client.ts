import { Agent, type BlobRef as ApiBlob, XRPCError } from '@atproto/api'
import { isSupportedDid } from '../identity/syntax.ts'
import { type BoundedJson, HeavyJsonError, type JsonBounds, parseBoundedJson } from '../network/bounded-json.ts'
import { createGuardedFetch, type GuardedFetch, type GuardedRequest } from '../network/guarded-fetch.ts'
import { isObject } from '../network/json.ts'
import { RefusedUrlError, ResponseTooLargeError, UnreachableHostError } from '../network/network-errors.ts'
import type { BlobRef } from '../records/record-types.ts'
import { isTid } from '../records/tid.ts'
import { isBlobNotFound, parseErrorBody, retryAfterSeconds } from './error-answer.ts'
import { HostBudget } from './host-budget.ts'
import { PdsError, PdsUnreachableError } from './pds-error.ts'
import { type RetryOptions, retryRead } from './retry.ts'
import { typedWrite, type Write } from './write.ts'

export interface PdsClientOptions {
  /** Origin of the PDS. */
  readonly service: string
  /** Default: one that refuses private addresses. */
  readonly fetch?: GuardedFetch
  /** The account that procedures are called for: the host counts them for it. */
  readonly account?: string
  /** Can be shared by clients. Default: one of its own. */
  readonly budget?: HostBudget
  /** For reads; writes are never sent twice. */
  readonly retry?: RetryOptions
}

export interface PdsDescription {
  readonly did: string
  /** Largest blob that it takes, in bytes. */
  readonly blobUploadLimit: number
}

export interface PdsSession {
  readonly did: string
  readonly handle: string
  readonly accessJwt: string
  readonly refreshJwt: string
}

/** A record as it came: `value` is unchecked JSON. */
export interface RawRecord {
  readonly uri: string
  readonly rkey: string
  readonly value: unknown
}

export interface RecordPage {
  readonly records: readonly RawRecord[]
  /** Where the next page starts, or null after the last. */
  readonly cursor: string | null
  /** Length of the answer, in UTF-16 units. */
  readonly length: number
}

/** Whether a host serves an account. https://atproto.com/specs/account#account-status */
export interface RepoStatus {
  readonly isActive: boolean
  /** Why not, as the host calls it; null: it is active, or nothing is said. */
  readonly status: string | null
  /** TID of the account's newest commit; null where it is not active. */
  readonly rev: string | null
}

export interface AccountPage {
  readonly dids: readonly string[]
  /** Where the next page starts, or null after the last. */
  readonly cursor: string | null
}

export interface ListRecordsOptions {
  readonly did: string
  readonly collection: string
  /** At most 100. */
  readonly limit: number
  /** The rkey that the page starts after, which need not exist. */
  readonly cursor?: string | undefined
  /** Smallest rkey first, cursor an exclusive lower bound; else the largest first and an upper bound. */
  readonly reverse?: boolean
  /** Bytes of the answer. Default {@link LIST_MAX_BYTES}. */
  readonly maxBytes?: number
}

/** What the reference PDS takes where it says nothing else: 5 MiB. */
export const DEFAULT_BLOB_LIMIT = 5 * 1024 * 1024

/** Bytes of an answer: 36 packs of up to 256 KiB, as they are asked for; what is larger is listed in smaller pages. */
const LIST_MAX_BYTES = 12 * 1024 * 1024
const JSON_MAX_BYTES = 4 * 1024 * 1024
/** The same of the Agent's calls, which it parses itself: 200 results of a kilobyte each, and more. */
const CALL_MAX_BYTES = 512 * 1024
/** An at-uri has no more characters. A record key is a part of it, and keeps it in memory. */
const MAX_URI = 8192
/** Milliseconds: a large applyWrites takes seconds on a slow PDS, and giving up early costs a re-read. */
const WRITE_TIMEOUT = 30_000
/** Milliseconds for all of an answer in JSON: the largest comes in that time at 1 MB/s. Blobs may take what they need. */
const JSON_DEADLINE = 30_000
/** Milliseconds for all of one blob. */
const UPLOAD_TIMEOUT = 10 * 60_000
/** Accounts a page: what the methods allow, or less. */
const ACCOUNT_PAGE = 1_000
const COLLECTION_PAGE = 2_000
/** All reads count for one limit of the host's: they need no account. */
const READ_SCOPE = 'reads'

/**
 * The calls to one PDS that Skein makes. Procedures go through the Agent of `@atproto/api`, with our fetch under it.
 * Reads of records do not: the Agent refuses a whole answer for one record in it that is no valid data, and records
 * come from strangers.
 *
 * Every call throws {@link PdsError} when the PDS refuses or must not be asked now, and {@link PdsUnreachableError} when
 * it does not answer.
 */
export class PdsClient {
  readonly service: string
  readonly #host: string
  readonly #fetch: GuardedFetch
  readonly #account: string
  readonly #budget: HostBudget
  readonly #retry: RetryOptions
  /** Made on first use: it compiles some 400 schemas, which reads do not need. */
  #agent: Agent | null = null

  constructor(options: PdsClientOptions) {
    this.service = options.service
    this.#host = new URL(options.service).host
    this.#fetch = options.fetch ?? createGuardedFetch()
    this.#account = options.account ?? ''
    this.#budget = options.budget ?? new HostBudget()
    this.#retry = options.retry ?? {}
  }

  async describeServer(): Promise<PdsDescription> {
    const { data } = await retryRead(
      () => this.#call((agent) => agent.com.atproto.server.describeServer()),
      this.#retry,
    )
    return { did: data.did, blobUploadLimit: data.blobUploadLimit ?? DEFAULT_BLOB_LIMIT }
  }

  async createSession(account: { identifier: string; password: string }): Promise<PdsSession> {
    const { data } = await this.#call((agent) => agent.com.atproto.server.createSession({ ...account }))
    return { did: data.did, handle: data.handle, accessJwt: data.accessJwt, refreshJwt: data.refreshJwt }
  }

  /** Spends the refresh token: what it returns must be kept before anything else happens. */
  async refreshSession(refreshJwt: string): Promise<PdsSession> {
    const { data } = await this.#call((agent) =>
      agent.com.atproto.server.refreshSession(undefined, { headers: bearer(refreshJwt) }),
    )
    return { did: data.did, handle: data.handle, accessJwt: data.accessJwt, refreshJwt: data.refreshJwt }
  }

  /**
   * All writes or none, in one commit. At most 200, and 1,000,000 bytes of JSON.
   *
   * @returns whether the host counts writes: those that do say with each answer what is left
   */
  async applyWrites(did: string, writes: readonly Write[], token: string): Promise<{ isCounted: boolean }> {
    const typed = writes.map(typedWrite)
    const { data, headers } = await this.#call((agent) =>
      agent.com.atproto.repo.applyWrites({ repo: did, writes: typed }, { headers: bearer(token) }),
    )
    if (data.results && data.results.length !== writes.length) {
      throw new PdsError(
        this.#host,
        200,
        'InvalidResponse',
        `${data.results.length} results of ${writes.length} writes`,
        null,
      )
    }
    return { isCounted: headers['ratelimit-limit'] !== undefined }
  }

  /** @returns the blob as records must hold it. The PDS drops it again unless a record names it within hours. */
  async uploadBlob(body: Uint8Array | ReadableStream<Uint8Array>, token: string): Promise<BlobRef> {
    const { data } = await this.#call((agent) =>
      // The Agent's type does not know of streams; its code passes them on to fetch.
      agent.com.atproto.repo.uploadBlob(body as Uint8Array, {
        encoding: 'application/octet-stream',
        headers: bearer(token),
      }),
    )
    return (data.blob as ApiBlob).toJSON() as BlobRef
  }

  /** Null if there is no such record. */
  async getRecord(did: string, collection: string, rkey: string): Promise<RawRecord | null> {
    const query = new URLSearchParams({ repo: did, collection, rkey })
    try {
      const { value: answer } = await this.#readJson('com.atproto.repo.getRecord', query, JSON_MAX_BYTES, {
        recordsAt: 1,
      })
      if (!isObject(answer)) throw this.#invalidAnswer('no record')
      return { uri: `at://${did}/${collection}/${rkey}`, rkey, value: answer.value }
    } catch (fault) {
      if (fault instanceof PdsError && fault.error === 'RecordNotFound') return null
      throw fault
    }
  }

  /** Null: the host does not have the account. */
  async getRepoStatus(did: string): Promise<RepoStatus | null> {
    try {
      const { value: answer } = await this.#readJson(
        'com.atproto.sync.getRepoStatus',
        new URLSearchParams({ did }),
        JSON_MAX_BYTES,
      )
      if (!isObject(answer) || typeof answer.active !== 'boolean') throw this.#invalidAnswer('no status of an account')
      const { active, status, rev } = answer
      if (active && (typeof rev !== 'string' || !isTid(rev))) throw this.#invalidAnswer('no rev of an account')
      return {
        isActive: active,
        status: !active && typeof status === 'string' ? status : null,
        rev: active ? (rev as string) : null,
      }
    } catch (fault) {
      if (fault instanceof PdsError && fault.error === 'RepoNotFound') return null
      throw fault
    }
  }

  /**
   * Accounts that have records of a collection, as a relay knows them. A host without such a list gives all accounts
   * that it has.
   *
   * @param collection null: of any
   */
  async listAccounts(collection: string | null, cursor: string | null): Promise<AccountPage> {
    const query = new URLSearchParams({ limit: String(collection === null ? ACCOUNT_PAGE : COLLECTION_PAGE) })
    if (collection !== null) query.set('collection', collection)
    if (cursor !== null) query.set('cursor', cursor)
    const nsid = collection === null ? 'com.atproto.sync.listRepos' : 'com.atproto.sync.listReposByCollection'
    const { value: answer } = await this.#readJson(nsid, query, JSON_MAX_BYTES)
    if (!isObject(answer) || !Array.isArray(answer.repos)) throw this.#invalidAnswer('no list of accounts')
    const dids = answer.repos.flatMap((repo: unknown) =>
      isObject(repo) && typeof repo.did === 'string' && isSupportedDid(repo.did) ? [repo.did] : [],
    )
    const next = typeof answer.cursor === 'string' && answer.repos.length > 0 ? answer.cursor : null
    if (next !== null && next === cursor) throw this.#invalidAnswer('the list of accounts does not end')
    return { dids, cursor: next }
  }

  /** One page. What is no record at all is left out; the value of one that holds more than any may is null. */
  async listRecords(options: ListRecordsOptions): Promise<RecordPage> {
    const { maxBytes = LIST_MAX_BYTES } = options
    const query = new URLSearchParams({
      repo: options.did,
      collection: options.collection,
      limit: String(options.limit),
    })
    if (options.cursor !== undefined) query.set('cursor', options.cursor)
    if (options.reverse) query.set('reverse', 'true')
    const read = await this.#readJson('com.atproto.repo.listRecords', query, maxBytes, { recordsAt: 3 })
    const answer = read.value
    if (!isObject(answer) || !Array.isArray(answer.records)) throw this.#invalidAnswer('no list of records')
    const records = answer.records.flatMap((record: unknown): RawRecord[] => {
      if (!isObject(record) || typeof record.uri !== 'string' || record.uri.length > MAX_URI) return []
      return [{ uri: record.uri, rkey: record.uri.slice(record.uri.lastIndexOf('/') + 1), value: record.value }]
    })
    // The reference PDS gives a cursor after the last page too: only a full page can have another behind it.
    const isLast = answer.records.length < options.limit || typeof answer.cursor !== 'string'
    return { records, cursor: isLast ? null : (answer.cursor as string), length: read.length }
  }

  /**
   * The bytes of a blob as a stream. Reading it fails with {@link ResponseTooLargeError} beyond `maxBytes`, and with
   * {@link UnreachableHostError} where the connection breaks. Null if the PDS does not have it: the last record that named
   * it is gone.
   */
  async getBlob(did: string, cid: string, maxBytes: number): Promise<ReadableStream<Uint8Array> | null> {
    const query = new URLSearchParams({ did, cid })
    try {
      const response = await retryRead(() => this.#get('com.atproto.sync.getBlob', query, { maxBytes }), this.#retry)
      return response.body ?? new Blob([]).stream()
    } catch (fault) {
      if (fault instanceof PdsError && isBlobNotFound(fault)) return null
      throw fault
    }
  }

  async #readJson(
    nsid: string,
    query: URLSearchParams,
    maxBytes: number,
    bounds: JsonBounds = {},
  ): Promise<BoundedJson & { readonly length: number }> {
    return retryRead(async () => {
      const response = await this.#get(nsid, query, { maxBytes, deadline: JSON_DEADLINE })
      const text = await this.#translate(() => response.text())
      const json = await this.#translate(async () => parseBoundedJson(text, bounds))
      if (json.value === undefined) throw this.#invalidAnswer('no JSON')
      return { ...json, length: text.length }
    }, this.#retry)
  }

  #get(nsid: string, query: URLSearchParams, request: GuardedRequest): Promise<Response> {
    return this.#send(`/xrpc/${nsid}?${query}`, READ_SCOPE, request)
  }

  async #call<T>(run: (agent: Agent) => Promise<T>): Promise<T> {
    this.#agent ??= new Agent({ fetchHandler: (path, init) => this.#sendForAgent(path, init) })
    try {
      return await run(this.#agent)
    } catch (fault) {
      if (!(fault instanceof XRPCError)) throw fault
      const { cause } = fault
      if (cause instanceof PdsError || cause instanceof PdsUnreachableError) throw cause
      if (cause instanceof UnreachableHostError) throw unreachable(cause)
      throw this.#invalidAnswer(fault.message, fault)
    }
  }

  async #sendForAgent(path: string, init: RequestInit): Promise<Response> {
    const { pathname } = new URL(path, this.service)
    const headers = new Headers(init.headers)
    // For the network's moderation of posts; a PDS has no use for it here.
    headers.delete('atproto-accept-labelers')
    const isUpload = pathname.endsWith('/com.atproto.repo.uploadBlob')
    const isRead = (init.method ?? 'get').toLowerCase() === 'get'
    return this.#send(path, isRead ? READ_SCOPE : `${pathname} ${this.#account}`, {
      method: (init.method ?? 'get').toUpperCase(),
      headers,
      body: init.body ?? null,
      timeout: isUpload ? UPLOAD_TIMEOUT : WRITE_TIMEOUT,
      maxBytes: CALL_MAX_BYTES,
      deadline: JSON_DEADLINE,
    })
  }

  /** Sends one request; returns only if the PDS carried it out. */
  async #send(path: string, scope: string, request: GuardedRequest): Promise<Response> {
    await this.#budget.take(this.#host, scope)
    const response = await this.#translate(() => this.#fetch(new URL(path, this.service), request))
    this.#budget.note(this.#host, scope, response)
    if (response.ok) return response
    const text = await this.#translate(() => response.text())
    const { error, message } = parseErrorBody(text)
    throw new PdsError(this.#host, response.status, error, message, retryAfterSeconds(response, Date.now()))
  }

  async #translate<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (fault) {
      if (fault instanceof UnreachableHostError || fault instanceof RefusedUrlError) throw unreachable(fault)
      if (fault instanceof ResponseTooLargeError) {
        throw new PdsError(fault.host, 200, 'ResponseTooLarge', `more than ${fault.limit} bytes`, null, {
          cause: fault,
        })
      }
      if (fault instanceof HeavyJsonError) {
        throw new PdsError(this.#host, 200, 'ResponseTooLarge', `it ${fault.message}`, null, { cause: fault })
      }
      throw fault
    }
  }

  #invalidAnswer(reason: string, cause?: unknown): PdsError {
    return new PdsError(this.#host, 200, 'InvalidResponse', reason, null, { cause })
  }
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` }
}

function unreachable(fault: UnreachableHostError | RefusedUrlError): PdsUnreachableError {
  return new PdsUnreachableError(fault.host, fault.reason, { cause: fault })
}
