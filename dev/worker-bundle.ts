import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Unstable_MiniflareWorkerOptions } from 'wrangler'

/** What Miniflare needs to run the Worker of wrangler.toml. */
export interface WorkerBundle {
  /** Holds index.js and whatever modules it names. */
  readonly directory: string
  /** The bindings, flags and Durable Object classes of wrangler.toml. */
  readonly options: WorkerOptions
}

export type WorkerOptions = Omit<Unstable_MiniflareWorkerOptions['workerOptions'], 'modulesRules'>

const ROOT = join(import.meta.dirname, '..')
const CACHE = join(ROOT, '.skein', 'worker')

/** All that a bundle is made of. A folder that is not there (yet) counts as empty. */
const SOURCES = [
  'git',
  'atproto',
  'storage',
  'durable-objects',
  'workers',
  'lexicons',
  'wrangler.toml',
  'package.json',
  'package-lock.json',
]

/**
 * Bundles workers/index.ts as `wrangler deploy` would, once for each state of the sources: test files, benches and
 * restarts share it.
 *
 * @param entry another module in its place, for a bench that counts what the Worker does; from the repository's folder
 */
export async function bundleWorker(entry: string | null = null): Promise<WorkerBundle> {
  const directory = join(CACHE, await hashSources(entry))
  if (!existsSync(directory)) await build(directory, entry)
  const options = JSON.parse(await readFile(join(directory, 'options.json'), 'utf8')) as WorkerOptions
  return { directory, options }
}

async function hashSources(entry: string | null): Promise<string> {
  const hash = createHash('sha256').update(`${entry}\0`)
  for (const source of entry === null ? SOURCES : [...SOURCES, dirname(entry)]) {
    const path = join(ROOT, source)
    if (!existsSync(path)) continue
    const entries = source.includes('.') ? [] : await readdir(path, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    for (const file of source.includes('.') ? [path] : files.sort()) {
      const content = await readFile(file)
      hash.update(`${file.slice(ROOT.length)}\0${content.length}\0`).update(content)
    }
  }
  return hash.digest('hex').slice(0, 20)
}

async function build(directory: string, entry: string | null): Promise<void> {
  await mkdir(CACHE, { recursive: true })
  // Built aside and renamed, so that a reader never meets half a bundle. Two builders of the same state write the same.
  const aside = await mkdtemp(join(CACHE, 'building-'))
  try {
    await runWrangler(['deploy', ...(entry === null ? [] : [entry]), '--dry-run', '--outdir', aside])
    await writeFile(join(aside, 'options.json'), JSON.stringify(await readWorkerOptions()))
    await rename(aside, directory)
  } catch (error) {
    await rm(aside, { recursive: true, force: true })
    if (!existsSync(directory)) throw error
  }
  await removeOldBundles(directory)
}

async function runWrangler(args: string[]): Promise<void> {
  const wrangler = join(ROOT, 'node_modules', 'wrangler', 'bin', 'wrangler.js')
  // With its banner it would ask the registry for a newer version.
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true', CI: 'true' }
  try {
    await promisify(execFile)(process.execPath, [wrangler, ...args], { cwd: ROOT, env })
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    throw new Error(`the Worker could not be bundled:\n${stderr}${stdout}`, { cause: error })
  }
}

async function readWorkerOptions(): Promise<WorkerOptions> {
  const { unstable_getMiniflareWorkerOptions } = await import('wrangler')
  const { modulesRules, ...options } = unstable_getMiniflareWorkerOptions(join(ROOT, 'wrangler.toml')).workerOptions
  return options
}

/** A day's work leaves dozens behind. The two newest besides the present one stay: another process may be reading one. */
async function removeOldBundles(present: string): Promise<void> {
  const names = (await readdir(CACHE)).filter((name) => !name.startsWith('building-'))
  const others = names.map((name) => join(CACHE, name)).filter((path) => path !== present)
  const aged = await Promise.all(others.map(async (path) => ({ path, made: (await stat(path)).mtimeMs })))
  aged.sort((a, b) => b.made - a.made)
  for (const { path } of aged.slice(2)) await rm(path, { recursive: true, force: true })
}
