import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import { bundleWorker } from '../../dev/worker-bundle.ts'

const ROOT = join(import.meta.dirname, '..', '..')
/** Of a Worker: Cloudflare takes 64 MiB as it is, and took 10 MB gzipped, which all plans and tools are still good for. */
const BUNDLE_LIMIT = 64 * 1024 ** 2
const GZIPPED_LIMIT = 10_000_000

/** As wrangler reads it, as far as it is needed: its own types come to nothing here. */
interface Config {
  readonly r2_buckets: readonly { readonly binding: string; readonly bucket_name?: string }[]
  readonly d1_databases: readonly {
    readonly binding: string
    readonly database_name?: string
    readonly database_id?: string
  }[]
  readonly queues: {
    readonly producers?: readonly { readonly binding: string; readonly queue?: string }[]
    readonly consumers?: readonly { readonly queue: string; readonly dead_letter_queue?: string }[]
  }
  readonly durable_objects: { readonly bindings: readonly { readonly name: string; readonly class_name: string }[] }
  readonly ratelimits: readonly { readonly name: string }[]
  readonly migrations: readonly { readonly new_sqlite_classes?: readonly string[] }[]
  readonly triggers: { readonly crons?: readonly string[] }
}

const config = unstable_readConfig({ config: join(ROOT, 'wrangler.toml') }) as Config

/** The platform's objects that environment.ts asks for: all that is no text. */
function bindingsOf(source: string): string[] {
  return [...source.matchAll(/^ {2}readonly ([A-Z][A-Z_]+): (?!string)/gm)].map(([, name]) => name as string)
}

test('wrangler.toml has every binding of the environment, and no other', () => {
  const wanted = bindingsOf(readFileSync(join(ROOT, 'durable-objects/environment.ts'), 'utf8'))
  const configured = [
    ...config.r2_buckets.map(({ binding }) => binding),
    ...config.d1_databases.map(({ binding }) => binding),
    ...(config.queues.producers ?? []).map(({ binding }) => binding),
    ...config.durable_objects.bindings.map(({ name }) => name),
    ...config.ratelimits.map(({ name }) => name),
  ]
  expect(wanted.length).toBeGreaterThan(5)
  expect(configured.sort()).toEqual(wanted.sort())
})

test('every class of Durable Objects is bound, has a migration, and is exported', () => {
  const bound = config.durable_objects.bindings.map(({ class_name }) => class_name).sort()
  expect(config.migrations.flatMap(({ new_sqlite_classes = [] }) => new_sqlite_classes).sort()).toEqual(bound)
  const entry = readFileSync(join(ROOT, 'workers/index.ts'), 'utf8')
  expect([...entry.matchAll(/^export \{ (\w+) \}/gm)].map(([, name]) => name).sort()).toEqual(bound)
})

test('what the Worker is bound to has a name and no id of somebody’s account', () => {
  for (const database of config.d1_databases) {
    expect(database.database_name).toBeTruthy()
    expect(database.database_id).toBeUndefined()
  }
  for (const bucket of config.r2_buckets) expect(bucket.bucket_name).toBeTruthy()
  for (const producer of config.queues.producers ?? []) expect(producer.queue).toBeTruthy()
})

test('each queue that is written to is read, and each queue of dead letters', () => {
  const consumers = config.queues.consumers ?? []
  const read = consumers.map(({ queue }) => queue)
  const written = (config.queues.producers ?? []).map(({ queue }) => queue)
  const dead = consumers.flatMap(({ dead_letter_queue }) => dead_letter_queue ?? [])
  expect(read.sort()).toEqual([...written, ...dead].sort())
})

/** What the Worker knows its crons and queues by. */
function namesInWorker(pattern: RegExp): string[] {
  const entry = readFileSync(join(ROOT, 'workers/index.ts'), 'utf8')
  return [...entry.matchAll(pattern)].map(([, name]) => name!).sort()
}

test('the crons are those that the Worker tells apart, and one more, for each day', () => {
  const named = namesInWorker(/^const EVERY_\w+ = '([^']+)'/gm)
  expect(named).toHaveLength(2)
  expect(config.triggers.crons).toEqual(expect.arrayContaining(named))
  expect(config.triggers.crons).toHaveLength(3)
})

test('the queues are those that the Worker tells apart', () => {
  const consumed = (config.queues.consumers ?? []).map(({ queue }) => queue)
  expect(namesInWorker(/^const \w+_QUEUE = '([^']+)'/gm)).toEqual(consumed.sort())
})

test('the bundle is far below what a Worker may be', async () => {
  const { directory } = await bundleWorker()
  const names = (await readdir(directory)).filter(
    (name) => !name.endsWith('.map') && !/^(README\.md|options\.json)$/.test(name),
  )
  const modules = await Promise.all(names.map((name) => readFile(join(directory, name))))
  const bytes = modules.reduce((sum, module) => sum + module.length, 0)
  const gzipped = modules.reduce((sum, module) => sum + gzipSync(module).length, 0)
  expect(gzipped).toBeGreaterThan(100_000)
  expect(bytes).toBeLessThan(BUNDLE_LIMIT)
  expect(gzipped).toBeLessThan(GZIPPED_LIMIT)
})
