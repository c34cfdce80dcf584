import { largeChunks, streamChunks } from '../http/byte-stream.ts'
import { HttpError } from '../http/http-error.ts'

/** The body of an RPC, decompressed where the client has compressed it; it does so with many refs. */
export function requestBody(request: Request): AsyncIterable<Uint8Array> {
  const body = request.body ?? new Blob([]).stream()
  const encoding = request.headers.get('Content-Encoding')?.toLowerCase() ?? 'identity'
  if (encoding === 'identity' || encoding === '') return largeChunks(body)
  if (encoding === 'gzip' || encoding === 'x-gzip') {
    return decompress(body)
  }
  throw new HttpError(415, 'UnsupportedEncoding', `content encoding ${encoding} is not supported`)
}

async function* decompress(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body.pipeThrough(new DecompressionStream('gzip') as ReadableWritablePair<Uint8Array, Uint8Array>)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new HttpError(400, 'InvalidRequest', 'the body says that it is gzip, and is not')
  }
}

/** @throws {@link HttpError} 415 */
export function requireContentType(request: Request, expected: string): void {
  const type = request.headers.get('Content-Type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== expected) throw new HttpError(415, 'UnsupportedContentType', `expected Content-Type ${expected}`)
}

/** git's own headers against caches between client and server. */
export const NO_CACHE = {
  'Cache-Control': 'no-cache, max-age=0, must-revalidate',
  Expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  Pragma: 'no-cache',
}

/** `flush-pkt` as it goes over the wire. */
export const FLUSH_PACKET = new TextEncoder().encode('0000')

export function emptyResponse(type: string): Response {
  return new Response(null, { headers: { 'Content-Type': type, ...NO_CACHE } })
}

/** An answer whose body is made as the client takes it; the work stops when the client goes away. */
export function streamedResponse(type: string, chunks: Parameters<typeof streamChunks>[0]): Response {
  return bodyResponse(type, streamChunks(chunks))
}

/** @param headers further ones */
export function bodyResponse(
  type: string,
  body: ReadableStream<Uint8Array>,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(body, { headers: { 'Content-Type': type, ...NO_CACHE, ...headers } })
}
