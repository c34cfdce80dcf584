import { applyD1Migrations, type D1Migration } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

/** What vitest.config.ts adds to the environment of the Worker's tests. */
interface TestEnv {
  readonly DB: D1Database
  readonly TEST_MIGRATIONS: D1Migration[]
}

const { DB, TEST_MIGRATIONS } = env as unknown as TestEnv
await applyD1Migrations(DB, TEST_MIGRATIONS)
