import { join } from 'node:path'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin'
import { configDefaults, defineConfig } from 'vitest/config'

const migrations = join(import.meta.dirname, 'migrations')
/** For tests that take a second: a machine with other work is ten times slower, and no slower test is a failed one. */
const TIMEOUT = 60_000

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'node',
          include: ['test/**/*.test.{ts,tsx}'],
          exclude: [...configDefaults.exclude, 'test/**/*.workers.test.ts', 'test/e2e/**'],
          testTimeout: TIMEOUT,
        },
      },
      {
        // Inside workerd, with the bindings of wrangler.toml. Storage is isolated for each file.
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: {
              bindings: {
                EDGE_DID: 'did:web:edge.test',
                SESSION_KEY: Buffer.alloc(32, 7).toString('base64'),
                TEST_MIGRATIONS: await readD1Migrations(migrations),
              },
            },
          })),
        ],
        test: {
          name: 'workers',
          include: ['test/**/*.workers.test.ts'],
          setupFiles: ['test/apply-migrations.ts'],
          testTimeout: TIMEOUT,
        },
      },
      {
        // Real clients, the real PDS and workerd: each file has its own. More than two at once would only wait for each other.
        // The modules are shared: to load the PDS and Miniflare anew takes longer than many a file's tests.
        test: {
          name: 'e2e',
          isolate: false,
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/e2e/bundle-once.ts'],
          pool: 'forks',
          maxWorkers: 2,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
