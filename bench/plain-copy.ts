import { drain } from './drain.ts'

/** How an object came into R2: at once, or in parts as a pack that is pushed, whose length nobody knows before its end. */
export type Upload = 'at-once' | 'in-parts'

const PART_BYTES = 8 * 1024 * 1024

/** Keeps what it is sent in the edge's own R2, and sends it back: as little as a Worker can do with so many bytes. */
export const PLAIN_COPY = {
  name: 'plain-copy',
  script: `export default {
    async fetch(request, { PACKS }) {
      const key = 'bench' + new URL(request.url).pathname
      if (request.method !== 'PUT') return new Response((await PACKS.get(key)).body)
      const bytes = new Uint8Array(await request.arrayBuffer())
      if (key.endsWith('at-once')) {
        await PACKS.put(key, bytes)
        return new Response()
      }
      const upload = await PACKS.createMultipartUpload(key)
      const parts = []
      for (let at = 0; at < bytes.length; at += ${PART_BYTES}) {
        parts.push(await upload.uploadPart(parts.length + 1, bytes.subarray(at, at + ${PART_BYTES})))
      }
      await upload.complete(parts)
      return new Response()
    },
  }`,
}

/** Makes `bytes` bytes ready to be copied. @returns how to copy them to a socket here, and drop them */
export async function preparePlainCopy(besideUrl: string, bytes: number, upload: Upload): Promise<() => Promise<void>> {
  const url = `${besideUrl}/${bytes}/${upload}`
  const { ok } = await fetch(url, { method: 'PUT', body: new Uint8Array(bytes) })
  if (!ok) throw new Error('the Worker for plain copies took nothing')
  return async () => {
    const drained = await drain(url)
    if (drained.bytes !== bytes) throw new Error(`a plain copy of ${bytes} bytes gave ${drained.bytes}`)
  }
}
