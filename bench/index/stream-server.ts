import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

/** Of the handshake. https://www.rfc-editor.org/rfc/rfc6455#section-1.3 */
const HANDSHAKE_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const FINAL_TEXT = 0x81
const LENGTH_16 = 126
const LENGTH_64 = 127

/** A Jetstream (v2) of events that never were. */
export interface StreamServer {
  /** For the setting `UPSTREAMS`: from the first event on. */
  readonly url: string
  /** Lets so many events be told in all, to whoever is connected and whoever comes. */
  release(count: number): void
  close(): Promise<void>
}

/** @param message the event of a number from 1 up, as JSON; the same each time */
export async function startStreamServer(message: (seq: number) => string): Promise<StreamServer> {
  let released = 0
  let waiting: (() => void)[] = []
  const sockets = new Set<Duplex>()
  const server = createServer((_, response) => response.writeHead(426).end())
  server.on('upgrade', (request, socket) => {
    const key = request.headers['sec-websocket-key'] ?? ''
    const accept = createHash('sha1')
      .update(key + HANDSHAKE_GUID)
      .digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
    sockets.add(socket)
    socket.on('drain', () => wake())
    socket.on('close', () => {
      sockets.delete(socket)
      wake()
    })
    socket.on('error', () => undefined)
    // Whatever the client says is that it goes.
    socket.on('data', () => socket.destroy())
    const cursor = Number(new URL(request.url ?? '/', 'http://host').searchParams.get('cursor') ?? 0)
    void tell(socket, Math.max(1, cursor))
  })

  const wake = () => {
    const woken = waiting
    waiting = []
    for (const resolve of woken) resolve()
  }
  const tell = async (socket: Duplex, from: number) => {
    for (let seq = from; sockets.has(socket); ) {
      if (seq > released || socket.writableNeedDrain) {
        await new Promise<void>((resolve) => waiting.push(resolve))
        continue
      }
      socket.write(textFrame(message(seq++)))
    }
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `ws://127.0.0.1:${port}/xrpc/network.bsky.jetstream.subscribeEvents?cursor=0`,
    release(count) {
      released = count
      wake()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** As servers send it: not masked. https://www.rfc-editor.org/rfc/rfc6455#section-5.2 */
function textFrame(text: string): Buffer {
  const payload = Buffer.from(text)
  const head = payload.length < LENGTH_16 ? 2 : payload.length < 2 ** 16 ? 4 : 10
  const frame = Buffer.alloc(head + payload.length)
  frame[0] = FINAL_TEXT
  frame[1] = head === 2 ? payload.length : head === 4 ? LENGTH_16 : LENGTH_64
  if (head === 4) frame.writeUInt16BE(payload.length, 2)
  if (head === 10) frame.writeBigUInt64BE(BigInt(payload.length), 2)
  payload.copy(frame, head)
  return frame
}
