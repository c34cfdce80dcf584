import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

// The process of http-backend.ts: `node http-backend-server.ts ROOT`. It tells its parent the port, and ends with it.
const LOOPBACK = '127.0.0.1'
// A CGI answer's header is a handful of lines.
const MAX_HEADER_BYTES = 64 * 1024

const root = process.argv[2] as string
// Git is to know nothing of the channel to the parent.
const { NODE_CHANNEL_FD: _, ...environment } = process.env
const server = createServer((request, response) => {
  serve(request, response, { ...environment, GIT_PROJECT_ROOT: root, GIT_HTTP_EXPORT_ALL: '1' }).catch((error) => {
    console.error(`git http-backend: ${(error as Error).message}`)
    response.destroy()
  })
})
process.once('disconnect', () => process.exit(0))
server.listen(0, LOOPBACK)
await once(server, 'listening')
process.send?.({ port: (server.address() as AddressInfo).port })

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const { pathname, search } = new URL(request.url ?? '/', `http://${LOOPBACK}`)
  const child = spawn('git', ['http-backend'], {
    env: {
      ...environment,
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      SERVER_PROTOCOL: 'HTTP/1.1',
      REMOTE_ADDR: LOOPBACK,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      // Absent where the body comes in chunks: http-backend then reads to the end of its input. It inflates gzip itself.
      ...optional('CONTENT_LENGTH', request.headers['content-length']),
      ...optional('HTTP_CONTENT_ENCODING', request.headers['content-encoding']),
      ...optional('GIT_PROTOCOL', request.headers['git-protocol']),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // http-backend may answer before it has read everything; what is left then is not for anyone.
  child.stdin.on('error', () => request.unpipe(child.stdin))
  request.pipe(child.stdin)
  response.on('close', () => child.kill())

  let header: Buffer = Buffer.alloc(0)
  let answered = false
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    let body = chunk
    if (!answered) {
      header = Buffer.concat([header, chunk])
      const end = header.indexOf('\r\n\r\n')
      if (end < 0 && header.length > MAX_HEADER_BYTES) throw new Error('its answer has no header')
      if (end < 0) continue
      writeHead(response, header.toString('latin1', 0, end))
      answered = true
      body = header.subarray(end + 4)
    }
    if (!response.write(body)) await once(response, 'drain')
  }
  if (!answered) throw new Error('it answered nothing')
  response.end()
}

function writeHead(response: ServerResponse, header: string): void {
  let status = 200
  for (const line of header.split('\r\n')) {
    const colon = line.indexOf(':')
    const [name, value] = [line.slice(0, colon), line.slice(colon + 1).trim()]
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10)
    else response.setHeader(name, value)
  }
  response.writeHead(status)
}

function optional(name: string, value: string | string[] | undefined): NodeJS.ProcessEnv {
  return value === undefined ? {} : { [name]: String(value) }
}
