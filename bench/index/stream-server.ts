import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

/** Of the handshake. https://www.rfc-editor.org/rfc/rfc6455#section-1.3 */
const HANDSHAKE_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const FINAL_BINARY = 0x82
const LENGTH_16 = 126
const LENGTH_64 = 127

/** A host of accounts that never were: the stream of what they do, and their DID documents. */
export interface StreamServer {
  /** For the setting `UPSTREAMS`: from the first message on. */
  readonly url: string
  /** For the setting `PLC_URL`: all accounts are hosted here, so what the stream says of them is believed. */
  readonly plcUrl: string
  /** Lets so many messages be told in all, to whoever is connected and whoever comes. */
  release(count: number): void
  close(): Promise<void>
}

/** @param message the one of a number from 1 up; the same each time */
export async function startStreamServer(message: (seq: number) => Buffer): Promise<StreamServer> {
  let released = 0
  let waiting: (() => void)[] = []
  const sockets = new Set<Duplex>()
  let origin = ''
  const server = createServer(({ url = '' }, response) => {
    const did = decodeURIComponent(url.slice(1))
    if (!did.startsWith('did:plc:')) return response.writeHead(501).end()
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(documentOf(did, origin)))
  })
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
    void tell(socket, cursor + 1)
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
      socket.write(binaryFrame(message(seq++)))
    }
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  origin = `http://127.0.0.1:${port}`
  return {
    url: `ws://127.0.0.1:${port}/xrpc/com.atproto.sync.subscribeRepos?cursor=0`,
    plcUrl: origin,
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
function binaryFrame(payload: Buffer): Buffer {
  const head = payload.length < LENGTH_16 ? 2 : payload.length < 2 ** 16 ? 4 : 10
  const frame = Buffer.alloc(head + payload.length)
  frame[0] = FINAL_BINARY
  frame[1] = head === 2 ? payload.length : head === 4 ? LENGTH_16 : LENGTH_64
  if (head === 4) frame.writeUInt16BE(payload.length, 2)
  if (head === 10) frame.writeBigUInt64BE(BigInt(payload.length), 2)
  payload.copy(frame, head)
  return frame
}

/** Any key: of an account's own host no signature is asked for. */
const KEY = 'zQ3shqwJEJyMBsBXCWyCBpUBMqxcon9oHB7mCvx4sSpMdLJwc'

function documentOf(did: string, origin: string): object {
  const key = { id: `${did}#atproto`, type: 'Multikey', controller: did, publicKeyMultibase: KEY }
  const service = { id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint: origin }
  return { id: did, alsoKnownAs: [], verificationMethod: [key], service: [service] }
}
