import { DurableObject } from 'cloudflare:workers'
import type { Environment } from '../../durable-objects/environment.ts'
import * as edge from '../../workers/index.ts'
import { NO_USAGE, USAGE_PATH, type Usage } from './usage.ts'

/**
 * The edge with a meter on it. The local runtime has the Worker and its Durable Objects in one isolate, so one count is
 * enough. What is counted are methods of the platform's own classes, replaced on their prototypes: the code that runs is
 * the code that is deployed.
 */
export * from '../../workers/index.ts'

// biome-ignore lint/suspicious/noExplicitAny: any method of any class of the platform
type Method = (...args: any[]) => any

/** A message is billed for each so many bytes. */
const MESSAGE_CHUNK = 64_000

const usage: Usage = { ...NO_USAGE }
const metered = new WeakSet<object>()
const atWork = new WeakMap<DurableObjectState, { count: number; since: number }>()

for (const part of Object.values(edge)) {
  if (typeof part === 'function' && part.prototype instanceof DurableObject) meterObject(part.prototype)
}

export default {
  async fetch(request, environment, execution) {
    if (new URL(request.url).pathname === USAGE_PATH) return Response.json(usage)
    meterBindings(environment)
    usage.requests++
    return edge.default.fetch(request, environment, execution)
  },
  async scheduled(controller, environment) {
    meterBindings(environment)
    usage.requests++
    return edge.default.scheduled(controller, environment)
  },
  async queue(batch, environment) {
    meterBindings(environment)
    usage.requests++
    return edge.default.queue(batch, environment)
  },
} satisfies ExportedHandler<Environment>

/** Every method of the class is one that a stub can call; those that are private (#) are no properties. */
function meterObject(prototype: object): void {
  for (const name of Object.getOwnPropertyNames(prototype)) {
    if (name === 'constructor' || typeof Object.getOwnPropertyDescriptor(prototype, name)?.value !== 'function')
      continue
    replace(prototype, name, (method) => {
      return async function (this: { ctx: DurableObjectState }, ...args: unknown[]) {
        meterStorage(this.ctx)
        usage.objectRequests++
        return workOf(this.ctx, method.apply(this, args))
      }
    })
  }
}

/** What an object does for several at once, or after it has answered, is billed once. */
async function workOf<T>(context: DurableObjectState, work: T | Promise<T>): Promise<T> {
  const before = atWork.get(context) ?? { count: 0, since: 0 }
  if (before.count === 0) before.since = performance.now()
  before.count++
  atWork.set(context, before)
  try {
    return await work
  } finally {
    before.count--
    if (before.count === 0) usage.objectMilliseconds += performance.now() - before.since
  }
}

function meterStorage(context: DurableObjectState): void {
  meterClass(context, (prototype) =>
    replace(prototype, 'waitUntil', (waitUntil) => {
      return function (this: DurableObjectState, work: Promise<unknown>) {
        return waitUntil.call(this, workOf(this, work))
      }
    }),
  )
  meterClass(context.storage, (prototype) => count(prototype, 'setAlarm', 'objectRowsWritten'))
  meterRows(context)
}

function meterRows({ storage }: DurableObjectState): void {
  meterClass(storage.sql, (prototype) =>
    replace(prototype, 'exec', (exec) => {
      return function (this: SqlStorage, ...args: unknown[]) {
        const cursor = exec.apply(this, args) as SqlStorageCursor<Record<string, SqlStorageValue>>
        // Whoever calls this reads it to its end at once, and nothing else runs meanwhile.
        queueMicrotask(() => {
          usage.objectRowsRead += cursor.rowsRead
          usage.objectRowsWritten += cursor.rowsWritten
        })
        return cursor
      }
    }),
  )
}

function meterBindings({ PACKS, DB, EVENTS }: Environment): void {
  meterQueue(EVENTS)
  meterClass(PACKS, (prototype) => {
    for (const name of ['get', 'head']) count(prototype, name, 'classB')
    for (const name of ['put', 'list']) count(prototype, name, 'classA')
    replace(prototype, 'resumeMultipartUpload', (resume) => {
      return function (this: R2Bucket, ...args: unknown[]) {
        const upload = resume.apply(this, args) as R2MultipartUpload
        meterUpload(upload)
        return upload
      }
    })
    replace(prototype, 'createMultipartUpload', (create) => {
      return async function (this: R2Bucket, ...args: unknown[]) {
        const upload = (await create.apply(this, args)) as R2MultipartUpload
        usage.classA++
        meterUpload(upload)
        return upload
      }
    })
  })
  // All statements of a D1 database go through its session, as requests whose answers say what they have cost.
  const { alwaysPrimarySession: session } = DB as unknown as { alwaysPrimarySession: { fetcher: Fetcher } }
  if (metered.has(session)) return
  metered.add(session)
  const { fetcher } = session
  session.fetcher = { fetch: (...args: Parameters<Fetcher['fetch']>) => meteredQuery(fetcher, args) } as Fetcher
}

/** The other queues are of the same class. */
function meterQueue(queue: Queue): void {
  const chunks = (body: unknown) => Math.ceil(JSON.stringify(body).length / MESSAGE_CHUNK)
  meterClass(queue, (prototype) => {
    replace(prototype, 'send', (send) => {
      return function (this: Queue, ...args: unknown[]) {
        usage.messages += chunks(args[0])
        return send.apply(this, args)
      }
    })
    replace(prototype, 'sendBatch', (send) => {
      return function (this: Queue, ...args: unknown[]) {
        for (const { body } of args[0] as MessageSendRequest[]) usage.messages += chunks(body)
        return send.apply(this, args)
      }
    })
  })
}

function meterUpload(upload: R2MultipartUpload): void {
  meterClass(upload, (prototype) => {
    for (const name of ['uploadPart', 'complete']) count(prototype, name, 'classA')
  })
}

async function meteredQuery(fetcher: Fetcher, args: Parameters<Fetcher['fetch']>): Promise<Response> {
  const response = await fetcher.fetch(...args)
  const body = await response.clone().json()
  for (const { meta } of [body].flat() as { meta?: { rows_read?: number; rows_written?: number } }[]) {
    usage.databaseRowsRead += meta?.rows_read ?? 0
    usage.databaseRowsWritten += meta?.rows_written ?? 0
  }
  return response
}

function count(prototype: object, name: string, key: keyof Usage): void {
  replace(prototype, name, (method) => {
    return function (this: unknown, ...args: unknown[]) {
      usage[key]++
      return method.apply(this, args)
    }
  })
}

/** Once for each class: its instances share the prototype. */
function meterClass(instance: object, meter: (prototype: object) => void): void {
  const prototype = Object.getPrototypeOf(instance) as object
  if (metered.has(prototype)) return
  metered.add(prototype)
  meter(prototype)
}

function replace(prototype: object, name: string, wrap: (method: Method) => Method): void {
  const method = Reflect.get(prototype, name) as Method
  Object.defineProperty(prototype, name, { value: wrap(method), configurable: true, writable: true })
}
