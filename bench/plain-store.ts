const MEBIBYTE = 1024 * 1024
/** As `storage/packs/pack-upload.ts` sends them. */
const PART_BYTES = 8 * MEBIBYTE

/**
 * Moves as many bytes as pushes and a clone whose answer is kept, and does nothing else: it keeps what it is sent in R2,
 * and sends all of it back and into the cache. Its buffers are used again and again. So what the runtime's memory grows
 * by is the runtime's and that of its simulators of R2 and the cache.
 */
export const PLAIN_STORE = {
  name: 'plain-store',
  script: `
    const MEBIBYTE = ${MEBIBYTE}
    const PART_BYTES = ${PART_BYTES}

    /** Calls \`take\` with all of a stream, in pieces; each must be used up when its promise settles. */
    async function forEachPiece(stream, pieceBytes, take) {
      const reader = stream.getReader({ mode: 'byob' })
      let buffer = new ArrayBuffer(pieceBytes)
      for (;;) {
        const { value, done } = await reader.readAtLeast(pieceBytes, new Uint8Array(buffer))
        if (value !== undefined && value.length > 0) await take(value)
        if (done) return
        buffer = value.buffer
      }
    }

    async function store(bucket, key, body) {
      const upload = await bucket.createMultipartUpload(key)
      const parts = []
      let part = new Uint8Array(PART_BYTES)
      let filled = 0
      const send = async () => {
        parts.push(await upload.uploadPart(parts.length + 1, part.subarray(0, filled)))
        filled = 0
      }
      await forEachPiece(body, MEBIBYTE, async (piece) => {
        for (let at = 0; at < piece.length; ) {
          const taken = piece.subarray(at, at + PART_BYTES - filled)
          part.set(taken, filled)
          filled += taken.length
          at += taken.length
          if (filled === PART_BYTES) await send()
        }
      })
      if (filled > 0) await send()
      await upload.complete(parts)
    }

    export default {
      async fetch(request, { PACKS }, context) {
        const { pathname } = new URL(request.url)
        if (request.method === 'PUT') {
          await store(PACKS, 'bench' + pathname, request.body)
          return new Response()
        }
        const { objects } = await PACKS.list({ prefix: 'bench/' })
        const answer = new IdentityTransformStream()
        const copy = new IdentityTransformStream()
        const headers = { 'Cache-Control': 'max-age=86400' }
        context.waitUntil(caches.default.put(request.url, new Response(copy.readable, { headers })))
        const writers = [answer.writable.getWriter(), copy.writable.getWriter()]
        const send = async () => {
          const sendPiece = (piece) => Promise.all(writers.map((writer) => writer.write(piece)))
          for (const { key } of objects) await forEachPiece((await PACKS.get(key)).body, MEBIBYTE, sendPiece)
          await Promise.all(writers.map((writer) => writer.close()))
        }
        context.waitUntil(send())
        return new Response(answer.readable)
      },
    }`,
}
