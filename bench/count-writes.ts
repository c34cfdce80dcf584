import { once } from 'node:events'
import { connect } from 'node:net'
import type { DrainOptions } from './drain.ts'

const HEADER_END = '\r\n\r\n'
const LINE_END = '\r\n'

/**
 * How large the server's writes to the socket are: workerd frames each as one chunk of HTTP/1.1, so the chunks of a raw
 * answer are counted.
 *
 * @returns the bytes of the body's chunks, in order
 */
export async function chunkSizes(url: string, { method = 'GET', headers = {}, body }: DrainOptions): Promise<number[]> {
  const { hostname, port, pathname, search, host } = new URL(url)
  const fields = { Host: host, Connection: 'close', 'Content-Length': String(body?.length ?? 0), ...headers }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}${LINE_END}`)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(`${method} ${pathname}${search} HTTP/1.1${LINE_END}${lines.join('')}${LINE_END}`)
  if (body !== undefined) socket.write(body)
  const received: Buffer[] = []
  for await (const chunk of socket as AsyncIterable<Buffer>) received.push(chunk)
  return parseChunks(Buffer.concat(received))
}

function parseChunks(answer: Buffer): number[] {
  const end = answer.indexOf(HEADER_END)
  const header = answer.toString('latin1', 0, end).toLowerCase()
  if (!header.includes('transfer-encoding: chunked')) throw new Error(`the answer is not chunked: ${header}`)
  const sizes: number[] = []
  for (let at = end + HEADER_END.length; ; ) {
    const lineEnd = answer.indexOf(LINE_END, at)
    const size = Number.parseInt(answer.toString('latin1', at, lineEnd), 16)
    if (!(size >= 0)) throw new Error('the answer ends in the middle of its chunks')
    if (size === 0) return sizes
    sizes.push(size)
    at = lineEnd + LINE_END.length + size + LINE_END.length
  }
}
