import { failed, type Wrangler } from './wrangler.ts'

/** Of wrangler.toml, as wrangler itself reads it, as far as it is needed. */
export interface DeployConfig {
  readonly name?: string | undefined
  readonly account_id?: string | undefined
  readonly d1_databases: readonly { readonly database_name?: string | undefined }[]
  readonly r2_buckets: readonly { readonly bucket_name?: string | undefined }[]
  readonly queues: {
    readonly producers?: readonly { readonly queue?: string | undefined }[] | undefined
    readonly consumers?:
      | readonly { readonly queue: string; readonly dead_letter_queue?: string | undefined }[]
      | undefined
  }
}

/** Something of the Cloudflare account that the Worker is bound to. */
export interface Resource {
  readonly kind: 'database' | 'bucket' | 'queue'
  readonly name: string
}

/**
 * What must be there before the Worker is uploaded. `wrangler deploy` would provision the bucket and the queues that are
 * written to, but not those that are only read or hold dead letters; and the database needs its tables first.
 */
export function listResources({ d1_databases, r2_buckets, queues }: DeployConfig): Resource[] {
  const named = (kind: Resource['kind'], names: readonly (string | undefined)[]): Resource[] =>
    [...new Set(names)].flatMap((name) => (name === undefined ? [] : [{ kind, name }]))
  const consumers = queues.consumers ?? []
  return [
    ...named(
      'database',
      d1_databases.map(({ database_name }) => database_name),
    ),
    ...named(
      'bucket',
      r2_buckets.map(({ bucket_name }) => bucket_name),
    ),
    ...named('queue', [
      ...(queues.producers ?? []).map(({ queue }) => queue),
      ...consumers.flatMap(({ queue, dead_letter_queue }) => [queue, dead_letter_queue]),
    ]),
  ]
}

/** How it is found out whether it is there; null for a bucket, whose creation says so. */
export function findCommand({ kind, name }: Resource): readonly string[] | null {
  if (kind === 'database') return ['d1', 'list', '--json']
  return kind === 'queue' ? ['queues', 'info', name] : null
}

/** @param location where the bytes are to lie, one of Cloudflare's hints: it can only be said now, and queues have none */
export function createCommand({ kind, name }: Resource, location: string | undefined): readonly string[] {
  if (kind === 'queue') return ['queues', 'create', name]
  const where = location === undefined ? [] : ['--location', location]
  // Otherwise it would ask whether to change wrangler.toml, which has the name already.
  return [...(kind === 'bucket' ? ['r2', 'bucket'] : ['d1']), 'create', name, '--update-config=false', ...where]
}

/** Creates it where it is not there. @throws DeployError */
export async function ensure(
  wrangler: Wrangler,
  resource: Resource,
  location: string | undefined,
): Promise<'created' | 'is there'> {
  const create = createCommand(resource, location)
  if (resource.kind === 'bucket') {
    const result = await wrangler.ask(create)
    if (result.status === 0) return 'created'
    if (/\b10004\b|already exists, and you own it/.test(result.stderr + result.stdout)) return 'is there'
    throw failed(create, result)
  }
  if (await isThere(wrangler, resource)) return 'is there'
  await wrangler.run(create)
  return 'created'
}

async function isThere(wrangler: Wrangler, resource: Resource): Promise<boolean> {
  const command = findCommand(resource) as readonly string[]
  if (resource.kind === 'database') {
    const databases = await wrangler.json<readonly { readonly name: string }[]>(command)
    return databases.some(({ name }) => name === resource.name)
  }
  const result = await wrangler.ask(command)
  if (result.status === 0) return true
  if (/does not exist/.test(result.stderr + result.stdout)) return false
  throw failed(command, result)
}
