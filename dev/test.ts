import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

// `npm test`: every project of vitest.config.ts, or what the arguments choose (`npm test -- test/git`,
// `npm test -- --project e2e`). By path, not by name: another vitest in PATH would run the files in the wrong one.
const vitest = join(import.meta.dirname, '..', 'node_modules', 'vitest', 'vitest.mjs')
const child = spawn(process.execPath, [vitest, 'run', ...process.argv.slice(2)], { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
const [code] = (await once(child, 'exit')) as [number | null]
process.exit(code ?? 1)
