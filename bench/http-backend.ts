import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** Git's own smart HTTP server behind a small Node server on loopback: what the benches compare the edge with. */
export interface HttpBackend {
  /** Origin; a repository's path under `root` follows it. */
  readonly url: string
  /** Of the server, whose children the git processes are. */
  readonly pid: number
  close(): Promise<void>
}

/**
 * Serves the bare repositories below `root` by `git http-backend`, one process a request, bodies streamed both ways.
 * A repository takes pushes where its `http.receivepack` is true. `environment` is for the git processes.
 *
 * It is a process of its own: to start another takes as long as a process is large, and this one has the PDS in it.
 */
export async function startHttpBackend(root: string, environment: NodeJS.ProcessEnv): Promise<HttpBackend> {
  const child = fork(join(import.meta.dirname, 'http-backend-server.ts'), [root], { env: environment })
  const [message] = (await Promise.race([once(child, 'message'), failure(once(child, 'exit'))])) as [{ port: number }]
  return {
    url: `http://127.0.0.1:${message.port}`,
    pid: child.pid!,
    async close() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

async function failure(exit: Promise<unknown[]>): Promise<never> {
  throw new Error(`the server before git http-backend ended at once: ${(await exit).join(' ')}`)
}
