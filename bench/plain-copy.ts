import { drain } from './drain.ts'

/** Keeps what it is sent in the edge's own R2, and sends it back: as little as a Worker can do with so many bytes. */
export const PLAIN_COPY = {
  name: 'plain-copy',
  script: `export default {
    async fetch(request, { PACKS }) {
      const key = 'bench' + new URL(request.url).pathname
      if (request.method === 'PUT') {
        await PACKS.put(key, request.body)
        return new Response()
      }
      return new Response((await PACKS.get(key)).body)
    },
  }`,
}

/** Makes `bytes` bytes ready to be copied. @returns how to copy them to a socket here, and drop them */
export async function preparePlainCopy(besideUrl: string, bytes: number): Promise<() => Promise<void>> {
  const url = `${besideUrl}/${bytes}`
  const { ok } = await fetch(url, { method: 'PUT', body: new Uint8Array(bytes) })
  if (!ok) throw new Error('the Worker for plain copies took nothing')
  return async () => {
    const drained = await drain(url)
    if (drained.bytes !== bytes) throw new Error(`a plain copy of ${bytes} bytes gave ${drained.bytes}`)
  }
}
