import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import type { WorkerOptions } from './worker-bundle.ts'

/** D1 as Miniflare types it. */
type LocalDatabase = Awaited<ReturnType<Miniflare['getD1Database']>>

/** By their bindings. */
type Databases = Readonly<Record<string, { id: string }>>

const ROOT = join(import.meta.dirname, '..')
const MIGRATIONS = join(ROOT, 'migrations')
const CACHE = join(ROOT, '.skein', 'd1')

/**
 * D1's files for a runtime on this machine. To migrate through Miniflare takes a second each time: so an empty database is
 * migrated once for each state of the migrations, and copied.
 */
export class LocalD1 {
  readonly #directory: string
  readonly #migrated: string
  readonly #template: string
  readonly #databases: Databases

  private constructor(storage: string, template: string, databases: Databases) {
    this.#directory = join(storage, 'd1')
    this.#migrated = join(storage, 'd1-migrated')
    this.#template = template
    this.#databases = databases
  }

  /** @param storage Miniflare's `resourcePersistencePath` */
  static async of(storage: string, { d1Databases }: WorkerOptions): Promise<LocalD1> {
    const hash = createHash('sha256').update(JSON.stringify(d1Databases))
    for (const name of await migrationNames()) hash.update(name).update(await readFile(join(MIGRATIONS, name)))
    return new LocalD1(storage, join(CACHE, hash.digest('hex').slice(0, 20)), d1Databases as Databases)
  }

  /** Before the runtime starts: a database where there is none. */
  async prepare(): Promise<void> {
    if (existsSync(this.#directory)) return
    if (!existsSync(this.#template)) await makeTemplate(this.#template, this.#databases)
    await cp(this.#template, this.#directory, { recursive: true })
    await writeFile(this.#migrated, this.#template)
  }

  /** Once the runtime is ready: what has come since the database was made. */
  async migrate(miniflare: Miniflare): Promise<void> {
    const migrated = await readFile(this.#migrated, 'utf8').catch(() => null)
    if (migrated === this.#template) return
    await applyMigrations(await miniflare.getD1Database('DB'))
    await writeFile(this.#migrated, this.#template)
  }
}

/** Made aside and renamed, so that a reader never meets half of it. Of two that make it at once one is dropped. */
async function makeTemplate(template: string, d1Databases: Databases): Promise<void> {
  await mkdir(CACHE, { recursive: true })
  const aside = await mkdtemp(join(CACHE, 'making-'))
  try {
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        modules: true,
        script: 'export default {}',
        cf: false,
        log: new Log(LogLevel.ERROR),
        resourcePersistencePath: aside,
        d1Databases,
      }),
    )
    try {
      await applyMigrations(await miniflare.getD1Database('DB'))
    } finally {
      await miniflare.dispose()
    }
    await rename(join(aside, 'd1'), template)
  } catch (error) {
    if (!existsSync(template)) throw error
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
  for (const name of await readdir(CACHE)) {
    if (!name.startsWith('making-') && join(CACHE, name) !== template) await rm(join(CACHE, name), { recursive: true })
  }
}

/** As `wrangler d1 migrations apply` does it, with the same table of what has been applied, but all at once. */
async function applyMigrations(db: LocalDatabase): Promise<void> {
  const [, applied] = await db.batch<{ name: string }>([
    db.prepare(
      'CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)',
    ),
    db.prepare('SELECT name FROM d1_migrations'),
  ])
  const known = new Set(applied?.results.map(({ name }) => name))
  const names = (await migrationNames()).filter((name) => !known.has(name))
  const statements = await Promise.all(names.map((name) => readMigration(db, name)))
  if (statements.length > 0) await db.batch(statements.flat())
}

async function migrationNames(): Promise<string[]> {
  return (await readdir(MIGRATIONS)).filter((file) => file.endsWith('.sql')).sort()
}

async function readMigration(db: LocalDatabase, name: string) {
  const sql = await readFile(join(MIGRATIONS, name), 'utf8')
  const statements = sql.split('--> statement-breakpoint').filter((statement) => statement.trim() !== '')
  return [
    ...statements.map((statement) => db.prepare(statement)),
    db.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(name),
  ]
}
