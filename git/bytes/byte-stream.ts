/**
 * A byte stream over chunks that are made as they are asked for. A consumer that goes away ends the iteration, so its
 * `finally` blocks run.
 */
export function streamChunks(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await iterator.return?.()
      },
    },
    // Nothing is made before it is asked for: chunks are large.
    { highWaterMark: 0 },
  )
}
