import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import { LocalD1 } from './local-d1.ts'
import { bundleWorker, type WorkerBundle } from './worker-bundle.ts'

/** The Worker, its Durable Objects, R2 and D1, run by workerd on this machine; workerd itself listens on the port. */
export interface Edge {
  /** Origin, `http://127.0.0.1:<port>`: the same after `restart` and `wipe`. */
  readonly url: string
  /** What the Worker has logged, oldest first. */
  readonly logs: readonly EdgeLog[]
  /** Starts workerd again on what is stored: all that lived in memory is gone. */
  restart(): Promise<void>
  /** The same on nothing: R2, D1 and all Durable Objects are empty; or on what is left when one of them is lost. */
  wipe(what?: Store): Promise<void>
  /** D1, for tests that look into it; not the same after `restart` and `wipe`. */
  database(): Promise<D1Database>
  /**
   * Does what cron does. Nobody else does it here, but each minute of an edge that was started with `UPSTREAMS`.
   *
   * @param cron as in `crons` of wrangler.toml; default each minute's
   */
  runCron(cron?: string): Promise<void>
  /** Stops the runtime, as it is stopped by a restart: `restart` and `wipe` start it again. */
  stop(): Promise<void>
  /** One of the Worker's Queues, to be sent to from here; another one after `restart` and `wipe`. */
  queue<T>(binding: string): Promise<Queue<T>>
  /** R2, for tests that look into it, as `database`. */
  bucket(): Promise<R2Bucket>
  /** For benches that measure it: the process that does the work. */
  pid(): Promise<number>
  /** Origin of the runtime's inspector; another one after `restart` and `wipe`. @throws without `inspect` */
  inspectorUrl(): Promise<string>
  /** One of the Worker's Durable Objects, to be called from here; another one after `restart` and `wipe`. */
  object<T extends Rpc.DurableObjectBranded>(binding: string, name: string): Promise<DurableObjectStub<T>>
  /** Where the Worker beside listens; another place after `restart` and `wipe`. @throws where there is none */
  besideUrl(): Promise<string>
  close(): Promise<void>
}

/** Where the edge keeps what it keeps. */
export type Store = 'r2' | 'd1' | 'do'

export interface EdgeLog {
  readonly level: string
  readonly message: string
}

export interface EdgeOptions {
  /** 0 picks a free one. */
  readonly port: number
  /** Where R2, D1 and Durable Objects are kept, and the key of the kept sessions. Made if it is absent. */
  readonly stateDirectory: string
  readonly pdsUrl: string
  readonly plcUrl: string
  /** Further variables of durable-objects/environment.ts, over those that this file sets. */
  readonly vars?: Readonly<Record<string, string>>
  /** Another module in place of workers/index.ts, from the repository's folder. Default that. */
  readonly entry?: string
  /** Another Worker in the same runtime, for benches that need something to compare with. Default none. */
  readonly beside?: WorkerBeside
  /** Whether the runtime can be inspected. Default false. */
  readonly inspect?: boolean
  /** Called for every line that the Worker logs, and for a crash of workerd. Default: nothing is printed. */
  readonly onLog?: (log: EdgeLog) => void
}

/** A Worker of one module of JavaScript; it has the bucket `PACKS`, and a port of its own. */
export interface WorkerBeside {
  readonly name: string
  readonly script: string
}

type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** What JWTs for an edge on this machine are made out to; nothing looks it up. */
export const LOCAL_EDGE_DID = 'did:web:skein.test'

const LOOPBACK = '127.0.0.1'
const EVERY_MINUTE = '* * * * *'

/** @throws Miniflare's own error, with `code` 'ERR_ADDRESS_IN_USE' where the port is taken */
export async function startEdge(options: EdgeOptions): Promise<Edge> {
  const bundle = await bundleWorker(options.entry)
  const logs: EdgeLog[] = []
  const onLog = (log: EdgeLog) => {
    logs.push(log)
    options.onLog?.(log)
  }
  let miniflare = await startMiniflare(bundle, options, options.port, onLog)
  const port = Number((await miniflare.ready).port)

  let isStopped = false
  const stopRuntime = async () => {
    if (!isStopped) await miniflare.dispose()
    isStopped = true
  }
  const startAgain = async (emptied: string | null) => {
    await stopRuntime()
    if (emptied !== null) await rm(emptied, { recursive: true, force: true })
    miniflare = await startMiniflare(bundle, options, port, onLog)
    isStopped = false
  }
  const isFollowing = (options.vars?.UPSTREAMS ?? '') !== ''
  const minutes = setInterval(() => {
    // Where it is being started anew, it comes with the next minute.
    if (isFollowing) runCron(miniflare, EVERY_MINUTE).catch(() => undefined)
  }, 60_000)
  minutes.unref()
  return {
    url: `http://${LOOPBACK}:${port}`,
    logs,
    restart: () => startAgain(null),
    wipe: (what) => startAgain(what === undefined ? storage(options) : join(storage(options), what)),
    database: () => miniflare.getD1Database('DB') as Promise<unknown> as Promise<D1Database>,
    stop: () => stopRuntime(),
    queue: async <T>(binding: string) => (await miniflare.getQueueProducer<T>(binding)) as unknown as Queue<T>,
    async runCron(cron = EVERY_MINUTE) {
      await runCron(miniflare, cron)
    },
    bucket: () => miniflare.getR2Bucket('PACKS') as Promise<unknown> as Promise<R2Bucket>,
    pid: () => workerdPid(port),
    inspectorUrl: async () => (await miniflare.getInspectorURL()).origin.replace(/^ws/, 'http'),
    async object<T extends Rpc.DurableObjectBranded>(binding: string, name: string) {
      const namespace = await miniflare.getDurableObjectNamespace(binding)
      return namespace.get(namespace.idFromName(name)) as unknown as DurableObjectStub<T>
    },
    besideUrl: async () => (await miniflare.unsafeGetDirectURL(options.beside?.name)).origin,
    async close() {
      clearInterval(minutes)
      await stopRuntime()
    },
  }
}

