import { createMcpHandler } from '@modelcontextprotocol/server'
import { logRoutine } from '../../durable-objects/log.ts'
import { MAX_COMMIT_INPUT_BYTES } from '../gateway/commit.ts'
import { httpErrorFrom } from '../http/error-from.ts'
import { HttpError, invalidRequest } from '../http/http-error.ts'
import { readJson } from '../http/json-body.ts'
import { repositoryDeps } from '../repository-deps.ts'
import type { RequestContext } from '../request-context.ts'
import { countMessage } from './count-message.ts'
import { createServer } from './create-server.ts'

/** What JSON-RPC puts around a call. Bytes. */
const ENVELOPE = 64 * 1024
/** JSON-RPC's own number for errors of the server's choosing. */
const SERVER_ERROR = -32_000

/** The Model Context Protocol by Streamable HTTP, without sessions: each request is answered for itself. */
export async function serveMcp(request: Request, context: RequestContext): Promise<Response> {
  try {
    refuseForeignPages(request)
    if (request.method !== 'POST') {
      throw new HttpError(405, 'MethodNotAllowed', 'only POST is served here', { Allow: 'POST' })
    }
    await countMessage(context, request)
    const parsedBody = await readMessage(request)
    const caller = withCredentials(request)
    const handler = createMcpHandler(() => createServer(repositoryDeps(context), caller), {
      maxSubscriptions: 1,
      onerror: (error) => logRoutine('mcp-refused', { reason: error.message }),
    })
    return await handler.fetch(request, { parsedBody })
  } catch (error) {
    const { status, code, message, headers } = httpErrorFrom(error)
    const body = { jsonrpc: '2.0', error: { code: SERVER_ERROR, message: `${code}: ${message}` }, id: null }
    return Response.json(body, { status, headers: { ...headers } })
  }
}

/** A page of another site must not call from its visitor's browser. No other client sends the header. */
function refuseForeignPages(request: Request): void {
  const origin = request.headers.get('Origin')
  if (origin === null || origin === new URL(request.url).origin) return
  throw new HttpError(403, 'ForeignOrigin', 'pages of other sites may not call this server')
}

/** One message: newer versions of the protocol have no batches, and with them one call would count for many. */
async function readMessage(request: Request): Promise<unknown> {
  const message = await readJson(request, MAX_COMMIT_INPUT_BYTES + ENVELOPE)
  if (Array.isArray(message)) throw invalidRequest('batches are not taken: send one message at a time')
  return message
}

function withCredentials({ url, headers }: Request): Request {
  const credentials = headers.get('Authorization')
  return new Request(url, { headers: credentials === null ? {} : { Authorization: credentials } })
}
