/** What the JavaScript of one isolate of the runtime holds, garbage not counted. */
export interface Heap {
  /** As the runtime calls it: `core:user:<name>` is a Worker with its Durable Objects, all others are simulators. */
  readonly isolate: string
  /** Buffers included. */
  readonly mib: number
}

const MEBIBYTE = 1024 * 1024

/**
 * Has each isolate of a runtime collect its garbage: a runtime that nothing presses does it when it likes, so that what it
 * takes of the machine says little.
 *
 * @param inspector origin of the runtime's inspector. https://chromedevtools.github.io/devtools-protocol/v8/
 */
export async function collectGarbage(inspector: string): Promise<Heap[]> {
  const response = await fetch(`${inspector}/json`)
  const targets = (await response.json()) as { readonly id: string; readonly webSocketDebuggerUrl: string }[]
  return Promise.all(
    targets.map(async ({ id, webSocketDebuggerUrl }) => {
      const [, usage] = await call(webSocketDebuggerUrl, ['HeapProfiler.collectGarbage', 'Runtime.getHeapUsage'])
      const { usedSize, backingStorageSize = 0 } = usage as { usedSize: number; backingStorageSize?: number }
      return { isolate: id, mib: (usedSize + backingStorageSize) / MEBIBYTE }
    }),
  )
}

/** Calls methods one after the other. */
function call(url: string, methods: readonly string[]): Promise<unknown[]> {
  const socket = new WebSocket(url)
  const results: unknown[] = []
  const next = () => socket.send(JSON.stringify({ id: results.length + 1, method: methods[results.length] }))
  return new Promise<unknown[]>((resolve, reject) => {
    socket.addEventListener('open', next)
    socket.addEventListener('error', () => reject(new Error(`the inspector at ${url} cannot be reached`)))
    socket.addEventListener('close', () => reject(new Error(`the inspector at ${url} has hung up`)))
    socket.addEventListener('message', ({ data }) => {
      const { id, result, error } = JSON.parse(String(data)) as { id?: number; result?: unknown; error?: unknown }
      // Others are events.
      if (id !== results.length + 1) return
      if (error !== undefined) return reject(new Error(`${methods[results.length]}: ${JSON.stringify(error)}`))
      results.push(result)
      if (results.length < methods.length) return next()
      resolve(results)
    })
  }).finally(() => socket.close())
}