async function runCron(miniflare: Miniflare, cron: string): Promise<void> {
  const worker = await miniflare.getWorker()
  const { outcome } = await worker.scheduled({ cron })
  if (outcome !== 'ok') throw new Error(`the Worker's cron ${cron} failed: ${outcome}`)
}

const storage = (options: EdgeOptions) => join(options.stateDirectory, 'v3')

async function startMiniflare(
  { directory, options: workerOptions }: WorkerBundle,
  options: EdgeOptions,
  port: number,
  onLog: (log: EdgeLog) => void,
): Promise<Miniflare> {
  await mkdir(options.stateDirectory, { recursive: true })
  const modules = (await readdir(directory)).flatMap((name) => {
    const type = moduleType(name)
    return type === null ? [] : [{ type, path: join(directory, name) }]
  })
  const entry = join(directory, `${basename(options.entry ?? 'index.ts', '.ts')}.js`)
  const main = {
    ...workerOptions,
    // The path and the name are those of `wrangler dev --persist-to`, so that its tools can look into the state.
    name: 'skein',
    modulesRoot: directory,
    // The entry has to come first.
    modules: modules.sort((a, b) => Number(b.path === entry) - Number(a.path === entry)),
    bindings: {
      ...(workerOptions.bindings as Record<string, Json> | undefined),
      EDGE_DID: LOCAL_EDGE_DID,
      PLC_URL: options.plcUrl,
      HANDLE_RESOLVER_URL: options.pdsUrl,
      ALLOW_PRIVATE_HOSTS: 'true',
      SESSION_KEY: await sessionKey(join(options.stateDirectory, 'session-key')),
      ...options.vars,
    },
  }
  const beside = options.beside && {
    ...options.beside,
    modules: true,
    compatibilityDate: workerOptions.compatibilityDate as string,
    r2Buckets: workerOptions.r2Buckets as Readonly<Record<string, { id: string }>>,
    unsafeDirectSockets: [{ host: LOOPBACK, port: 0 }],
  }
  const d1 = await LocalD1.of(storage(options), workerOptions)
  await d1.prepare()
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: LOOPBACK,
      port,
      // Otherwise Miniflare asks workers.cloudflare.com where it is.
      cf: false,
      ...(options.inspect === true ? { inspectorPort: 0 } : {}),
      log: new Log(LogLevel.ERROR),
      handleStructuredLogs: onLog,
      resourcePersistencePath: storage(options),
      workers: beside === undefined ? [main] : [main, beside],
    }),
  )
  try {
    await miniflare.ready
    await d1.migrate(miniflare)
    // Else nothing is followed until cron's first minute.
    if (options.vars?.UPSTREAMS) await runCron(miniflare, EVERY_MINUTE)
  } catch (error) {
    await miniflare.dispose()
    throw error
  }
  return miniflare
}

function moduleType(name: string): 'ESModule' | 'CompiledWasm' | 'Data' | 'Text' | null {
  if (/\.(?:css|svg|client\.js)$/.test(name)) return 'Text'
  if (name.endsWith('.js')) return 'ESModule'
  if (name.endsWith('.wasm')) return 'CompiledWasm'
  if (name.endsWith('.woff2') || name.endsWith('.bin')) return 'Data'
  return null
}

/** Kept beside the state that it opens, and not wiped with it. */
async function sessionKey(path: string): Promise<string> {
  if (!existsSync(path)) await writeFile(path, randomBytes(32).toString('base64'), { mode: 0o600 })
  return readFile(path, 'utf8')
}

/** @throws where /proc is absent: benches that count CPU time run on Linux */
async function workerdPid(port: number): Promise<number> {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  const sockets = await readFile('/proc/net/tcp', 'utf8')
  const inode = sockets
    .split('\n')
    .find((line) => line.includes(`:${hexPort} 00000000:0000 0A`))
    ?.trim()
    .split(/\s+/)[9]
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
    if (!name.startsWith('workerd')) continue
    for (const descriptor of await readdir(`/proc/${pid}/fd`)) {
      const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '')
      if (target === `socket:[${inode}]`) return Number(pid)
    }
  }
  throw new Error(`no workerd listens on port ${port}`)
}
