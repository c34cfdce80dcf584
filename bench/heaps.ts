/** What the JavaScript of one isolate of the runtime holds, garbage not counted. */
export interface Heap {
  /** As the runtime calls it: `core:user:<name>` is a Worker with its Durable Objects, all others are simulators. */
  readonly isolate: string
  /** Buffers included. */
  readonly mib: number
}

const MEBIBYTE = 1024 * 1024

/** What collects garbage first, and is answered: `HeapProfiler.collectGarbage` waits for a task that the runtime does not run. */
const COLLECT = ['HeapProfiler.takeHeapSnapshot', 'HeapProfiler.disable']

/**
 * Has each isolate of a runtime collect its garbage: one that nothing presses does it when it likes, so that what the
 * process takes of the machine says little.
 *
 * @param inspector origin of the runtime's inspector. https://chromedevtools.github.io/devtools-protocol/v8/
 */
export async function collectGarbage(inspector: string): Promise<Heap[]> {
  const response = await fetch(`${inspector}/json`)
  const targets = (await response.json()) as { readonly id: string; readonly webSocketDebuggerUrl: string }[]
  const heaps: Heap[] = []
  for (const { id, webSocketDebuggerUrl } of targets) {
    const usage = await call(webSocketDebuggerUrl, [...COLLECT, 'Runtime.getHeapUsage'])
    const { usedSize, backingStorageSize } = usage as { usedSize: number; backingStorageSize: number }
    heaps.push({ isolate: id, mib: (usedSize + backingStorageSize) / MEBIBYTE })
  }
  return heaps
}

/** Calls methods one after the other. @returns what the last one answers */
function call(url: string, methods: readonly string[]): Promise<unknown> {
  const socket = new WebSocket(url)
  let called = 0
  const next = () => socket.send(JSON.stringify({ id: called, method: methods[called] }))
  return new Promise<unknown>((resolve, reject) => {
    socket.addEventListener('open', next)
    socket.addEventListener('error', () => reject(new Error(`the inspector at ${url} cannot be reached`)))
    socket.addEventListener('close', () => reject(new Error(`the inspector at ${url} has hung up`)))
    socket.addEventListener('message', ({ data }) => {
      const { id, result, error } = JSON.parse(String(data)) as { id?: number; result?: unknown; error?: unknown }
      // Others are events, of which snapshots consist.
      if (id !== called) return
      if (error !== undefined) return reject(new Error(`${methods[called]}: ${JSON.stringify(error)}`))
      if (++called < methods.length) return next()
      resolve(result)
    })
  }).finally(() => socket.close())
}
