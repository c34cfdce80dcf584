import { refuseUrl } from './host-refusal.ts'
import { RefusedUrlError, ResponseTooLargeError, UnreachableHostError } from './network-errors.ts'

export interface GuardedFetchOptions {
  /** Default: the platform's. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** For local use: plain http and private addresses are allowed. Default false. */
  readonly allowPrivateHosts?: boolean
}

export interface GuardedRequest {
  readonly method?: string
  readonly headers?: HeadersInit
  readonly body?: BodyInit | null
  /** Milliseconds until the headers, and between two chunks of the body. Default 10,000. */
  readonly timeout?: number
  /** Milliseconds for the whole body, for who cannot wait while a host sends a byte now and then. Default: no limit. */
  readonly deadline?: number
  /** Bytes of body, after decompression. Default 1 MiB. */
  readonly maxBytes?: number
  /** How many redirects of a GET are followed. Default 0: the redirect itself is the answer. */
  readonly redirects?: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Fetches what a stranger named.
 *
 * @throws {@link RefusedUrlError}, {@link UnreachableHostError}; reading the body may also throw
 * {@link ResponseTooLargeError}
 */
export type GuardedFetch = (url: string | URL, request?: GuardedRequest) => Promise<Response>

const DEFAULT_TIMEOUT = 10_000
const DEFAULT_MAX_BYTES = 1024 * 1024

/** A fetch with a time limit, a size limit, and no way to private addresses, also not by redirects. */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const platformFetch = options.fetch ?? ((url, init) => fetch(url, init))
  const allowPrivateHosts = options.allowPrivateHosts ?? false

  return async function guardedFetch(input, request = {}) {
    const method = request.method ?? 'GET'
    const headers = new Headers(request.headers)
    const maxBytes = request.maxBytes ?? DEFAULT_MAX_BYTES
    const timeout = request.timeout ?? DEFAULT_TIMEOUT
    let url = new URL(input)
    for (let followed = 0; ; followed++) {
      const refusal = refuseUrl(url, allowPrivateHosts)
      if (refusal) throw new RefusedUrlError(url, refusal)
      const response = await send(platformFetch, url, { ...request, method, headers }, timeout)
      const target = (request.redirects ?? 0) > 0 && method === 'GET' ? redirectTarget(response, url) : null
      if (!target) return limitBody(response, url.host, { maxBytes, timeout, deadline: request.deadline ?? null })
      await response.body?.cancel()
      if (followed === request.redirects) throw new UnreachableHostError(url.host, 'redirects too often')
      if (target.origin !== url.origin) headers.delete('authorization')
      url = target
    }
  }
}

async function send(
  platformFetch: NonNullable<GuardedFetchOptions['fetch']>,
  url: URL,
  request: GuardedRequest & { method: string; headers: Headers },
  timeout: number,
): Promise<Response> {
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(new UnreachableHostError(url.host, tooSlow(timeout))), timeout)
  const signal = request.signal ? AbortSignal.any([request.signal, abort.signal]) : abort.signal
  const init: RequestInit & { duplex?: 'half' } = {
    method: request.method,
    headers: request.headers,
    // `error` is no value that workerd knows; and a redirect has to be judged before it is followed.
    redirect: 'manual',
    signal,
  }
  if (request.body != null) init.body = request.body
  if (request.body instanceof ReadableStream) init.duplex = 'half'
  try {
    return await platformFetch(url.href, init)
  } catch (cause) {
    if (abort.signal.aborted) throw abort.signal.reason
    request.signal?.throwIfAborted()
    throw new UnreachableHostError(url.host, 'cannot be reached', { cause })
  } finally {
    clearTimeout(timer)
  }
}

function redirectTarget(response: Response, url: URL): URL | null {
  if (![301, 302, 303, 307, 308].includes(response.status)) return null
  return URL.parse(response.headers.get('location') ?? '', url)
}

interface BodyLimits {
  readonly maxBytes: number
  readonly timeout: number
  readonly deadline: number | null
}

function limitBody(response: Response, host: string, limits: BodyLimits): Response {
  if (!response.body) return response
  const headers = new Headers(response.headers)
  // fetch has decoded the body: these would no longer be true of it.
  if (headers.has('content-encoding')) {
    headers.delete('content-encoding')
    headers.delete('content-length')
  }
  const body = limitStream(response.body, host, limits)
  return new Response(body, { status: response.status, statusText: response.statusText, headers })
}

function limitStream(
  source: ReadableStream<Uint8Array>,
  host: string,
  { maxBytes, timeout, deadline }: BodyLimits,
): ReadableStream<Uint8Array> {
  const reader = source.getReader()
  const end = deadline === null ? Number.POSITIVE_INFINITY : Date.now() + deadline
  let received = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await readWithin(reader, host, timeout, end)
        if (done) return controller.close()
        received += value.length
        if (received > maxBytes) {
          const error = new ResponseTooLargeError(host, maxBytes)
          await reader.cancel(error)
          throw error
        }
        controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  host: string,
  timeout: number,
  end: number,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const left = Math.max(0, end - Date.now())
  const stalled = new Promise<never>((_, reject) => {
    const reason = left < timeout ? 'sends its answer too slowly' : tooSlow(timeout)
    timer = setTimeout(() => reject(new UnreachableHostError(host, reason)), Math.min(timeout, left))
  })
  try {
    return await Promise.race([reader.read(), stalled])
  } catch (cause) {
    if (cause instanceof UnreachableHostError) {
      await reader.cancel(cause)
      throw cause
    }
    throw new UnreachableHostError(host, 'broke off its answer', { cause })
  } finally {
    clearTimeout(timer)
  }
}

function tooSlow(timeout: number): string {
  return `did not answer within ${timeout / 1000} s`
}
