import type { RawFrame } from '../../atproto/firehose/decode-frame.ts'
import { readText } from '../../atproto/firehose/frame.ts'
import { isObject, parseJson } from '../../atproto/network/json.ts'

/** A subscription that is open. */
export interface UpstreamSocket {
  /** Nothing comes after it, also no word that it has ended. */
  close(): void
}

export interface SocketEvents {
  readonly onFrame: (frame: RawFrame) => void
  /** Once, where the other side, or the network, has ended it. */
  readonly onEnd: (reason: string) => void
}

/** @throws {@link SubscriptionRefusedError}, or whatever the network says */
export type Connect = (url: string, events: SocketEvents) => Promise<UpstreamSocket>

/** The upstream has answered, and not with a stream. */
export class SubscriptionRefusedError extends Error {
  override name = 'SubscriptionRefusedError'
  /** Of XRPC: `CursorTooOld`, `InvalidRequest`; empty: it says none. */
  readonly error: string

  constructor(status: number, error: string, message: string) {
    super(['answers', status, error, message].filter((part) => part !== '').join(' '))
    this.error = error
  }
}

/** Milliseconds until the upstream has answered. */
const CONNECT_TIMEOUT = 15_000
/** What is read of a refusal. Characters. */
const MAX_REFUSAL = 2000

/**
 * Subscribes by a request that is upgraded: unlike `new WebSocket`, it shows why an upstream refuses. The URL was judged
 * where it is configured, and no redirect is followed.
 */
export const connectUpstream: Connect = async (url, { onFrame, onEnd }) => {
  const abort = new AbortController()
  const timer = setTimeout(
    () => abort.abort(new Error(`no answer within ${CONNECT_TIMEOUT / 1000} s`)),
    CONNECT_TIMEOUT,
  )
  try {
    const response = await fetch(url, { headers: { Upgrade: 'websocket' }, redirect: 'manual', signal: abort.signal })
    const socket = response.webSocket
    if (socket === null) throw await refusalOf(response)
    return listen(socket, { onFrame, onEnd })
  } finally {
    clearTimeout(timer)
  }
}

async function refusalOf(response: Response): Promise<SubscriptionRefusedError> {
  const body = parseJson((await response.text()).slice(0, MAX_REFUSAL))
  const { error, message } = isObject(body) ? body : {}
  return new SubscriptionRefusedError(response.status, readText(error), readText(message))
}

/** @param socket which is not accepted yet: nothing may come before somebody listens */
export function listen(socket: WebSocket, { onFrame, onEnd }: SocketEvents): UpstreamSocket {
  let isOpen = true
  const end = (reason: string) => {
    if (!isOpen) return
    isOpen = false
    onEnd(reason)
  }
  socket.binaryType = 'arraybuffer'
  socket.addEventListener('message', ({ data }) => {
    if (isOpen) onFrame(data as RawFrame)
  })
  socket.addEventListener('close', ({ code, reason }) => {
    end(`closed with ${code}${reason === '' ? '' : `: ${readText(reason)}`}`)
    // Without it the connection would stay half open.
    closeQuietly(socket)
  })
  socket.addEventListener('error', ({ message }) => end(`broken: ${readText(message)}`))
  socket.accept()
  return {
    close() {
      isOpen = false
      closeQuietly(socket)
    },
  }
}

function closeQuietly(socket: WebSocket): void {
  try {
    socket.close(1000)
  } catch {
    // It is closed already.
  }
}
