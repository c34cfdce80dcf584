import { concatBytes } from '../../git/bytes/concat.ts'

/** Gives a part of a stream, and stops reading the source after it. */
export function sliceStream(
  source: ReadableStream<Uint8Array>,
  start: number,
  end: number,
): ReadableStream<Uint8Array> {
  const reader = source.getReader()
  let at = 0
  return new ReadableStream({
    async pull(controller) {
      while (at < end) {
        const { done, value } = await reader.read()
        if (done) throw new Error('the object is shorter than its size')
        const chunk = value.subarray(Math.max(start - at, 0), end - at)
        at += value.length
        if (chunk.length > 0 && at > start) {
          controller.enqueue(chunk)
          return
        }
      }
      controller.close()
      await reader.cancel()
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** Reads at least the first `length` bytes, or all there are, and gives them together with the stream as it was. */
export async function peekStream(
  source: ReadableStream<Uint8Array>,
  length: number,
): Promise<{ start: Uint8Array; stream: ReadableStream<Uint8Array> }> {
  const reader = source.getReader()
  const chunks: Uint8Array[] = []
  let held = 0
  while (held < length) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    held += value.length
  }
  const start = concatBytes(chunks)
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      if (start.length > 0) controller.enqueue(start)
    },
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return { start, stream }
}

/**
 * Makes the length of a body known, so that the answer carries `Content-Length`: workerd takes it from the type of
 * the stream and not from the header. Other runtimes take the header.
 */
export function withLength(stream: ReadableStream<Uint8Array>, length: number): ReadableStream<Uint8Array> {
  if (typeof FixedLengthStream === 'undefined') return stream
  return stream.pipeThrough(new FixedLengthStream(length))
}

/**
 * The same chunks; where whoever takes them leaves early, the others are read and dropped. A client that is still
 * sending when it is answered breaks off, and does not show the answer.
 */
export async function* readToEnd(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const source = chunks[Symbol.asyncIterator]()
  let isAtEnd = false
  const next = async () => {
    isAtEnd = true
    const step = await source.next()
    isAtEnd = step.done === true
    return step
  }
  try {
    for (let step = await next(); !step.done; step = await next()) yield step.value
  } finally {
    try {
      while (!isAtEnd) await next()
    } catch {
      // Whoever was to have these chunks has left, and has a reason of its own to tell.
    }
  }
}

/** Reads what is left, and drops it. */
export async function drain(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of readToEnd(chunks)) break
}

/** How much of a body is read at once, in bytes. A runtime that is not told gives 4 KiB, and each read has a price. */
const BODY_CHUNK_BYTES = 64 * 1024

/** The types of the runtime do not have `min` yet. https://streams.spec.whatwg.org/#byob-reader-read */
interface BytesReader {
  read(view: Uint8Array, options: { readonly min: number }): Promise<ReadableStreamReadResult<Uint8Array>>
  cancel(): Promise<void>
}

/** The bytes of a request's body in few, large chunks, each its own memory. Leaving early cancels the body. */
export async function* largeChunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader: BytesReader = body.getReader({ mode: 'byob' })
  let isAtEnd = false
  try {
    for (;;) {
      const { value, done } = await reader.read(new Uint8Array(BODY_CHUNK_BYTES), { min: BODY_CHUNK_BYTES })
      isAtEnd = done
      if (value !== undefined && value.length > 0) yield value
      if (done) return
    }
  } finally {
    // A body that has failed has said so already.
    if (!isAtEnd) await reader.cancel().catch(() => undefined)
  }
}

/** Chunks are gathered up to this size before they are handed on, in bytes: small ones cost as much as large ones. */
const GATHERED_BYTES = 64 * 1024

/** Joins small chunks to larger ones. */
export async function* gatherChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let gathered: Uint8Array[] = []
  let length = 0
  for await (const chunk of chunks) {
    gathered.push(chunk)
    length += chunk.length
    if (length < GATHERED_BYTES) continue
    yield concatBytes(gathered)
    gathered = []
    length = 0
  }
  if (length > 0) yield concatBytes(gathered)
}

/**
 * A stream of what a generator gives: it is asked only as fast as the stream is read, and ended when that is cancelled.
 * Chunks wait in the stream as they are, so they must not be changed any more; where they are, see {@link pumpChunks}.
 */
export function streamChunks(
  chunks: AsyncGenerator<Uint8Array, void, undefined> | Generator<Uint8Array, void, undefined>,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await chunks.return()
    },
  })
}

/**
 * The same for chunks that are there only until the next is asked for: each is written through, and copied by whoever
 * reads the stream, before the generator is asked again. If the generator fails, so does the stream, after what was
 * written. Only in workerd.
 *
 * @param waitUntil keeps the request alive until the generator has ended, also where the client has left
 */
export function pumpChunks(
  chunks: AsyncGenerator<Uint8Array, void, undefined>,
  waitUntil: (work: Promise<unknown>) => void,
): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream()
  waitUntil(writeChunks(chunks, writable.getWriter()))
  return readable
}

async function writeChunks(
  chunks: AsyncGenerator<Uint8Array, void, undefined>,
  writer: WritableStreamDefaultWriter<Uint8Array>,
): Promise<void> {
  try {
    for await (const chunk of chunks) if (!(await isTaken(writer.write(chunk)))) return
  } catch (error) {
    await isTaken(writer.abort(error))
    throw error
  }
  await isTaken(writer.close())
}

/** Whether there is somebody to take it: a reader that has left is nobody's fault. */
function isTaken(step: Promise<void>): Promise<boolean> {
  return step.then(
    () => true,
    () => false,
  )
}
