import { sliceStream, withLength } from './byte-stream.ts'
import { parseRange } from './range.ts'

/** Bytes of a known size that can be streamed. */
export interface BlobContent {
  /** In bytes. */
  readonly size: number
  stream(): ReadableStream<Uint8Array>
}

/** Answers GET and HEAD for bytes, whole or the range that the request asks for (206, 416). */
export function blobResponse(request: Request, etag: string, content: BlobContent, headers: Headers): Response {
  const { size } = content
  headers.set('Accept-Ranges', 'bytes')
  const ifRange = request.headers.get('If-Range')
  const range = ifRange === null || ifRange === etag ? parseRange(request.headers.get('Range'), size) : null
  if (range === 'unsatisfiable') {
    headers.set('Content-Range', `bytes */${size}`)
    headers.set('Content-Type', 'text/plain; charset=utf-8')
    return new Response(`the content has ${size} bytes\n`, { status: 416, headers })
  }
  const { start, end } = range ?? { start: 0, end: size }
  headers.set('Content-Length', `${end - start}`)
  if (range !== null) headers.set('Content-Range', `bytes ${start}-${end - 1}/${size}`)
  const status = range === null ? 200 : 206
  if (request.method === 'HEAD') return new Response(null, { status, headers })
  const stream = range === null ? content.stream() : sliceStream(content.stream(), start, end)
  return new Response(withLength(stream, end - start), { status, headers })
}
